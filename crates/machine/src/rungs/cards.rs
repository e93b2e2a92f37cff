//! Cards as their driver shows them: how many, which ones this process sees, slices, memory and who holds it; the
//! same against what was ordered.

use pilote_spec::NeededBackend;

use super::bus::backend;
use super::with_words;
use crate::cards::{Card, Unread, cards};
use crate::demands::{Demands, Ordered, cards_on_bus, maker};
use crate::facts::Facts;
use crate::ladder::Judgement;
use crate::verdict::Finding;

/// The memory that a driver keeps for itself: a card shows a few per cent less than its name says.
const KEPT_PERCENT: u64 = 8;

/// An integrated processor of graphics has less memory of its own than this.
const INTEGRATED_MAX: u64 = 4 << 30;

/// Memory held by others that is worth a word, in percent of the card.
const HELD_PERCENT: u64 = 5;

/// The cards, or the judgement that there is no reading.
fn read(facts: &Facts, demands: &Demands) -> Result<(NeededBackend, Vec<Card>), Judgement> {
    let backend = backend(facts, demands)?;
    let judged = |finding: Finding| Judgement::Judged(vec![finding]);
    match cards(facts, backend) {
        Ok(cards) => Ok((backend, cards)),
        Err(Unread::NotAsked) => Err(Judgement::NotSeen),
        Err(Unread::NoProgram(program)) => {
            Err(judged(Finding::fault("driver-program-missing").with("program", program)))
        }
        Err(Unread::Late(program)) => {
            Err(judged(Finding::fault("driver-program-late").with("program", program)))
        }
        Err(Unread::Failed(program, words)) => {
            Err(judged(with_words(Finding::fault("driver-program-failed").with("program", program), &words)))
        }
    }
}

pub(super) fn judge(facts: &Facts, demands: &Demands) -> Judgement {
    let (backend, cards) = match read(facts, demands) {
        Ok(read) => read,
        Err(judgement) => return judgement,
    };
    let mut findings: Vec<Finding> = cards.iter().map(|card| shown("card", card)).collect();
    if cards.is_empty() {
        findings.push(Finding::fault("cards-none"));
        return Judgement::Judged(findings);
    }
    let on_bus = cards_on_bus(facts, maker(backend));
    if cards.len() < on_bus {
        findings.push(Finding::fault("cards-fewer-than-bus").with("seen", cards.len()).with("bus", on_bus));
    }
    findings.extend(visible(facts, backend, &cards));
    findings.extend(slices(&cards, demands));
    findings.extend(integrated(&cards));
    let wanted = demands.needs.cards.unwrap_or(1);
    if (cards.len() as u64) < u64::from(wanted) {
        findings.push(Finding::fault("cards-fewer").with("wanted", wanted).with("seen", cards.len()));
    }
    if let Some(wanted) = demands.needs.card_memory_mib {
        let small = cards.iter().filter(|card| card.memory_bytes.is_some_and(|bytes| bytes >> 20 < wanted));
        findings.extend(small.map(|card| shown("card-small", card).with("wanted_mib", wanted)).map(
            |mut finding| {
                finding.weight = crate::verdict::Weight::Fault;
                finding
            },
        ));
    }
    Judgement::Judged(findings)
}

/// A card with what is known of it.
fn shown(code: &str, card: &Card) -> Finding {
    let unknown = || "?".to_owned();
    Finding::seen(code)
        .with("index", card.index)
        .with("name", card.name.clone().unwrap_or_else(unknown))
        .with("memory_mib", card.memory_bytes.map_or_else(unknown, |bytes| (bytes >> 20).to_string()))
        .with("driver", card.driver.clone().unwrap_or_else(unknown))
        .with("capability", card.capability.clone().unwrap_or_else(unknown))
}

/// The variable that chooses cards, held against the cards that are there. An entry is an index or an identifier,
/// which may be shortened; what follows the first entry that names nothing is not seen at all.
fn visible(facts: &Facts, backend: NeededBackend, cards: &[Card]) -> Vec<Finding> {
    let names: &[&str] = match backend {
        NeededBackend::Rocm => &["HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"],
        NeededBackend::Cuda | NeededBackend::Cpu => &["CUDA_VISIBLE_DEVICES"],
    };
    let mut findings = Vec::new();
    for name in names {
        let Some(value) = facts.machine.variables.get(*name) else { continue };
        let about = |finding: Finding| finding.with("variable", name).with("value", value);
        let entries: Vec<&str> = value.split(',').map(str::trim).filter(|entry| !entry.is_empty()).collect();
        if entries.is_empty() || entries[0] == "-1" {
            findings.push(about(Finding::fault("visible-none")));
            continue;
        }
        match entries.iter().find(|entry| !names_card(entry, cards)) {
            Some(entry) => findings.push(about(Finding::fault("visible-unknown")).with("entry", entry)),
            None => findings.push(
                about(Finding::seen("visible")).with("count", entries.len()).with("cards", cards.len()),
            ),
        }
    }
    findings
}

fn names_card(entry: &str, cards: &[Card]) -> bool {
    if let Ok(index) = entry.parse::<usize>() {
        return index < cards.len();
    }
    let begins = |uuid: &String| uuid.starts_with(entry);
    if entry.starts_with("MIG-GPU-") {
        // The older form names the card and two numbers: `MIG-GPU-.../1/0`.
        let card = entry.trim_start_matches("MIG-").split('/').next().unwrap_or_default();
        return cards.iter().any(|one| one.uuid.as_deref() == Some(card));
    }
    cards.iter().any(|card| card.uuid.as_ref().is_some_and(begins) || card.slices.iter().any(begins))
}

/// Slices: one process sees one of them, whatever the variable says.
fn slices(cards: &[Card], demands: &Demands) -> Vec<Finding> {
    let sliced: Vec<&Card> = cards.iter().filter(|card| card.sliced == Some(true)).collect();
    let Some(first) = sliced.first() else { return Vec::new() };
    let count: usize = sliced.iter().map(|card| card.slices.len()).sum();
    if count == 0 {
        return vec![Finding::fault("slices-none").with("index", first.index)];
    }
    if demands.needs.cards.is_some_and(|wanted| wanted > 1) {
        return vec![Finding::fault("slices-one-each").with("count", count)];
    }
    vec![Finding::note("slices").with("count", count)]
}

/// An integrated one that stands first is picked by programs that take the first.
fn integrated(cards: &[Card]) -> Option<Finding> {
    let first = cards.first().filter(|_| cards.len() > 1)?;
    let small = first.memory_bytes.is_some_and(|bytes| bytes < INTEGRATED_MAX);
    let known = first.capability.as_deref().is_some_and(|name| {
        ["gfx902", "gfx90c", "gfx1036", "gfx1103"].iter().any(|integrated| name.starts_with(integrated))
    });
    (small || known).then(|| shown("card-integrated-first", first)).map(|mut finding| {
        finding.weight = crate::verdict::Weight::Note;
        finding
    })
}

/// Free memory, and who holds the rest.
pub(super) fn memory(facts: &Facts, demands: &Demands) -> Judgement {
    let (_, cards) = match read(facts, demands) {
        Ok(read) => read,
        Err(judgement) => return judgement,
    };
    let mut findings = Vec::new();
    for card in &cards {
        let (Some(free), Some(total)) = (card.free_bytes, card.memory_bytes) else {
            findings.push(shown("memory-unread", card));
            continue;
        };
        let holders: Vec<String> = card
            .holders
            .iter()
            .map(|holder| {
                let held = holder.bytes.map_or_else(|| "?".to_owned(), |bytes| (bytes >> 20).to_string());
                format!("{} {} ({held} MiB)", holder.pid, holder.name)
            })
            .collect();
        let about = |finding: Finding| {
            finding
                .with("index", card.index)
                .with("free_mib", free >> 20)
                .with("total_mib", total >> 20)
                .with("holders", if holders.is_empty() { "-".to_owned() } else { holders.join(", ") })
        };
        let wanted = demands.needs.card_memory_mib;
        if let Some(wanted) = wanted.filter(|wanted| free >> 20 < *wanted) {
            findings.push(about(Finding::fault("memory-held")).with("wanted_mib", wanted));
        } else if total.saturating_sub(free) > total / 100 * HELD_PERCENT {
            findings.push(about(Finding::note("memory-partly-held")));
        } else {
            findings.push(about(Finding::seen("memory-free")));
        }
    }
    Judgement::Judged(findings)
}

/// What was delivered against what was ordered.
pub(super) fn order(facts: &Facts, demands: &Demands) -> Judgement {
    let Some(ordered) = &demands.order else { return Judgement::NotApplicable("no-order") };
    let mut findings = Vec::new();
    // An order names its cards, so they are looked at whatever the project computes on.
    let asked =
        Demands { backend: demands.backend.filter(|it| *it != NeededBackend::Cpu), ..demands.clone() };
    match read(facts, &asked) {
        Ok((_, cards)) => findings.extend(against(ordered, &cards)),
        Err(Judgement::NotApplicable(_)) => findings.extend(against(ordered, &[])),
        Err(judgement) => return judgement,
    }
    if let (Some(ends), Some(now)) = (ordered.ends, demands.now) {
        let hours = ends.0.saturating_sub(now.0) / 3_600_000;
        let finding =
            if ends.0 <= now.0 { Finding::fault("order-ended") } else { Finding::seen("order-ends") };
        findings.push(finding.with("hours", hours));
    }
    findings.extend(preparation(facts, ordered));
    Judgement::Judged(findings)
}

fn against(ordered: &Ordered, cards: &[Card]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if cards.len() as u64 != u64::from(ordered.cards) {
        findings.push(Finding::fault("order-count").with("wanted", ordered.cards).with("seen", cards.len()));
    }
    let plain = |text: &str| -> String {
        text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect::<String>().replace("nvidia", "")
    };
    let names: Vec<String> = ordered.names.iter().map(|name| plain(name)).collect();
    for card in cards {
        let seen = card.name.clone().unwrap_or_else(|| "?".to_owned());
        if card.name.is_some() && !names.iter().any(|name| plain(&seen).contains(name.as_str())) {
            findings.push(
                Finding::fault("order-model")
                    .with("index", card.index)
                    .with("wanted", &ordered.card)
                    .with("seen", &seen),
            );
        }
        if let (Some(wanted), Some(bytes)) = (ordered.memory_bytes, card.memory_bytes)
            && bytes < wanted / 100 * (100 - KEPT_PERCENT)
        {
            findings.push(
                Finding::fault("order-memory")
                    .with("index", card.index)
                    .with("wanted_mib", wanted >> 20)
                    .with("seen_mib", bytes >> 20),
            );
        }
    }
    if findings.is_empty() {
        findings.push(Finding::seen("order").with("count", cards.len()).with("card", &ordered.card));
    }
    findings
}

/// A preparation leaves something that can be seen: PyTorch in the interpreter that runs, Blender on the PATH.
fn preparation(facts: &Facts, ordered: &Ordered) -> Option<Finding> {
    let preparation = ordered.preparation.as_deref()?.to_lowercase();
    let is_there = match preparation.as_str() {
        "pytorch" => {
            !facts.took("interpreter") || facts.packages.iter().any(|package| package.name == "torch")
        }
        "blender" => facts.programs.get("preparation:blender").is_none_or(|said| !said.missing),
        _ => return None,
    };
    (!is_there).then(|| Finding::fault("order-preparation").with("preparation", preparation))
}
