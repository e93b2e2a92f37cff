//! What reading a trial or a copy again brought to light: every finding, graded, not only the first.

use serde::{Deserialize, Serialize};

/// At most this many findings are kept with their words; the others are counted.
pub const FINDINGS_MAX: usize = 200;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Something is lost, changed or does not belong here: nothing that was read can be trusted whole.
    Error,
    /// Something to know that takes nothing away.
    Warning,
}

/// The stable code of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingCode {
    /// There is no `trial.json`.
    NotATrial,
    /// `trial.json` cannot be read.
    TrialUnreadable,
    /// A part of the index, or its closing entry, is absent or damaged.
    IndexDamaged,
    /// A record or an entry of the ledger is damaged or missing.
    RecordsDamaged,
    /// A torn tail that a crash left was set aside.
    TornTail,
    /// Bytes that arrived after a takeover were set aside.
    LateBytes,
    /// A record bears another identifier or digest than the item at its position.
    RecordDiffers,
    /// A position has a second record.
    RecordRepeated,
    /// A record is about a position that the index does not hold, or stands in another part.
    RecordInvented,
    /// Two items bear one identifier, and neither says so.
    IdentifierRepeated,
    /// An accepted output cannot be read again, or the deliverable does not accept it.
    OutputUnacceptable,
    /// A part has no seal.
    NotSealed,
    /// The ledger noticed something that takes nothing away.
    LedgerNote,
    /// A line of `events/` or `measures/` before the last cannot be read.
    JournalDamaged,
    /// The list of fixed digests is declared and cannot be read.
    PinsUnreadable,
    /// The trial was not collected.
    ResultsAbsent,
    /// A line of the results files is not what the records say.
    ResultWrong,
    /// `balance.json` cannot be read, or its own digest is wrong.
    BalanceUnreadable,
    /// `balance.json` says something else than counting again does.
    BalanceDiffers,
    /// The copy's list of files cannot be read.
    ManifestUnreadable,
    /// A listed file is not there.
    FileAbsent,
    /// A file has another digest than listed.
    FileDiffers,
    /// A file is there and not listed.
    FileExtra,
    /// A link, a device or a name that cannot be part of a trial.
    NotPlain,
    /// The copy bears the name of an unfinished one.
    UnfinishedCopy,
    /// A file is there and cannot be read.
    Unreadable,
    /// The results are there and the balance that closes them is not.
    BalanceAbsent,
    /// A trial outside of its project has no list of its files: nothing says that all of it is there.
    ListAbsent,
    /// A file that operating systems add for themselves, or that a crash left unfinished.
    StrangerFile,
    /// A bag's declaration is missing or not as it must be.
    DeclarationWrong,
    /// A list is written in a way that other programs may not read.
    ListNote,
    /// A list or an archive names something outside of the copy.
    PathOutside,
    /// A file is to be fetched from elsewhere and is not here.
    NotFetched,
    /// The payload has another size or number of files than the bag states.
    OxumDiffers,
    /// A name is here in another Unicode form than it is listed.
    NameNormalised,
    /// Two names that some systems take for one.
    NameTwins,
    /// The verdict of the export is missing or was changed.
    VerdictWrong,
    /// An archive cannot be read to its end.
    ArchiveDamaged,
    /// An archive expands beyond its bound.
    ExpandsTooMuch,
    /// An archive holds a file twice.
    EntryRepeated,
}

impl FindingCode {
    /// Every code.
    pub const ALL: [Self; 40] = [
        Self::NotATrial,
        Self::TrialUnreadable,
        Self::IndexDamaged,
        Self::RecordsDamaged,
        Self::TornTail,
        Self::LateBytes,
        Self::RecordDiffers,
        Self::RecordRepeated,
        Self::RecordInvented,
        Self::IdentifierRepeated,
        Self::OutputUnacceptable,
        Self::NotSealed,
        Self::LedgerNote,
        Self::JournalDamaged,
        Self::PinsUnreadable,
        Self::ResultsAbsent,
        Self::ResultWrong,
        Self::BalanceUnreadable,
        Self::BalanceDiffers,
        Self::ManifestUnreadable,
        Self::FileAbsent,
        Self::FileDiffers,
        Self::FileExtra,
        Self::NotPlain,
        Self::UnfinishedCopy,
        Self::Unreadable,
        Self::BalanceAbsent,
        Self::ListAbsent,
        Self::StrangerFile,
        Self::DeclarationWrong,
        Self::ListNote,
        Self::PathOutside,
        Self::NotFetched,
        Self::OxumDiffers,
        Self::NameNormalised,
        Self::NameTwins,
        Self::VerdictWrong,
        Self::ArchiveDamaged,
        Self::ExpandsTooMuch,
        Self::EntryRepeated,
    ];

    /// The code as JSON and message keys write it.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::NotATrial => "not-a-trial",
            Self::TrialUnreadable => "trial-unreadable",
            Self::IndexDamaged => "index-damaged",
            Self::RecordsDamaged => "records-damaged",
            Self::TornTail => "torn-tail",
            Self::LateBytes => "late-bytes",
            Self::RecordDiffers => "record-differs",
            Self::RecordRepeated => "record-repeated",
            Self::RecordInvented => "record-invented",
            Self::IdentifierRepeated => "identifier-repeated",
            Self::OutputUnacceptable => "output-unacceptable",
            Self::NotSealed => "not-sealed",
            Self::LedgerNote => "ledger-note",
            Self::JournalDamaged => "journal-damaged",
            Self::PinsUnreadable => "pins-unreadable",
            Self::ResultsAbsent => "results-absent",
            Self::ResultWrong => "result-wrong",
            Self::BalanceUnreadable => "balance-unreadable",
            Self::BalanceDiffers => "balance-differs",
            Self::ManifestUnreadable => "manifest-unreadable",
            Self::FileAbsent => "file-absent",
            Self::FileDiffers => "file-differs",
            Self::FileExtra => "file-extra",
            Self::NotPlain => "not-plain",
            Self::UnfinishedCopy => "unfinished-copy",
            Self::Unreadable => "unreadable",
            Self::BalanceAbsent => "balance-absent",
            Self::ListAbsent => "list-absent",
            Self::StrangerFile => "stranger-file",
            Self::DeclarationWrong => "declaration-wrong",
            Self::ListNote => "list-note",
            Self::PathOutside => "path-outside",
            Self::NotFetched => "not-fetched",
            Self::OxumDiffers => "oxum-differs",
            Self::NameNormalised => "name-normalised",
            Self::NameTwins => "name-twins",
            Self::VerdictWrong => "verdict-wrong",
            Self::ArchiveDamaged => "archive-damaged",
            Self::ExpandsTooMuch => "expands-too-much",
            Self::EntryRepeated => "entry-repeated",
        }
    }

    /// How much a finding of this code weighs.
    #[must_use]
    pub fn grade(self) -> Grade {
        match self {
            Self::TornTail
            | Self::LateBytes
            | Self::NotSealed
            | Self::LedgerNote
            | Self::JournalDamaged
            | Self::PinsUnreadable
            | Self::ResultsAbsent
            | Self::StrangerFile
            | Self::ListNote
            | Self::NameNormalised
            | Self::NameTwins => Grade::Warning,
            _ => Grade::Error,
        }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is.
    pub code: FindingCode,
    /// How much it weighs.
    pub grade: Grade,
    /// The file, relative to what was verified, or the identifier concerned.
    pub place: String,
    /// What was seen and expected, in English, for whoever looks into it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// Findings as they are gathered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    kept: Vec<Finding>,
    errors: u64,
    warnings: u64,
}

impl Findings {
    /// Adds one; beyond [`FINDINGS_MAX`] it is counted only.
    pub(crate) fn add(
        &mut self,
        code: FindingCode,
        place: impl Into<String>,
        detail: impl std::fmt::Display,
    ) {
        let grade = code.grade();
        match grade {
            Grade::Error => self.errors += 1,
            Grade::Warning => self.warnings += 1,
        }
        if self.kept.len() < FINDINGS_MAX {
            self.kept.push(Finding { code, grade, place: place.into(), detail: detail.to_string() });
        }
    }

    /// Adds all of `others` behind.
    pub(crate) fn append(&mut self, others: Self) {
        let room = FINDINGS_MAX.saturating_sub(self.kept.len());
        self.kept.extend(others.kept.into_iter().take(room));
        self.errors += others.errors;
        self.warnings += others.warnings;
    }

    /// Those that are kept with their words, in the order in which they were found.
    #[must_use]
    pub fn kept(&self) -> &[Finding] {
        &self.kept
    }

    /// The number of errors, those beyond the kept ones included.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.errors
    }

    /// The number of warnings.
    #[must_use]
    pub fn warnings(&self) -> u64 {
        self.warnings
    }

    /// Places of the findings that say that records, index or outputs are damaged.
    pub(crate) fn damage(&self) -> Vec<String> {
        let damaged = |finding: &&Finding| {
            matches!(finding.code, FindingCode::IndexDamaged | FindingCode::RecordsDamaged)
        };
        self.kept
            .iter()
            .filter(damaged)
            .map(|finding| format!("{}: {}", finding.place, finding.detail))
            .collect()
    }
}
