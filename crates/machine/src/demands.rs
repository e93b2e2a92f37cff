//! What the ladder asks of a machine: the project's declared needs, and what follows from its engine and libraries.

use pilote_spec::{NeededBackend, Needs, Stamp};
use serde::{Deserialize, Serialize};

use crate::facts::Facts;

/// What is asked for. Everything is known before the machine is looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Demands {
    /// The declared needs.
    pub needs: Needs,
    /// What the computation runs on: declared, or forced by the libraries; none where both leave it open.
    pub backend: Option<NeededBackend>,
    /// The interpreter that the engine uses; none where it needs no Python.
    pub interpreter: Option<String>,
    /// Pinned packages of the declared requirement files.
    pub pinned: Vec<Pinned>,
    /// What was ordered, where an order was given.
    pub order: Option<Ordered>,
    /// The moment of the check, for the period of the order.
    pub now: Option<Stamp>,
}

/// A pinned package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// Its name, lower case, with dashes.
    pub name: String,
    /// Its version, a local part included.
    pub version: String,
    /// File and line.
    pub place: String,
    /// Whether a marker limits it to some systems or versions of Python.
    pub limited: bool,
}

/// What was ordered, resolved to what a driver can be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ordered {
    /// The card's name as ordered.
    pub card: String,
    /// Every name under which a driver may show it.
    pub names: Vec<String>,
    /// Memory of one card, where it is known.
    pub memory_bytes: Option<u64>,
    /// Cards in all.
    pub cards: u32,
    /// The preparation: `ubuntu`, `pytorch`, `blender`, `custom`.
    pub preparation: Option<String>,
    /// The end of the period.
    pub ends: Option<Stamp>,
}

/// An order as a file, format `pilote.order/1`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrderFile {
    /// Always `pilote.order/1`.
    pub format: String,
    /// The card's model.
    pub card: String,
    /// Cards in all, over all lots.
    pub cards: u32,
    /// Memory of one card in MiB, where the order names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<u64>,
    /// What was to be prepared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preparation: Option<String>,
    /// The period in days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period_days: Option<u32>,
    /// The end of the period, in milliseconds since 1970 (UTC).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<Stamp>,
}

/// The format of an order.
pub const ORDER_FORMAT: &str = "pilote.order/1";

/// NVIDIA, as the bus numbers it.
pub const NVIDIA: &str = "0x10de";
/// AMD, likewise.
pub const AMD: &str = "0x1002";

impl Demands {
    /// The backend whose cards are looked at: the one asked for, else the one of the cards on the bus. None where the
    /// project asks for the processor, or asks for nothing and there is no card.
    #[must_use]
    pub fn cards_of(&self, facts: &Facts) -> Option<NeededBackend> {
        match self.backend {
            Some(NeededBackend::Cpu) => None,
            Some(backend) => Some(backend),
            None => {
                let on_bus = |maker: &str| cards_on_bus(facts, maker) > 0;
                if on_bus(NVIDIA) || has_name(facts, "dev", "nvidiactl") {
                    Some(NeededBackend::Cuda)
                } else {
                    on_bus(AMD).then_some(NeededBackend::Rocm)
                }
            }
        }
    }

    /// Whether a card is asked for, and not only looked at since it is there.
    #[must_use]
    pub fn asks_for_cards(&self) -> bool {
        matches!(self.backend, Some(NeededBackend::Cuda | NeededBackend::Rocm))
    }
}

/// Cards of a maker on the bus.
pub(crate) fn cards_on_bus(facts: &Facts, maker: &str) -> usize {
    let is_card = |device: &&crate::evidence::BusDevice| {
        device.vendor == maker && crate::evidence::is_card_class(&device.class)
    };
    facts.machine.bus.iter().filter(is_card).count()
}

/// Whether a folder was seen to hold this name.
pub(crate) fn has_name(facts: &Facts, folder: &str, name: &str) -> bool {
    facts.machine.names.get(folder).is_some_and(|names| names.iter().any(|one| one == name))
}

/// The maker of a backend's cards, as the bus numbers it.
pub(crate) fn maker(backend: NeededBackend) -> &'static str {
    match backend {
        NeededBackend::Rocm => AMD,
        NeededBackend::Cuda | NeededBackend::Cpu => NVIDIA,
    }
}
