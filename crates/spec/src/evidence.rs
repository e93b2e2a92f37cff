//! What reading a trial again brought to light, and the judgement on it: one criterion, one verdict.
//!
//! The proof gathers [`Evidence`]; [`judge`] is a pure function of it, so a verdict can be reached again by
//! anyone who reads the same files. What is not known stays unknown and never holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::{Balance, Criterion, CriterionCode, ItemId, Position, Project, Reason, TrialKind, Verdict};

/// At most this many names stand beside a verdict.
pub const CONCERNED_MAX: usize = 20;

/// The facts of one trial as they were read again, never as they were remembered while it ran.
///
/// The lists of names serve the sentence only up to [`CONCERNED_MAX`], but their emptiness decides, so a caller
/// may cut them and never leave out the first.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// The deliverable as the trial recorded it.
    pub project: Project,
    /// Over which inputs the trial ran.
    pub kind: TrialKind,
    /// Items that the trial was limited to, where it was; such a trial never holds.
    pub limit: Option<u64>,
    /// Counted from index and records; `holds` is not looked at.
    pub balance: Balance,
    /// Identifiers of the index, as far as a refusal is expected of them; a campaign may leave it empty.
    pub ids: BTreeSet<ItemId>,
    /// Identifiers at more than one position, later positions with the fault `duplicate-id` left out.
    pub repeated: Vec<String>,
    /// Items with a fault in the index and no refusal for that very fault, and items that have none and are
    /// refused for one.
    pub unreadable: Vec<String>,
    /// The pilot's fixed digests.
    pub digests: FixedDigests,
    /// Items whose digest is not the fixed one, or whose record bears another digest than the index.
    pub changed: Vec<String>,
    /// Places of damaged records, with file and offset. A torn tail that was set aside is none.
    pub damage: Vec<String>,
    /// Answers of an engine to nothing that was asked, repeated or late, over all writers.
    pub stray_answers: u64,
    /// Every refusal. Needed of a pilot; a campaign may leave it empty.
    pub refusals: Vec<SeenRefusal>,
    /// Accepted outputs that were read again, payloads included, and judged.
    pub outputs_read: u64,
    /// Those of them that the deliverable does not accept, or that could not be read.
    pub unacceptable: Vec<String>,
    /// The results files, or none where the trial has not been collected.
    pub results: Option<ResultsRead>,
    /// Parts with a seal.
    pub seals: u64,
    /// Parts that the index announces.
    pub parts: u64,
    /// How the last writer ended, as it recorded it; none where it left no word.
    pub ended: Option<String>,
    /// Whether what was read is a whole copy.
    pub copy: CopyState,
}

/// A refusal as it stands in a record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeenRefusal {
    /// Where the item stands.
    pub position: Position,
    /// Its identifier, where it has one.
    pub id: Option<ItemId>,
    /// The recorded reason.
    pub reason: Reason,
}

/// What became of the list of digests that fixes the pilot's inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixedDigests {
    /// The project declares none: only records and index were compared.
    NotDeclared,
    /// The declared list was read and every item was compared with it.
    Compared,
    /// A list is declared and could not be read.
    Unread,
}

/// What the results files hold, line by line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResultsRead {
    /// Accepted outcomes.
    pub accepted: u64,
    /// Refused outcomes.
    pub refused: u64,
    /// Lines that are out of order, stand twice, or say something else than the record.
    pub wrong: Vec<String>,
}

/// Whether what was read is a copy, and whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyState {
    /// No copy was made or none was read again.
    Unknown,
    /// Every file of the copy's own list is there with its digest.
    Whole {
        /// Number of files.
        files: u64,
    },
    /// Files are absent or differ.
    Damaged {
        /// Their names.
        files: Vec<String>,
    },
}

/// The criteria of a trial over this evidence, in reading order.
///
/// A pilot is held to its expected refusals and its number of results, a campaign to its declared share of
/// refusals. [`CriterionCode::InvalidCasePresent`] is left out where no refusal is expected.
#[must_use]
pub fn judge(evidence: &Evidence) -> Vec<Criterion> {
    let mut criteria = vec![inputs_count(evidence), inputs_unique(evidence), inputs_readable(evidence)];
    criteria.push(inputs_unchanged(evidence));
    let pilot = evidence.kind == TrialKind::Pilot;
    if pilot && !evidence.project.pilot.expected_refusals.is_empty() {
        criteria.push(invalid_case_present(evidence));
    }
    criteria.extend([records_whole(evidence), balance_adds_up(evidence), nothing_pending(evidence)]);
    if pilot {
        criteria.push(results_count(evidence));
    }
    criteria.extend([results_acceptable(evidence), results_complete(evidence)]);
    criteria.push(if pilot { refusals_expected(evidence) } else { refusals_within_share(evidence) });
    criteria.extend([trial_ended(evidence), copy_whole(evidence)]);
    criteria
}

/// The verdict over all: every criterion holds, and there is one at least.
#[must_use]
pub fn holds(criteria: &[Criterion]) -> bool {
    !criteria.is_empty() && criteria.iter().all(|criterion| criterion.verdict == Verdict::Holds)
}

impl Evidence {
    /// The declared number of items; none for a campaign that was never declared.
    fn expected(&self) -> Option<u64> {
        match self.kind {
            TrialKind::Pilot => Some(self.project.pilot.count),
            TrialKind::Campaign => self.project.campaign.as_ref().map(|campaign| campaign.count),
        }
    }

    /// What is lacking fails, except in a limited trial, which could not know.
    fn lacking(&self) -> Verdict {
        if self.limit.is_some() { Verdict::Unknown } else { Verdict::Fails }
    }
}

/// A criterion under construction: verdict first, then its facts.
fn criterion(code: CriterionCode, verdict: Verdict) -> Criterion {
    Criterion { code, verdict, facts: BTreeMap::new(), concerned: Vec::new() }
}

impl Criterion {
    /// The same with one more named fact.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.facts.insert(name.to_owned(), value.to_string());
        self
    }

    /// The same with the names concerned, cut to [`CONCERNED_MAX`].
    #[must_use]
    pub fn concerning<T: fmt::Display>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        let room = CONCERNED_MAX.saturating_sub(self.concerned.len());
        self.concerned.extend(names.into_iter().take(room).map(|name| name.to_string()));
        self
    }
}

fn verdict(holds: bool) -> Verdict {
    if holds { Verdict::Holds } else { Verdict::Fails }
}

fn inputs_count(evidence: &Evidence) -> Criterion {
    let code = CriterionCode::InputsCount;
    let seen = evidence.balance.declared;
    let Some(expected) = evidence.expected() else {
        return criterion(code, Verdict::Unknown).with("seen", seen);
    };
    let verdict = match evidence.limit {
        Some(_) => Verdict::Unknown,
        None => verdict(seen == expected && evidence.balance.missing == 0),
    };
    let criterion = criterion(code, verdict).with("seen", seen).with("expected", expected);
    match evidence.limit {
        Some(limit) => criterion.with("limit", limit),
        None => criterion,
    }
}

fn inputs_unique(evidence: &Evidence) -> Criterion {
    criterion(CriterionCode::InputsUnique, verdict(evidence.repeated.is_empty()))
        .with("seen", evidence.repeated.len())
        .concerning(&evidence.repeated)
}

fn inputs_readable(evidence: &Evidence) -> Criterion {
    criterion(CriterionCode::InputsReadable, verdict(evidence.unreadable.is_empty()))
        .with("seen", evidence.unreadable.len())
        .concerning(&evidence.unreadable)
}

fn inputs_unchanged(evidence: &Evidence) -> Criterion {
    let declared = evidence.kind == TrialKind::Pilot && evidence.project.pilot.digests.is_some();
    let verdict = match evidence.digests {
        _ if !evidence.changed.is_empty() => Verdict::Fails,
        FixedDigests::Unread => Verdict::Unknown,
        FixedDigests::NotDeclared if declared => Verdict::Unknown,
        FixedDigests::NotDeclared | FixedDigests::Compared => Verdict::Holds,
    };
    criterion(CriterionCode::InputsUnchanged, verdict)
        .with("seen", evidence.changed.len())
        .concerning(&evidence.changed)
}

fn invalid_case_present(evidence: &Evidence) -> Criterion {
    let expected = &evidence.project.pilot.expected_refusals;
    let absent: Vec<&str> = expected
        .iter()
        .map(|refusal| refusal.id.as_str())
        .filter(|id| !evidence.ids.iter().any(|seen| seen.as_str() == *id))
        .collect();
    let verdict = if absent.is_empty() { Verdict::Holds } else { evidence.lacking() };
    criterion(CriterionCode::InvalidCasePresent, verdict)
        .with("expected", expected.len())
        .with("seen", expected.len() - absent.len())
        .concerning(absent)
}

fn records_whole(evidence: &Evidence) -> Criterion {
    criterion(CriterionCode::RecordsWhole, verdict(evidence.damage.is_empty()))
        .with("seen", evidence.damage.len())
        .concerning(&evidence.damage)
}

fn balance_adds_up(evidence: &Evidence) -> Criterion {
    let Balance { declared, accepted, refused, pending, duplicated, invented, .. } = evidence.balance;
    // Sums are widened so that no figure read from a damaged file can wrap around to the right total.
    let sum = u128::from(accepted) + u128::from(refused) + u128::from(pending);
    let holds =
        sum == u128::from(declared) && duplicated == 0 && invented == 0 && evidence.stray_answers == 0;
    criterion(CriterionCode::BalanceAddsUp, verdict(holds))
        .with("declared", declared)
        .with("accepted", accepted)
        .with("refused", refused)
        .with("pending", pending)
        .with("duplicated", duplicated)
        .with("invented", invented)
        .with("stray", evidence.stray_answers)
}

fn nothing_pending(evidence: &Evidence) -> Criterion {
    criterion(CriterionCode::NothingPending, verdict(evidence.balance.pending == 0))
        .with("pending", evidence.balance.pending)
}

fn results_count(evidence: &Evidence) -> Criterion {
    let pilot = &evidence.project.pilot;
    let expected = pilot.count.saturating_sub(pilot.expected_refusals.len() as u64);
    let seen = evidence.balance.accepted;
    let verdict = match seen.cmp(&expected) {
        std::cmp::Ordering::Equal => Verdict::Holds,
        std::cmp::Ordering::Less => evidence.lacking(),
        std::cmp::Ordering::Greater => Verdict::Fails,
    };
    criterion(CriterionCode::ResultsCount, verdict).with("seen", seen).with("expected", expected)
}

fn results_acceptable(evidence: &Evidence) -> Criterion {
    let accepted = evidence.balance.accepted;
    let verdict = match evidence.outputs_read {
        _ if !evidence.unacceptable.is_empty() || accepted == 0 => Verdict::Fails,
        read if read < accepted => Verdict::Unknown,
        read => verdict(read == accepted),
    };
    criterion(CriterionCode::ResultsAcceptable, verdict)
        .with("seen", evidence.outputs_read)
        .with("expected", accepted)
        .with("wrong", evidence.unacceptable.len())
        .concerning(&evidence.unacceptable)
}

fn results_complete(evidence: &Evidence) -> Criterion {
    let Balance { accepted, refused, .. } = evidence.balance;
    let expected = accepted.saturating_add(refused);
    let Some(results) = &evidence.results else {
        return criterion(CriterionCode::ResultsComplete, Verdict::Unknown).with("expected", expected);
    };
    let holds = results.accepted == accepted && results.refused == refused && results.wrong.is_empty();
    criterion(CriterionCode::ResultsComplete, verdict(holds))
        .with("seen", results.accepted.saturating_add(results.refused))
        .with("expected", expected)
        .concerning(&results.wrong)
}

/// Twelve refusals add up to twelve as well: what counts is that each refusal was announced, with its reason,
/// and that each announced one came.
fn refusals_expected(evidence: &Evidence) -> Criterion {
    let expected = &evidence.project.pilot.expected_refusals;
    let announced = |seen: &&SeenRefusal| {
        expected.iter().any(|refusal| {
            seen.id.as_ref().is_some_and(|id| id.as_str() == refusal.id) && seen.reason == refusal.reason
        })
    };
    let unexpected: Vec<&SeenRefusal> = evidence.refusals.iter().filter(|seen| !announced(seen)).collect();
    let absent: Vec<_> = expected
        .iter()
        .filter(|refusal| {
            let came = |seen: &&SeenRefusal| seen.id.as_ref().is_some_and(|id| id.as_str() == refusal.id);
            evidence.refusals.iter().filter(announced).filter(came).count() != 1
        })
        .collect();
    let verdict = if !unexpected.is_empty() || evidence.refusals.len() as u64 != evidence.balance.refused {
        Verdict::Fails
    } else if absent.is_empty() {
        Verdict::Holds
    } else {
        evidence.lacking()
    };
    let name = |seen: &SeenRefusal| {
        let id = seen.id.as_ref().map_or_else(|| format!("#{}", seen.position), ToString::to_string);
        format!("{id} ({})", seen.reason)
    };
    criterion(CriterionCode::RefusalsExpected, verdict)
        .with("seen", evidence.balance.refused)
        .with("expected", expected.len())
        .with("unexpected", unexpected.len())
        .with("absent", absent.len())
        .concerning(unexpected.into_iter().map(name))
        .concerning(absent.into_iter().map(|refusal| format!("{} ({})", refusal.id, refusal.reason)))
}

fn refusals_within_share(evidence: &Evidence) -> Criterion {
    let code = CriterionCode::RefusalsWithinShare;
    let Balance { refused, declared, .. } = evidence.balance;
    let Some(campaign) = &evidence.project.campaign else {
        return criterion(code, Verdict::Unknown).with("refused", refused);
    };
    criterion(code, verdict(campaign.bears(refused, declared)))
        .with("refused", refused)
        .with("declared", declared)
        .with("share", campaign.refused_max)
}

fn trial_ended(evidence: &Evidence) -> Criterion {
    let ended = evidence.ended.as_deref();
    let verdict = if evidence.parts == 0 || evidence.seals != evidence.parts {
        Verdict::Fails
    } else {
        match ended {
            None => Verdict::Unknown,
            Some(why) => verdict(why == "done"),
        }
    };
    criterion(CriterionCode::TrialEnded, verdict)
        .with("seen", evidence.seals)
        .with("expected", evidence.parts)
        .with("ended", ended.unwrap_or("?"))
}

fn copy_whole(evidence: &Evidence) -> Criterion {
    let code = CriterionCode::CopyWhole;
    match &evidence.copy {
        CopyState::Unknown => criterion(code, Verdict::Unknown),
        CopyState::Whole { files } => criterion(code, verdict(*files > 0)).with("seen", files),
        CopyState::Damaged { files } => {
            criterion(code, Verdict::Fails).with("seen", files.len()).concerning(files)
        }
    }
}
