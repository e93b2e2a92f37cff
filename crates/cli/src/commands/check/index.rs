//! The wheel index that an advice names: where a wheel is at fault, the index that fits the Python, the driver and the
//! card that were found.

use pilote_machine::Facts;
use pilote_machine::cards;
use pilote_machine::demands::Demands;
use pilote_machine::ladder::Judgement;
use pilote_machine::verdict::{Finding, Weight};
use pilote_size::libraries::{Index, Platform, index};
use pilote_size::memory::Backend;
use pilote_spec::NeededBackend;

/// Findings and causes whose advice is to install another wheel.
const OF_WHEELS: [&str; 9] = [
    "wheel-cpu",
    "wheel-other",
    "driver-old",
    "capability-missing",
    "torch-import",
    "cpu-wheel",
    "driver-too-old",
    "architecture-missing",
    "runtime-major",
];

/// Adds to each fault of a wheel the name of the index that fits, or nothing where none is known to fit.
pub(super) fn named(judgement: Judgement, facts: &Facts, demands: &Demands) -> Judgement {
    let Judgement::Judged(findings) = judgement else { return judgement };
    let is_of_wheels = |finding: &Finding| {
        finding.weight == Weight::Fault
            && [Some(&finding.code), finding.cause.as_ref()]
                .into_iter()
                .flatten()
                .any(|code| OF_WHEELS.contains(&code.as_str()))
    };
    if !findings.iter().any(is_of_wheels) {
        return Judgement::Judged(findings);
    }
    let Ok(Index::Named { name, .. }) = index(&platform(facts, demands)) else {
        return Judgement::Judged(findings);
    };
    let with = |finding: Finding| if is_of_wheels(&finding) { finding.with("index", &name) } else { finding };
    Judgement::Judged(findings.into_iter().map(with).collect())
}

/// The machine as its interpreter and its driver describe it.
fn platform(facts: &Facts, demands: &Demands) -> Platform {
    let backend = demands.cards_of(facts);
    let card = backend.and_then(|backend| cards::cards(facts, backend).ok()?.into_iter().next());
    let interpreter = facts.interpreter.as_ref();
    let platform = interpreter.map(|interpreter| interpreter.platform.as_str()).unwrap_or_default();
    let (system, architecture) = platform.split_once('-').unwrap_or((platform, ""));
    Platform {
        system: if system.starts_with("mac") { "macos" } else { system }.to_owned(),
        // `macosx-14.0-arm64` names its version in between.
        architecture: architecture.rsplit('-').next().unwrap_or_default().to_owned(),
        python: interpreter.filter(|it| it.implementation == "CPython").and_then(|it| minor(&it.version)),
        backend: Some(match backend {
            Some(NeededBackend::Cuda) => Backend::Cuda,
            Some(NeededBackend::Rocm) => Backend::Rocm,
            Some(NeededBackend::Cpu) | None => Backend::Cpu,
        }),
        driver: card.as_ref().and_then(|card| card.driver.clone()),
        capability: card.and_then(|card| card.capability).filter(|capability| !capability.starts_with("gfx")),
    }
}

/// The minor version of a Python 3.
fn minor(version: &str) -> Option<u32> {
    let mut parts = version.split('.');
    (parts.next() == Some("3")).then(|| parts.next()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(python: &str, card: &str) -> Facts {
        let text = serde_json::json!({
            "format": "pilote.facts/1",
            "steps": ["machine", "cards", "interpreter", "torch"],
            "machine": {
                "names": {"dev": ["nvidiactl"]},
                "said": {
                    "nvidia-cards": {"status": 0, "out": card},
                    "nvidia-capability": {"status": 0, "out": "GPU-a, 12.0\n"}
                }
            },
            "interpreter": {"version": python, "implementation": "CPython", "platform": "linux-x86_64"},
        });
        Facts::parse(&text.to_string(), "facts.json").unwrap()
    }

    fn judged(python: &str, card: &str, code: &str) -> Option<String> {
        let demands = Demands { backend: Some(NeededBackend::Cuda), ..Demands::default() };
        let judgement = Judgement::Judged(vec![Finding::fault(code), Finding::note(code)]);
        let Judgement::Judged(findings) = named(judgement, &facts(python, card), &demands) else {
            return None;
        };
        assert!(!findings[1].values.contains_key("index"), "a note has no advice to complete");
        findings[0].values.get("index").cloned()
    }

    const CARD: &str = "0, GPU-a, NVIDIA GeForce RTX 5090, 32607, 32000, 570.86.10, [N/A], a\n";

    #[test]
    fn a_fault_of_a_wheel_names_the_index_that_fits_what_was_found() {
        assert_eq!(judged("3.12.4", CARD, "wheel-cpu").as_deref(), Some("cu128"));
        assert_eq!(
            judged("3.12.4", &CARD.replace("570.86.10", "580.82.07"), "wheel-cpu").as_deref(),
            Some("cu130")
        );
        assert_eq!(judged("3.12.4", CARD, "computation-wrong"), None);
    }

    #[test]
    fn no_index_is_named_where_none_fits() {
        assert_eq!(judged("3.7.9", CARD, "wheel-cpu"), None);
        assert_eq!(judged("3.12.4", &CARD.replace("570.86.10", "470.10"), "driver-old"), None);
    }
}
