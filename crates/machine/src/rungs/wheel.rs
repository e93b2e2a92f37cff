//! The kind of wheel that is installed, the driver that it needs, and the architectures that it was built for.
//!
//! Nothing here proves that a card computes: a wheel of the right kind with a driver that is new enough still fails
//! on a card whose architecture it lacks, and says before that a card is available.

use pilote_spec::NeededBackend;

use super::version::{is_at_least, major};
use super::with_error;
use crate::cards::cards;
use crate::demands::Demands;
use crate::facts::{Facts, Torch};
use crate::ladder::Judgement;
use crate::verdict::Finding;

const DRIVERS: &str = include_str!("../../data/drivers.tsv");

/// The least driver for a CUDA, and the driver that its toolkit came with. A CUDA newer than the table takes the
/// figures of the newest of its major version.
fn drivers(cuda: &str) -> Option<(&'static str, &'static str)> {
    let rows = DRIVERS.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut fields = line.split('\t');
        Some((fields.next()?, fields.next()?, fields.next()?))
    });
    let mut of_major = None;
    for (known, least, toolkit) in rows {
        if known == cuda {
            return Some((least, toolkit));
        }
        if major(known) == major(cuda) && is_at_least(cuda, known) {
            of_major = Some((least, toolkit));
        }
    }
    of_major
}

/// PyTorch as it was seen, or why there is nothing to judge.
fn torch<'f>(facts: &'f Facts, demands: &Demands) -> Result<&'f Torch, Judgement> {
    if demands.interpreter.is_none() {
        return Err(Judgement::NotApplicable("no-python"));
    }
    if let Some(said) = facts.ended.get("torch") {
        let finding = Finding::fault(if said.late { "torch-late" } else { "torch-ended" });
        return Err(Judgement::Judged(vec![super::with_words(finding, &said.words())]));
    }
    match &facts.torch {
        Some(torch) => Ok(torch),
        None if facts.took("torch") => Err(Judgement::NotApplicable("no-torch")),
        None => Err(Judgement::NotSeen),
    }
}

pub(super) fn judge(facts: &Facts, demands: &Demands) -> Judgement {
    let torch = match torch(facts, demands) {
        Ok(torch) => torch,
        Err(judgement) => return judgement,
    };
    let version = torch.version.clone().unwrap_or_else(|| "?".to_owned());
    if let (None, Some(error)) = (&torch.version, &torch.error) {
        return Judgement::Judged(vec![with_error(Finding::fault("torch-import"), error)]);
    }
    let (kind, build) = match (&torch.cuda, &torch.hip) {
        (_, Some(hip)) => (NeededBackend::Rocm, hip.clone()),
        (Some(cuda), None) => (NeededBackend::Cuda, cuda.clone()),
        (None, None) => (NeededBackend::Cpu, String::new()),
    };
    let mut findings = vec![
        Finding::seen("wheel").with("version", &version).with("kind", kind.code()).with("build", &build),
    ];
    let wanted = demands.cards_of(facts);
    match (wanted, kind) {
        (Some(wanted), NeededBackend::Cpu) => {
            let python = facts.interpreter.as_ref().map_or("?", |interpreter| interpreter.version.as_str());
            findings.push(
                Finding::fault("wheel-cpu")
                    .with("version", &version)
                    .with("wanted", wanted.code())
                    .with("python", python),
            );
        }
        (Some(wanted), kind) if wanted != kind => findings
            .push(Finding::fault("wheel-other").with("kind", kind.code()).with("wanted", wanted.code())),
        (Some(_), NeededBackend::Cuda) => findings.extend(driver(facts, &build)),
        _ => {}
    }
    Judgement::Judged(findings)
}

/// The driver against what the wheel's CUDA needs.
fn driver(facts: &Facts, cuda: &str) -> Option<Finding> {
    let driver = cards(facts, NeededBackend::Cuda).ok()?.into_iter().find_map(|card| card.driver)?;
    let (least, toolkit) = drivers(cuda)?;
    let about = |finding: Finding| {
        finding.with("driver", &driver).with("cuda", cuda).with("least", least).with("toolkit", toolkit)
    };
    if !is_at_least(&driver, least) {
        Some(about(Finding::fault("driver-old")))
    } else if !is_at_least(&driver, toolkit) {
        Some(about(Finding::note("driver-before-toolkit")))
    } else {
        None
    }
}

/// The card's architecture against those that the wheel was built for.
pub(super) fn capability(facts: &Facts, demands: &Demands) -> Judgement {
    let torch = match torch(facts, demands) {
        Ok(torch) => torch,
        Err(judgement) => return judgement,
    };
    let Some(backend) = demands.cards_of(facts) else { return Judgement::NotApplicable("processor-only") };
    if torch.built_for.is_empty() {
        return Judgement::Judged(vec![Finding::note("architectures-unknown")]);
    }
    let mut seen: Vec<(String, String)> = torch
        .cards
        .iter()
        .filter_map(|card| Some((card.name.clone().unwrap_or_default(), card.capability.clone()?)))
        .collect();
    if seen.is_empty() {
        let cards = cards(facts, backend).unwrap_or_default();
        seen = cards
            .into_iter()
            .filter_map(|card| Some((card.name.unwrap_or_default(), card.capability?)))
            .collect();
    }
    if seen.is_empty() {
        return Judgement::Judged(vec![Finding::note("capability-unknown")]);
    }
    seen.sort_unstable();
    seen.dedup();
    let list = torch.built_for.join(", ");
    let findings = seen.iter().map(|(name, capability)| {
        let finding = match built_for(capability, &torch.built_for) {
            Built::Code => Finding::seen("capability"),
            Built::Ptx => Finding::note("capability-by-ptx"),
            Built::Not => Finding::fault("capability-missing"),
        };
        finding.with("card", name).with("capability", capability).with("built_for", &list)
    });
    Judgement::Judged(findings.collect())
}

/// How a wheel serves an architecture.
#[derive(Debug, PartialEq, Eq)]
enum Built {
    /// With machine code.
    Code,
    /// With PTX, which the driver compiles at the first use.
    Ptx,
    /// Not at all.
    Not,
}

/// Machine code runs on the same major version at the same or a later minor one, code for `90a` on that alone; PTX
/// runs on everything later. AMD's names are compared as they are.
fn built_for(capability: &str, list: &[String]) -> Built {
    if let Some(plain) = capability.strip_prefix("gfx") {
        let plain = plain.split(':').next().unwrap_or(plain);
        let has = list
            .iter()
            .any(|one| one.strip_prefix("gfx").is_some_and(|one| one.split(':').next() == Some(plain)));
        return if has { Built::Code } else { Built::Not };
    }
    let Some(card) = pair(capability) else { return Built::Not };
    let code = list.iter().filter_map(|one| one.strip_prefix("sm_"));
    let runs = |digits: &str| {
        let exact = digits.ends_with('a');
        let family = digits.ends_with('f');
        let digits = digits.trim_end_matches(['a', 'f']);
        number_pair(digits).is_some_and(|built| {
            if exact { built == card } else { built.0 == card.0 && (built.1 <= card.1 || family) }
        })
    };
    if code.clone().any(runs) {
        return Built::Code;
    }
    let ptx = list.iter().filter_map(|one| one.strip_prefix("compute_")).filter_map(number_pair);
    if ptx.clone().any(|built| built <= card) { Built::Ptx } else { Built::Not }
}

/// `12.0`
fn pair(capability: &str) -> Option<(u32, u32)> {
    let (major, minor) = capability.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// `120`: the last digit is the minor version.
fn number_pair(digits: &str) -> Option<(u32, u32)> {
    let number: u32 = digits.parse().ok()?;
    Some((number / 10, number % 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn machine_code_runs_within_its_major_version_and_ptx_beyond() {
        let wheel = list(&["sm_75", "sm_80", "sm_86", "sm_90", "compute_90"]);
        assert_eq!(built_for("8.9", &wheel), Built::Code);
        assert_eq!(built_for("9.0", &wheel), Built::Code);
        assert_eq!(built_for("12.0", &wheel), Built::Ptx);
        assert_eq!(built_for("7.0", &wheel), Built::Not);
        assert_eq!(built_for("12.0", &list(&["sm_80", "sm_90"])), Built::Not);
        assert_eq!(built_for("10.0", &list(&["sm_100a"])), Built::Code);
        assert_eq!(built_for("10.3", &list(&["sm_100a"])), Built::Not);
    }

    #[test]
    fn names_of_amd_are_compared_as_they_are() {
        let wheel = list(&["gfx90a", "gfx942"]);
        assert_eq!(built_for("gfx942:sramecc+:xnack-", &wheel), Built::Code);
        assert_eq!(built_for("gfx902", &wheel), Built::Not);
    }

    #[test]
    fn a_cuda_newer_than_the_table_takes_the_newest_of_its_major_version() {
        assert_eq!(drivers("12.8"), Some(("525.60.13", "570.26")));
        assert_eq!(drivers("13.2"), Some(("580.65.06", "580.65.06")));
        assert_eq!(drivers("9.0"), None);
    }
}
