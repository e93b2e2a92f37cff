//! Cards: memory as the driver shows it, backend, capability, cards of a lot. A table with sources is built in;
//! a user's or a desk's table adds to it or overrides it by name.

use pilote_spec::CardFacts;
use serde::{Deserialize, Serialize};

use crate::memory::{Backend, Engine, budget};
use crate::{Bytes, SizeError};

/// Where the memory of a card in the table comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemorySource {
    /// What the driver shows, which is what programs can have.
    Driver,
    /// What the vendor names; the driver shows a little less.
    Nominal,
}

/// A card as a table describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// The name that people use.
    pub name: String,
    /// Other names, as drivers give them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Memory of one card in MiB.
    pub memory_mib: u64,
    /// Where that figure comes from.
    pub memory_source: MemorySource,
    /// Bandwidth of its memory in GB/s, as the vendor names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_gb_s: Option<u64>,
    /// What programs reach it by.
    pub backend: Backend,
    /// CUDA compute capability (`8.9`) or the AMD target (`gfx942`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// Cards that are rented as one lot.
    #[serde(default = "one")]
    pub per_lot: u32,
    /// The direct link between cards of one machine, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Where all this is said.
    pub source: String,
}

fn one() -> u32 {
    1
}

impl Card {
    /// Whether a name is one of this card's, whatever its case and spacing.
    #[must_use]
    pub fn goes_by(&self, name: &str) -> bool {
        same(&self.name, name) || self.aliases.iter().any(|alias| same(alias, name))
    }

    /// Memory of one card.
    #[must_use]
    pub fn memory(&self) -> Bytes {
        Bytes::mib(self.memory_mib)
    }

    /// Memory of all cards of a lot, for showing; a program sees one card at a time.
    #[must_use]
    pub fn memory_of_lot(&self) -> Bytes {
        Bytes(self.memory().0.saturating_mul(u64::from(self.per_lot)))
    }

    /// The CUDA compute capability as major and minor number.
    #[must_use]
    pub fn compute_capability(&self) -> Option<(u32, u32)> {
        let (major, minor) = self.capability.as_deref()?.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    }
}

/// A table of cards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cards {
    /// Always `pilote.cards/1`.
    pub format: String,
    /// The day on which the table was checked.
    pub checked: String,
    /// The cards.
    #[serde(rename = "card")]
    pub all: Vec<Card>,
}

const BUILT_IN: &str = include_str!("../data/cards.toml");

impl Cards {
    /// The table that is built in.
    ///
    /// # Errors
    /// Never for the table as shipped, which the tests read.
    pub fn built_in() -> Result<Self, SizeError> {
        Self::parse("built-in cards", BUILT_IN)
    }

    /// Reads a table.
    ///
    /// # Errors
    /// Another format or version, unknown fields, a card without memory or of no lot, a name given twice.
    pub fn parse(file: &str, text: &str) -> Result<Self, SizeError> {
        let bad = |problem: String| SizeError::Table { file: file.to_owned(), problem };
        let table: Self = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
        if table.format != "pilote.cards/1" {
            return Err(bad(format!("its format is `{}`; `pilote.cards/1` is read", table.format)));
        }
        for (at, card) in table.all.iter().enumerate() {
            if card.memory_mib == 0 || card.memory_mib > 1 << 30 {
                return Err(bad(format!("{}: a memory of {} MiB is impossible", card.name, card.memory_mib)));
            }
            if card.per_lot == 0 || card.per_lot > 64 {
                return Err(bad(format!("{}: a lot has 1 to 64 cards, not {}", card.name, card.per_lot)));
            }
            if table.all[..at].iter().any(|earlier| same(&earlier.name, &card.name)) {
                return Err(bad(format!("{} is there twice", card.name)));
            }
        }
        Ok(table)
    }

    /// Takes over the cards of another table; those of the same name are replaced.
    pub fn override_with(&mut self, other: Self) {
        for card in other.all {
            match self.all.iter_mut().find(|mine| same(&mine.name, &card.name)) {
                Some(mine) => *mine = card,
                None => self.all.push(card),
            }
        }
    }

    /// The card of a name or an alias, whatever the case and spacing.
    ///
    /// # Errors
    /// When there is none; the message lists the names.
    pub fn named(&self, name: &str) -> Result<&Card, SizeError> {
        self.all.iter().find(|card| card.goes_by(name)).ok_or_else(|| SizeError::NotAllowed {
            field: "card",
            value: name.to_owned(),
            allowed: self.all.iter().map(|card| card.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }
}

/// Whether two names differ only by case, spaces, dashes or the vendor's name.
fn same(one: &str, other: &str) -> bool {
    let plain = |name: &str| {
        let lower = name.to_ascii_lowercase().replace("nvidia", "").replace("geforce", "").replace("amd", "");
        lower.chars().filter(char::is_ascii_alphanumeric).collect::<String>()
    };
    plain(one) == plain(other)
}

/// A card as it is held: all of it or a slice, with what others use of it already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// The card.
    pub card: Card,
    /// The memory that is ours: less than the card's for a slice (MIG).
    pub memory: Bytes,
    /// What other processes hold of it.
    pub used_by_others: Bytes,
}

impl Holding {
    /// A whole card that nobody else uses.
    #[must_use]
    pub fn whole(card: Card) -> Self {
        Self { memory: card.memory(), used_by_others: Bytes(0), card }
    }

    /// A card as the driver of this machine shows it, which goes before any table. A slice shows its own memory.
    #[must_use]
    pub fn found(facts: &CardFacts, table: &Cards, backend: Backend, used_by_others: Bytes) -> Option<Self> {
        let memory = Bytes(facts.memory_bytes?);
        let known = table.named(&facts.name).ok().cloned();
        let card = known.unwrap_or_else(|| Card {
            name: facts.name.clone(),
            aliases: Vec::new(),
            memory_mib: memory.0 >> 20,
            memory_source: MemorySource::Driver,
            bandwidth_gb_s: None,
            backend,
            capability: None,
            per_lot: 1,
            link: None,
            source: "the driver of this machine".to_owned(),
        });
        Some(Self { card, memory, used_by_others })
    }

    /// What a task's engine may use.
    #[must_use]
    pub fn budget(&self, engine: &Engine) -> Bytes {
        let utilisation = match engine {
            Engine::Vllm { utilisation, .. } => *utilisation,
            Engine::Builtin | Engine::Transformers { .. } | Engine::LlamaCpp { .. } => 1000,
        };
        budget(self.memory, self.used_by_others, utilisation)
    }
}
