//! A decision on a trial: launch, mend or replan, kept with its reason and with the digests of what it rests on.
//!
//! [`weigh`] says what a decision lacks before it is kept; [`keep`] writes it beside the trial under the next free
//! number, and nothing ever rewrites it. A trial that is changed afterwards breaks the tie, which [`tie`] tells.

mod error;

use std::collections::BTreeMap;
use std::path::Path;

use pilote_spec::{
    Criterion, CriterionCode, ItemId, Outcome, QualityLine, QualityMeasure, Stamp, TrialEvent, TrialKind,
    Verdict, quality_holds,
};
use serde::{Deserialize, Serialize};

use crate::collection::{BALANCE, FileFacts};
use crate::document::{self, Document};
use crate::error::{ProofError, io};
use crate::files;
use crate::journal::Journal;
use crate::results::{REFUSED, RESULTS};
use crate::status::find;
use crate::trial_dir::{TRIAL, TrialDir};
use crate::verification::{Verification, verify};

pub use error::DecideError;

/// Where decisions lie in a trial's directory. They speak of the trial and are no part of it.
pub(crate) const DECISIONS: &str = "decisions";

/// Accepted results that a person must have looked at before a launch; all of them where there are fewer.
pub const EXAMINED_MIN: usize = 3;

/// Decisions on one trial.
const DECISIONS_MAX: u32 = 999_999;

/// A longer file is compared by its length only where a quick look is asked for.
const QUICK_BYTES_MAX: u64 = 16 << 20;

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The campaign may start.
    Launch,
    /// Something is to be mended first: the environment, the program, the inputs.
    Mend,
    /// The plan is to be changed: another card, period or number of lots.
    Replan,
}

impl Choice {
    /// The stable code, as it is written in JSON.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Launch => "launch",
            Self::Mend => "mend",
            Self::Replan => "replan",
        }
    }
}

/// What failed, so precisely that the next trial can say whether it is resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Condition {
    /// A criterion of the trial.
    Criterion {
        /// Which one.
        criterion: CriterionCode,
    },
    /// A step at which the trial failed, as its events name it: `start`, `model` ...
    Step {
        /// Its name.
        step: String,
    },
    /// A rung of the ladder of checks on the machine.
    Rung {
        /// Its name.
        rung: String,
    },
    /// A measure of quality that did not keep to its bar.
    Quality {
        /// Which one.
        measure: QualityMeasure,
    },
}

impl std::fmt::Display for Condition {
    /// As the command line takes it: `criterion:nothing-pending`, `rung:card`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Criterion { criterion } => write!(f, "criterion:{}", criterion.code()),
            Self::Step { step } => write!(f, "step:{step}"),
            Self::Rung { rung } => write!(f, "rung:{rung}"),
            Self::Quality { measure } => write!(f, "quality:{}", measure.code()),
        }
    }
}

impl std::str::FromStr for Condition {
    type Err = DecideError;

    fn from_str(text: &str) -> Result<Self, DecideError> {
        let unknown = || DecideError::UnknownCondition { text: text.escape_debug().to_string() };
        let (kind, name) = text.split_once(':').unwrap_or(("criterion", text));
        if name.trim().is_empty() {
            return Err(unknown());
        }
        match kind {
            "criterion" => CriterionCode::ALL
                .into_iter()
                .find(|criterion| criterion.code() == name)
                .map(|criterion| Self::Criterion { criterion })
                .ok_or_else(unknown),
            "quality" => QualityMeasure::ALL
                .into_iter()
                .find(|measure| measure.code() == name)
                .map(|measure| Self::Quality { measure })
                .ok_or_else(unknown),
            "step" => Ok(Self::Step { step: name.to_owned() }),
            "rung" => Ok(Self::Rung { rung: name.to_owned() }),
            _ => Err(unknown()),
        }
    }
}

/// A person's word on one result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Examined {
    /// The item.
    pub id: ItemId,
    /// Whether its outcome is right.
    pub right: bool,
    /// What the person noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl std::str::FromStr for Examined {
    type Err = DecideError;

    /// Reads `ID=right`, `ID=wrong` or `ID=wrong:why`. An identifier may hold `=` and `:` itself: the first `=` that
    /// a verdict follows ends it.
    fn from_str(text: &str) -> Result<Self, DecideError> {
        let verdict = |rest: &str| {
            let (word, note) = rest.split_once(':').map_or((rest, None), |(word, note)| (word, Some(note)));
            let right = match word {
                "right" => true,
                "wrong" => false,
                _ => return None,
            };
            let note = note.map(str::trim).filter(|note| !note.is_empty()).map(str::to_owned);
            Some((right, note))
        };
        text.match_indices('=')
            .filter(|(at, _)| *at > 0)
            .find_map(|(at, _)| {
                let (right, note) = verdict(&text[at + 1..])?;
                Some(Self { id: ItemId(text[..at].to_owned()), right, note })
            })
            .ok_or_else(|| DecideError::BadSample { text: text.escape_debug().to_string() })
    }
}

/// `decisions/NNNNNN.json`, format `pilote.decision/1`; see `docs/formats/decision.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Always `pilote.decision/1`.
    pub format: String,
    /// The trial's name.
    pub trial: String,
    /// What was decided.
    pub choice: Choice,
    /// When.
    pub at: Stamp,
    /// Why, in a person's words.
    pub because: String,
    /// What was accepted although it is not perfect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
    /// What is left to fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
    /// What failed; of a decision to mend or to replan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<Condition>,
    /// The results that a person looked at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Examined>,
    /// The judgement of quality against the declared reference, where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quality: Vec<QualityLine>,
    /// Whether the trial's criteria held when it was read for this decision.
    pub holds: bool,
    /// The files of the trial that it rests on, to the byte.
    pub rests_on: BTreeMap<String, FileFacts>,
}

impl Document for Decision {
    const FORMAT: &'static str = "pilote.decision/1";
}

/// What a person proposes to decide.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// What is decided.
    pub choice: Choice,
    /// Why.
    pub because: Option<String>,
    /// What was accepted.
    pub accepted: Option<String>,
    /// What is left to fix.
    pub left: Option<String>,
    /// What failed. Where it is not named and one criterion alone fails, that one.
    pub condition: Option<Condition>,
    /// The results that were looked at.
    pub samples: Vec<Examined>,
    /// The judgement of quality against the declared reference, where there is one.
    pub quality: Vec<QualityLine>,
}

/// What the trial in `dir` allows to be decided: the decision as it would be kept.
///
/// The trial is read whole on the way, so that a launch rests on what is there and not on what was written down.
///
/// # Errors
/// The first thing that the proposal lacks, and what to do about it.
pub fn weigh(dir: &Path, proposal: Proposal, at: Stamp) -> Result<Decision, DecideError> {
    let because = said(proposal.because, "because")?;
    let read = verify(dir)?;
    let launched = TrialDir::open(dir).ok();
    let name = launched.as_ref().map(|trial| trial.trial.name.clone());
    let name = name.or_else(|| Some(dir.file_name()?.to_string_lossy().into_owned())).unwrap_or_default();
    let mut samples = proposal.samples;
    checked_samples(dir, &samples)?;
    samples.sort_by(|one, other| one.id.cmp(&other.id));
    let (mut accepted, mut left) = (proposal.accepted, proposal.left);
    let mut condition = proposal.condition;
    match proposal.choice {
        Choice::Launch => {
            let trial = launched.ok_or_else(|| DecideError::NothingRan { trial: name.clone() })?;
            may_launch(&trial, &read, &samples, &proposal.quality)?;
            (accepted, left) = (Some(said(accepted, "accepted")?), Some(said(left, "left")?));
            if condition.take().is_some() {
                return Err(DecideError::ConditionAtLaunch);
            }
        }
        Choice::Mend | Choice::Replan => {
            condition = Some(failed(dir, &read, condition, &proposal.quality)?);
        }
    }
    Ok(Decision {
        format: Decision::FORMAT.to_owned(),
        trial: name,
        choice: proposal.choice,
        at,
        because,
        accepted,
        left,
        condition,
        samples,
        quality: proposal.quality,
        holds: read.holds,
        rests_on: rests_on(dir)?,
    })
}

/// Words that say something.
fn said(words: Option<String>, what: &'static str) -> Result<String, DecideError> {
    words
        .map(|words| words.trim().to_owned())
        .filter(|words| !words.is_empty())
        .ok_or(DecideError::NothingSaid { what })
}

fn checked_samples(dir: &Path, samples: &[Examined]) -> Result<(), DecideError> {
    for (at, sample) in samples.iter().enumerate() {
        if samples[..at].iter().any(|earlier| earlier.id == sample.id) {
            return Err(DecideError::SampleTwice { id: sample.id.0.clone() });
        }
        let found = find(dir, &sample.id)?;
        if found.is_empty() {
            return Err(DecideError::UnknownSample { id: sample.id.0.clone() });
        }
        if found.iter().all(|found| found.outcome.is_none()) {
            return Err(DecideError::PendingSample { id: sample.id.0.clone() });
        }
    }
    Ok(())
}

/// Whether a launch may rest on this trial.
fn may_launch(
    trial: &TrialDir,
    read: &Verification,
    samples: &[Examined],
    quality: &[QualityLine],
) -> Result<(), DecideError> {
    if trial.trial.kind != TrialKind::Pilot {
        return Err(DecideError::NoPilot { trial: trial.trial.name.clone() });
    }
    if !read.holds {
        return Err(DecideError::DoesNotHold { failing: not_holding(read) });
    }
    if !quality.is_empty() && !quality_holds(quality) {
        let lines = quality.iter().filter(|line| line.verdict != Verdict::Holds).map(ToString::to_string);
        return Err(DecideError::QualityLost { lines: lines.collect() });
    }
    let accepted = read.balance.as_ref().map_or(0, |balance| balance.accepted);
    let needed = EXAMINED_MIN.min(usize::try_from(accepted).unwrap_or(EXAMINED_MIN));
    let mut examined = 0;
    for sample in samples {
        let found = find(&trial.root, &sample.id)?;
        examined += usize::from(found.iter().any(|one| matches!(one.outcome, Some(Outcome::Accepted(_)))));
    }
    if examined < needed {
        return Err(DecideError::TooFewSamples {
            examined,
            needed,
            propose: candidates(&trial.root, samples, needed - examined)?,
        });
    }
    Ok(())
}

/// What does not hold, in stable words.
fn not_holding(read: &Verification) -> Vec<String> {
    let criteria = read.criteria.iter().filter(|criterion| criterion.verdict != Verdict::Holds);
    let mut failing: Vec<String> =
        criteria.map(|criterion| format!("criterion:{}", criterion.code.code())).collect();
    failing
        .extend(read.findings.iter().map(|finding| format!("{} ({})", finding.code.code(), finding.place)));
    failing
}

/// Accepted items to look at: the shortest, the longest, and evenly between, those already looked at left out.
///
/// # Errors
/// When the trial cannot be read.
pub fn candidates(dir: &Path, known: &[Examined], count: usize) -> Result<Vec<ItemId>, ProofError> {
    let trial = TrialDir::open(dir)?;
    let mut accepted = Vec::new();
    for entry in &trial.closing()?.parts {
        let part = trial.part(entry, &mut crate::Findings::default())?;
        for item in part.items {
            let outcome = part.records.get(&item.position).map(|record| &record.outcome);
            if let (Some(Outcome::Accepted(_)), Some(id)) = (outcome, item.id)
                && !known.iter().any(|sample| sample.id == id)
            {
                accepted.push((item.chars, item.position, id));
            }
        }
    }
    accepted.sort();
    let last = accepted.len().saturating_sub(1);
    if accepted.len() <= count {
        return Ok(accepted.into_iter().map(|(.., id)| id).collect());
    }
    let step = |at: usize| if count < 2 { last / 2 } else { at * last / (count - 1) };
    Ok((0..count).map(|at| accepted[step(at)].2.clone()).collect())
}

/// The condition that a decision to mend or replan names, held against what was read.
fn failed(
    dir: &Path,
    read: &Verification,
    named: Option<Condition>,
    quality: &[QualityLine],
) -> Result<Condition, DecideError> {
    let steps = failed_steps(dir)?;
    let of_verdict = |wanted: fn(Verdict) -> bool| -> Vec<Condition> {
        let criteria = read.criteria.iter().filter(|criterion| wanted(criterion.verdict));
        criteria.map(|criterion| Condition::Criterion { criterion: criterion.code }).collect()
    };
    let mut failing = of_verdict(|verdict| verdict != Verdict::Holds);
    failing.extend(steps.iter().map(|step| Condition::Step { step: step.clone() }));
    let lost = quality.iter().filter(|line| line.verdict != Verdict::Holds);
    failing.extend(lost.map(|line| Condition::Quality { measure: line.measure }));
    let shown = || failing.iter().map(ToString::to_string).collect::<Vec<_>>();
    let Some(condition) = named else {
        return match failing.as_slice() {
            [one] => Ok(one.clone()),
            _ => Err(DecideError::NoCondition { failing: shown() }),
        };
    };
    match &condition {
        // Rungs are of the machine and not of the trial: whether one failed is known where the ladder ran.
        Condition::Rung { .. } => Ok(condition),
        _ if failing.contains(&condition) => Ok(condition),
        _ => Err(DecideError::DidNotFail { condition: condition.to_string(), failing: shown() }),
    }
}

/// The steps at which writers of the trial failed.
pub(crate) fn failed_steps(dir: &Path) -> Result<Vec<String>, ProofError> {
    let journal = Journal::read(dir)?;
    let lines = journal.events.iter().flat_map(|writer| &writer.lines);
    let mut steps: Vec<String> = lines
        .filter_map(|line| match &line.event {
            TrialEvent::Failed { step, .. } => Some(step.clone()),
            _ => None,
        })
        .collect();
    steps.sort();
    steps.dedup();
    Ok(steps)
}

/// The files that a decision rests on: what was launched, the closing of the index, which names all of it, the events,
/// and the account with the results, which name every outcome.
fn rests_on(dir: &Path) -> Result<BTreeMap<String, FileFacts>, ProofError> {
    let fixed = [TRIAL, pilote_corpus::index::CLOSED_KEY, BALANCE, RESULTS, REFUSED].map(str::to_owned);
    let events = files::walk(dir)?.files.into_iter().map(|file| file.path);
    let events = events.filter(|path| path.starts_with("events/"));
    let mut facts = BTreeMap::new();
    for name in fixed.into_iter().chain(events) {
        if let Some((sha256, bytes)) = files::digest(&dir.join(&name))? {
            facts.insert(name, FileFacts { bytes, sha256 });
        }
    }
    Ok(facts)
}

/// Keeps a decision beside its trial under the next free number, and gives its path.
///
/// # Errors
/// When it cannot be written.
pub fn keep(dir: &Path, decision: &Decision) -> Result<std::path::PathBuf, ProofError> {
    let folder = dir.join(DECISIONS);
    fs_err::create_dir_all(&folder).map_err(|error| io("create", &folder, error))?;
    for number in 1..=DECISIONS_MAX {
        let path = folder.join(format!("{number:06}.json"));
        if path.exists() {
            continue;
        }
        match files::create(&path, &document::bytes(&path, decision)?) {
            // Somebody else took the number meanwhile.
            Err(ProofError::Differs { .. }) => {}
            Err(other) => return Err(other),
            Ok(_) => return Ok(path),
        }
    }
    Err(io("number another decision in", &folder, std::io::ErrorKind::StorageFull.into()))
}

/// A decision as it was read: its number, and the decision or what is wrong with its file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Kept {
    /// Its number, from 1.
    pub number: u32,
    /// The decision; none where its file was changed or cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Whether the trial is still the one that it rests on.
    pub tie: Tie,
}

/// Whether a trial is still what a decision rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "tie", rename_all = "kebab-case")]
pub enum Tie {
    /// Every file is as it was.
    Holds,
    /// Every file that was read is as it was; long ones were compared by their length.
    ByLength {
        /// The long files.
        files: Vec<String>,
    },
    /// Files of the trial are absent or changed.
    Broken {
        /// Which.
        files: Vec<String>,
    },
    /// The decision's own file was changed or cannot be read.
    Unreadable {
        /// Why.
        why: String,
    },
}

impl Tie {
    /// Whether nothing speaks against it.
    #[must_use]
    pub fn holds(&self) -> bool {
        matches!(self, Self::Holds | Self::ByLength { .. })
    }
}

/// The decisions on a trial, oldest first; `quick` compares long files by their length.
///
/// # Errors
/// When they are there and cannot be listed, or the system refuses to read the trial.
pub fn decisions(dir: &Path, quick: bool) -> Result<Vec<Kept>, ProofError> {
    let folder = dir.join(DECISIONS);
    let mut kept = Vec::new();
    let entries = match fs_err::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(kept),
        Err(error) => return Err(io("list", &folder, error)),
    };
    for entry in entries {
        let path = entry.map_err(|error| io("list", &folder, error))?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u32>().ok());
        let (Some(number), Some("json")) = (number, path.extension().and_then(|end| end.to_str())) else {
            continue;
        };
        let bytes = fs_err::read(&path).map_err(|error| io("read", &path, error))?;
        kept.push(match document::decode::<Decision>(&bytes) {
            Ok(decision) => Kept { number, tie: tie(dir, &decision, quick)?, decision: Some(decision) },
            Err(error) => Kept { number, decision: None, tie: Tie::Unreadable { why: error.to_string() } },
        });
    }
    kept.sort_by_key(|kept| kept.number);
    Ok(kept)
}

/// Whether the trial in `dir` is still the one that `decision` rests on.
///
/// # Errors
/// When the system refuses to read.
pub fn tie(dir: &Path, decision: &Decision, quick: bool) -> Result<Tie, ProofError> {
    let (mut broken, mut by_length) = (Vec::new(), Vec::new());
    for (name, facts) in &decision.rests_on {
        // The file may have been written by anybody, so that a name must not lead out of the trial.
        if !crate::manifest::is_inside(name) {
            broken.push(name.clone());
            continue;
        }
        let path = dir.join(name);
        if quick && facts.bytes > QUICK_BYTES_MAX {
            match fs_err::metadata(&path) {
                Ok(about) if about.len() == facts.bytes => by_length.push(name.clone()),
                _ => broken.push(name.clone()),
            }
            continue;
        }
        if files::digest(&path)?.map(|(sha256, _)| sha256) != Some(facts.sha256) {
            broken.push(name.clone());
        }
    }
    Ok(match (broken.is_empty(), by_length.is_empty()) {
        (false, _) => Tie::Broken { files: broken },
        (true, false) => Tie::ByLength { files: by_length },
        (true, true) => Tie::Holds,
    })
}

/// The verdict on a criterion among those of a balance.
pub(crate) fn verdict_of(criteria: &[Criterion], code: CriterionCode) -> Option<Verdict> {
    criteria.iter().find(|criterion| criterion.code == code).map(|criterion| criterion.verdict)
}
