//! Cards as the programs of their drivers show them. A reading that a driver does not give is absent, never zero.

use std::collections::BTreeMap;

use pilote_spec::{CardFacts, NeededBackend};
use serde_json::Value;

use crate::evidence::Said;
use crate::facts::Facts;

/// A card, as its driver shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Card {
    /// Its index, in the driver's order.
    pub index: u32,
    /// Its name.
    pub name: Option<String>,
    /// Its identifier.
    pub uuid: Option<String>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// Free memory in bytes.
    pub free_bytes: Option<u64>,
    /// Version of the driver.
    pub driver: Option<String>,
    /// `9.0`, or `gfx942`.
    pub capability: Option<String>,
    /// Whether it is cut into slices (MIG).
    pub sliced: Option<bool>,
    /// Identifiers of its slices.
    pub slices: Vec<String>,
    /// Who holds memory of it.
    pub holders: Vec<Holder>,
}

/// A process that holds memory of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its number, as the driver sees it; in a container that is another number than inside.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// What it holds, in bytes.
    pub bytes: Option<u64>,
}

/// Why there is no reading of the cards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// It was not asked for.
    NotAsked,
    /// The driver's program is not installed.
    NoProgram(&'static str),
    /// It did not answer in time.
    Late(&'static str),
    /// It failed, with these words.
    Failed(&'static str, String),
}

/// The cards of a backend.
///
/// # Errors
/// When the driver's program did not tell of them.
pub fn cards(facts: &Facts, backend: NeededBackend) -> Result<Vec<Card>, Unread> {
    match backend {
        NeededBackend::Rocm => amd(facts),
        NeededBackend::Cuda | NeededBackend::Cpu => nvidia(facts),
    }
}

/// Every card of every backend, for the record of a trial; none where there is no reading.
#[must_use]
pub fn all(facts: &Facts) -> Vec<CardFacts> {
    let both = [NeededBackend::Cuda, NeededBackend::Rocm];
    let found = both.into_iter().filter_map(|backend| cards(facts, backend).ok()).flatten();
    found
        .map(|card| CardFacts {
            name: card.name.unwrap_or_default(),
            uuid: card.uuid,
            memory_bytes: card.memory_bytes,
            driver: card.driver,
        })
        .collect()
}

fn good<'s>(said: Option<&'s Said>, program: &'static str) -> Result<&'s str, Unread> {
    let said = said.ok_or(Unread::NotAsked)?;
    match said.good() {
        Some(out) => Ok(out),
        None if said.missing => Err(Unread::NoProgram(program)),
        None if said.late => Err(Unread::Late(program)),
        None => Err(Unread::Failed(program, said.words())),
    }
}

const NVIDIA_PROGRAM: &str = "nvidia-smi";

fn nvidia(facts: &Facts) -> Result<Vec<Card>, Unread> {
    let said = &facts.machine.said;
    let out = good(said.get("nvidia-cards"), NVIDIA_PROGRAM)?;
    let mut cards: Vec<Card> = rows(out).filter_map(|row| nvidia_card(&row)).collect();
    if cards.is_empty() && !out.trim().is_empty() {
        // Some versions say with status 0 that there is no device, or that something failed.
        return Err(Unread::Failed(NVIDIA_PROGRAM, out.trim().to_owned()));
    }
    let text = |name: &str| said.get(name).and_then(Said::good).unwrap_or_default();
    for row in rows(text("nvidia-capability")) {
        if let [uuid, capability] = row.as_slice()
            && let Some(card) = cards.iter_mut().find(|card| card.uuid == *uuid)
        {
            card.capability.clone_from(capability);
        }
    }
    for row in rows(text("nvidia-holders")) {
        if let [uuid, Some(pid), name, used] = row.as_slice()
            && let Some(card) = cards.iter_mut().find(|card| card.uuid == *uuid)
            && let Ok(pid) = pid.parse()
        {
            let bytes = used.as_deref().and_then(mib);
            card.holders.push(Holder { pid, name: name.clone().unwrap_or_default(), bytes });
        }
    }
    for (index, slices) in slices(text("nvidia-list")) {
        if let Some(card) = cards.iter_mut().find(|card| card.index == index) {
            card.slices = slices;
        }
    }
    Ok(cards)
}

/// Rows of comma-separated fields. What a driver writes for "not known" is absent.
fn rows(text: &str) -> impl Iterator<Item = Vec<Option<String>>> + '_ {
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| {
        line.split(',')
            .map(str::trim)
            .map(|field| {
                // `[N/A]`, `[Not Supported]`, `[Insufficient Permissions]`, `[Unknown Error]`, `ERR!`
                let unknown = field.is_empty() || field.starts_with('[') || field == "N/A" || field == "ERR!";
                (!unknown).then(|| field.to_owned())
            })
            .collect()
    })
}

fn nvidia_card(row: &[Option<String>]) -> Option<Card> {
    let [index, uuid, name, total, free, driver, mig, _bus] = row else { return None };
    Some(Card {
        index: index.as_ref()?.parse().ok()?,
        name: name.clone(),
        uuid: uuid.clone(),
        memory_bytes: total.as_deref().and_then(mib),
        free_bytes: free.as_deref().and_then(mib),
        driver: driver.clone(),
        sliced: mig.as_ref().map(|mode| mode == "Enabled"),
        ..Card::default()
    })
}

fn mib(text: &str) -> Option<u64> {
    text.trim_end_matches("MiB").trim().parse::<u64>().ok()?.checked_mul(1 << 20)
}

/// Slices by card: `GPU 0: NAME (UUID: GPU-...)`, and below it `MIG 1g.10gb Device 0: (UUID: MIG-...)`.
fn slices(list: &str) -> BTreeMap<u32, Vec<String>> {
    let mut found: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let mut card = None;
    for line in list.lines() {
        if let Some(rest) = line.strip_prefix("GPU ") {
            card = rest.split(':').next().and_then(|index| index.parse().ok());
        } else if line.trim_start().starts_with("MIG ")
            && let (Some(card), Some(uuid)) = (card, line.split("UUID: ").nth(1))
        {
            found.entry(card).or_default().push(uuid.trim_end_matches([')', ' ']).to_owned());
        }
    }
    found
}

const AMD_PROGRAM: &str = "amd-smi";

fn amd(facts: &Facts) -> Result<Vec<Card>, Unread> {
    let said = &facts.machine.said;
    let out = good(said.get("amd-static"), AMD_PROGRAM)?;
    let failed = || Unread::Failed(AMD_PROGRAM, out.trim().to_owned());
    let entries = entries(out).ok_or_else(failed)?;
    let mut cards: Vec<Card> = entries.iter().filter_map(amd_card).collect();
    for (name, take) in [("amd-memory", amd_memory as fn(&mut Card, &Value)), ("amd-holders", amd_holders)] {
        let told = said.get(name).and_then(Said::good).and_then(self::entries).unwrap_or_default();
        for entry in &told {
            let index = entry.get("gpu").and_then(Value::as_u64);
            if let Some(card) = cards.iter_mut().find(|card| Some(u64::from(card.index)) == index) {
                take(card, entry);
            }
        }
    }
    Ok(cards)
}

/// One entry a card: a list, or since the program's seventh version a list below `gpu_data`. Lines of warnings may
/// stand before it.
fn entries(out: &str) -> Option<Vec<Value>> {
    let start = out.find(['[', '{'])?;
    let value: Value = serde_json::from_str(out.get(start..)?.trim()).ok()?;
    match value {
        Value::Array(entries) => Some(entries),
        Value::Object(mut object) => match object.remove("gpu_data") {
            Some(Value::Array(entries)) => Some(entries),
            _ => None,
        },
        _ => None,
    }
}

fn amd_card(entry: &Value) -> Option<Card> {
    let text = |pointer: &str| {
        let value = entry.pointer(pointer).and_then(Value::as_str)?;
        (!value.is_empty() && value != "N/A").then(|| value.to_owned())
    };
    Some(Card {
        index: entry.get("gpu").and_then(Value::as_u64)?.try_into().ok()?,
        name: text("/asic/market_name"),
        uuid: text("/asic/asic_serial"),
        memory_bytes: entry.pointer("/vram/size").and_then(amount),
        driver: text("/driver/version"),
        capability: text("/asic/target_graphics_version"),
        ..Card::default()
    })
}

fn amd_memory(card: &mut Card, entry: &Value) {
    card.free_bytes = entry.pointer("/mem_usage/free_vram").and_then(amount);
    if let Some(total) = entry.pointer("/mem_usage/total_vram").and_then(amount) {
        card.memory_bytes = Some(total);
    }
}

fn amd_holders(card: &mut Card, entry: &Value) {
    for process in entry.get("process_list").and_then(Value::as_array).into_iter().flatten() {
        let info = process.get("process_info").unwrap_or(process);
        let Some(pid) = info.get("pid").and_then(Value::as_u64).and_then(|pid| pid.try_into().ok()) else {
            continue;
        };
        let name = info.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let bytes = info.pointer("/memory_usage/vram_mem").and_then(amount);
        card.holders.push(Holder { pid, name, bytes });
    }
}

/// `{"value": 196592, "unit": "MB"}`. The program writes MB and counts in MiB.
fn amount(value: &Value) -> Option<u64> {
    let number = value.get("value").and_then(Value::as_u64)?;
    let factor = match value.get("unit").and_then(Value::as_str)? {
        "B" => 1,
        "KB" | "KiB" => 1 << 10,
        "MB" | "MiB" => 1 << 20,
        "GB" | "GiB" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(factor)
}
