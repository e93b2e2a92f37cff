//! Real computations against known results, what passes between cards, and modules with compiled code.

use super::{with_error, with_words};
use crate::demands::Demands;
use crate::facts::{Computation, Facts};
use crate::ladder::Judgement;
use crate::verdict::Finding;

pub(super) fn judge(facts: &Facts, demands: &Demands) -> Judgement {
    if demands.interpreter.is_none() {
        return Judgement::NotApplicable("no-python");
    }
    if let Some(said) = facts.ended.get("compute") {
        let finding = Finding::fault(if said.late { "computation-late" } else { "computation-ended" });
        return Judgement::Judged(vec![with_words(finding, &said.words())]);
    }
    if !facts.took("compute") {
        return Judgement::NotSeen;
    }
    let mut devices: Vec<&str> = facts.computations.iter().map(|row| row.device.as_str()).collect();
    devices.dedup();
    let mut findings: Vec<Finding> = devices
        .iter()
        .flat_map(|device| {
            let rows: Vec<&Computation> =
                facts.computations.iter().filter(|row| row.device == *device).collect();
            of_device(device, &rows)
        })
        .collect();
    findings.extend(without_card(facts, demands, &devices));
    Judgement::Judged(findings)
}

/// One card by itself: the first error decides, every wrong result is named.
fn of_device(device: &str, rows: &[&Computation]) -> Vec<Finding> {
    let about = |finding: Finding, row: &Computation| {
        finding.with("device", device).with("kind", &row.kind).with("size", row.size).with("by", &row.by)
    };
    if let Some(row) = rows.iter().find(|row| row.error.is_some())
        && let Some(error) = &row.error
    {
        return vec![with_error(about(Finding::fault("computation-failed"), row), error)];
    }
    let wrong: Vec<Finding> = rows
        .iter()
        .filter(|row| row.right != Some(true))
        .map(|row| {
            let figure = |value: Option<f64>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
            about(Finding::fault("computation-wrong"), row)
                .with("difference", figure(row.difference))
                .with("tolerance", figure(row.tolerance))
        })
        .collect();
    if !wrong.is_empty() {
        return wrong;
    }
    let mut kinds: Vec<&str> = rows.iter().map(|row| row.kind.as_str()).collect();
    kinds.dedup();
    let by = rows.first().map_or("?", |row| row.by.as_str());
    vec![
        Finding::seen("computation")
            .with("device", device)
            .with("by", by)
            .with("kinds", kinds.join(", "))
            .with("count", rows.len()),
    ]
}

/// What computed on the processor alone proves nothing of a card.
fn without_card(facts: &Facts, demands: &Demands, devices: &[&str]) -> Option<Finding> {
    let backend = demands.cards_of(facts)?;
    let cards = devices.iter().filter(|device| **device != "cpu").count() as u64;
    let wanted = u64::from(demands.needs.cards.unwrap_or(1));
    if cards >= wanted {
        return None;
    }
    let finding = if demands.asks_for_cards() { Finding::fault } else { Finding::note };
    let finding = finding("computation-without-card")
        .with("seen", cards)
        .with("wanted", wanted)
        .with("backend", backend.code());
    let torch = facts.torch.as_ref();
    if let Some(error) = torch.and_then(|torch| torch.error.as_ref()) {
        let warnings = torch.map(|torch| torch.warnings.join("\n")).unwrap_or_default();
        let mut finding = with_error(finding, error);
        // A warning of the driver often says more than the error that follows from it.
        if let Some(cause) = crate::causes::recognise(&warnings) {
            finding = finding.saying(&warnings).because(Some(cause));
        }
        return Some(finding);
    }
    let warnings = torch.map(|torch| torch.warnings.join("\n")).unwrap_or_default();
    if !warnings.is_empty() {
        return Some(with_words(finding, &warnings));
    }
    Some(match facts.driver.as_ref() {
        Some(driver) if driver.status.is_some_and(|status| status != 0) => {
            let status = driver.status.unwrap_or_default();
            with_words(finding, &format!("cuInit: error {status}:"))
        }
        Some(driver) if driver.error.is_some() => {
            with_words(finding, driver.error.as_deref().unwrap_or_default())
        }
        _ => finding,
    })
}

pub(super) fn peers(facts: &Facts, demands: &Demands) -> Judgement {
    let cards = facts.computations.iter().filter(|row| row.device != "cpu").map(|row| row.device.as_str());
    let mut cards: Vec<&str> = cards.collect();
    cards.dedup();
    if demands.interpreter.is_none() || cards.len() < 2 {
        return Judgement::NotApplicable("one-card");
    }
    if let Some(said) = facts.ended.get("peers") {
        let finding = Finding::fault(if said.late { "peers-late" } else { "peers-ended" });
        return Judgement::Judged(vec![with_words(finding, &said.words())]);
    }
    let Some(peers) = &facts.peers else { return Judgement::NotSeen };
    let mut findings = Vec::new();
    if let Some(error) = &peers.error {
        findings.push(with_error(Finding::fault("peers-ended"), error));
    }
    for copy in &peers.copies {
        let about = |finding: Finding| finding.with("from", copy.from).with("to", copy.to);
        match (&copy.error, copy.right) {
            (Some(error), _) => findings.push(with_error(about(Finding::fault("peer-failed")), error)),
            (None, Some(true)) if copy.direct == Some(false) => {
                findings.push(about(Finding::note("peer-by-host")));
            }
            (None, Some(true)) => {}
            (None, _) => findings.push(about(Finding::fault("peer-wrong"))),
        }
    }
    match &peers.collective {
        Some(tried) => match (&tried.error, tried.right) {
            (Some(error), _) => findings.push(with_error(Finding::fault("collective-failed"), error)),
            (None, Some(true)) => findings.push(Finding::seen("collective").with("count", cards.len())),
            (None, _) => findings.push(Finding::fault("collective-wrong")),
        },
        None => findings.push(Finding::note("collective-untried")),
    }
    Judgement::Judged(findings)
}

/// Each declared module by itself: an import that works proves no computation, and a computation that works proves
/// no extension.
pub(super) fn extensions(facts: &Facts, demands: &Demands) -> Judgement {
    let declared = &demands.needs.extensions;
    if declared.is_empty() {
        return Judgement::NotApplicable("no-extension");
    }
    if let Some(said) = facts.ended.get("extensions") {
        return Judgement::Judged(vec![with_words(Finding::fault("extensions-ended"), &said.words())]);
    }
    if !facts.took("extensions") {
        return Judgement::NotSeen;
    }
    let findings = declared.iter().map(|wanted| {
        let about = |finding: Finding| finding.with("module", &wanted.module);
        let Some(seen) = facts.extensions.iter().find(|seen| seen.module == wanted.module) else {
            return about(Finding::fault("extension-unseen"));
        };
        if seen.import.status != Some(0) {
            let code = if seen.import.late { "extension-late" } else { "extension-import" };
            return with_words(about(Finding::fault(code)), &seen.import.words());
        }
        match &seen.check {
            None => about(Finding::note("extension-unchecked")).with("version", seen.import.out.trim()),
            Some(said) if said.status == Some(0) => about(Finding::seen("extension")),
            Some(said) => {
                let finding =
                    about(Finding::fault(if said.late { "extension-late" } else { "extension-check" }));
                with_words(finding.with("check", wanted.check.clone().unwrap_or_default()), &said.words())
            }
        }
    });
    Judgement::Judged(findings.collect())
}
