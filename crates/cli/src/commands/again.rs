//! A sample of a trial computed again as a new trial, where nothing that was recorded explains a difference: does the
//! engine give the same twice, or did something drift between the two trials.

use std::path::{Path, PathBuf};

use pilote_proof::{Cause, Comparison, Question};
use pilote_spec::{QualityBar, TrialKind};
use serde::Serialize;

use super::gate;
use super::run::{Manner, Task, work};
use crate::failure::Failure;
use crate::place::{self, Place};
use crate::printer::Printer;
use crate::surroundings::Surroundings;

/// What the new trial says of the difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Says {
    /// It differs from B as well: the engine does not give the same twice.
    Chance,
    /// It is as B is and not as A was: something that is not recorded changed between the two.
    Drift,
    /// None of the items that differ is among those that were computed again.
    Beyond,
    /// Something that is recorded is otherwise now, so that nothing follows.
    Changed,
}

impl Says {
    fn code(self) -> &'static str {
        match self {
            Self::Chance => "chance",
            Self::Drift => "drift",
            Self::Beyond => "beyond",
            Self::Changed => "changed",
        }
    }
}

/// What computing again came to, beside the comparison that asked for it.
#[derive(Debug, Serialize)]
pub(super) struct Again {
    /// The new trial.
    trial: String,
    /// Items that were computed again.
    items: u64,
    /// Those that differ from A.
    differing_from_a: u64,
    /// Those that differ from B.
    differing_from_b: u64,
    says: Says,
}

/// Computes the first `count` items of B again, in a new trial of its project, and says what follows.
///
/// # Errors
/// When B lies in no project, its campaign may not start, the machine fails, or the new trial cannot be compared.
pub(super) fn again(
    (a, b): (&Path, &Path),
    count: u64,
    scratch: &Path,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Again, Failure> {
    let root = place::project_of(b).ok_or_else(|| {
        let error =
            anyhow::anyhow!("{} lies in no project's runs/, so nothing of it can be computed", b.display());
        Failure::request("no-project", error).hint("compare the trial in its project, not a copy of it")
    })?;
    let place = Place::find(surroundings, Some(&root))?;
    let limit = Some(count);
    let came = match pilote_proof::summary(b).kind {
        Some(TrialKind::Campaign) => {
            let pilot = gate::pass(&place, surroundings, printer)?;
            let task = Task::Campaign { limit, since: None, pilot: &pilot };
            work(&place, &task, &Manner::default(), surroundings, printer)?
        }
        _ => work(&place, &Task::New { limit, since: None }, &Manner::default(), surroundings, printer)?,
    };
    let trial: PathBuf = came.end.trial;
    let with = |other: &Path| {
        let bar = QualityBar::default();
        pilote_proof::compare(other, &trial, &Question { project: None, scratch, bar, labels: None })
    };
    let (from_a, from_b) = (with(a)?, with(b)?);
    let again = Again {
        trial: trial.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        items: from_b.items.both,
        differing_from_a: from_a.results.differing(),
        differing_from_b: from_b.results.differing(),
        says: says(&from_a, &from_b),
    };
    let (items, from_a, from_b) =
        (again.items.to_string(), again.differing_from_a.to_string(), again.differing_from_b.to_string());
    let args = [("trial", &*again.trial), ("items", &items), ("from-a", &from_a), ("from-b", &from_b)];
    printer.line("");
    printer.line(&printer.texts.get(&format!("compare-again-{}", again.says.code()), &args));
    Ok(again)
}

fn says(from_a: &Comparison, from_b: &Comparison) -> Says {
    match (from_b.cause, from_a.results.differing()) {
        (Cause::OneFactor | Cause::SeveralFactors, _) => Says::Changed,
        (Cause::Unexplained, _) => Says::Chance,
        (Cause::NothingDiffers, 0) => Says::Beyond,
        (Cause::NothingDiffers, _) => Says::Drift,
    }
}

/// A comparison with what computing again came to.
#[derive(Serialize)]
pub(super) struct CompareJson<'c> {
    #[serde(flatten)]
    pub(super) comparison: &'c Comparison,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) again: Option<Again>,
}
