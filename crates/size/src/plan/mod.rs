//! Plans: candidates by memory with margin and backend, periods, lots, and exact totals.
//!
//! total = price of a lot x lots. The cards of a lot are already in its price, so they are never multiplied again.
//! Several cards do not merge their memory and do not share out a program by themselves; a lot is not a batch; a
//! period is a way to organise work and no promise of duration. These statements are part of every plan.

mod catalogue;
mod money;
mod projection;

use serde::{Deserialize, Serialize};

pub use catalogue::{Catalogue, Offer};
pub use money::{Cents, MoneyError};
pub use projection::{GROUPS_MIN, Group, NoProjection, Projection, SAMPLE_MIN, Sample, project};

use crate::cards::{Card, Cards};
use crate::measured::Verdict;
use crate::memory::Backend;
use crate::{Bytes, SizeError, Sizing, said};

/// The format of a plan.
pub const PLAN_FORMAT: &str = "pilote.plan/1";

/// The periods, in days.
pub const PERIODS: [u32; 3] = [3, 7, 30];

/// The most lots of one order.
pub const LOTS_MAX: u32 = 10;

/// A choice that the renter made: lots from 1 to 10.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lots(u32);

impl Lots {
    /// Reads a number of lots as it was typed.
    ///
    /// # Errors
    /// 0, 11, 1.5, a sign or anything else that is no whole number from 1 to 10.
    pub fn parse(text: &str) -> Result<Self, SizeError> {
        let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse::<u32>() {
            Ok(lots) if plain && (1..=LOTS_MAX).contains(&lots) => Ok(Self(lots)),
            _ => Err(SizeError::NotAllowed {
                field: "lots",
                value: text.chars().take(40).collect(),
                allowed: "a whole number from 1 to 10".to_owned(),
            }),
        }
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

/// Reads a period as it was typed.
///
/// # Errors
/// Anything but 3, 7 and 30.
pub fn period(text: &str) -> Result<u32, SizeError> {
    PERIODS.into_iter().find(|days| days.to_string() == text).ok_or_else(|| SizeError::NotAllowed {
        field: "period",
        value: text.chars().take(40).collect(),
        allowed: "3, 7 or 30 days".to_owned(),
    })
}

/// What is asked of [`plan`].
#[derive(Debug, Clone)]
pub struct PlanRequest {
    /// Only this card; none lists every card of the table that the catalogue offers.
    pub card: Option<String>,
    /// Only this period; none lists all three.
    pub period: Option<u32>,
    /// Lots.
    pub lots: Lots,
    /// Only cards of this backend, where the project's libraries leave one.
    pub backend: Option<Backend>,
    /// A measured sample, for a projection.
    pub sample: Option<Sample>,
}

/// How a card's verdict reads in a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// A measured peak leaves the margin.
    Fits,
    /// A measured peak leaves less than the margin.
    NoMargin,
    /// Not proved: the pilot has to measure.
    Open,
    /// Not proved, and what is known is beyond the card already.
    OpenBeyond,
    /// Certainly too small.
    DoesNotFit,
    /// No task was sized.
    NotSized,
    /// The task was sized for another backend than this card's.
    OtherBackend,
}

/// One candidate: a card with its prices for the asked lots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// The card.
    pub card: Card,
    /// Memory of one card.
    pub memory: Bytes,
    /// Memory of all cards of a lot together, for showing; no program sees it as one.
    pub memory_of_lot: Bytes,
    /// What sizing came to.
    pub standing: Standing,
    /// Lots.
    pub lots: u32,
    /// Cards of all lots.
    pub cards: u32,
    /// One line a period.
    pub prices: Vec<Price>,
}

/// The price of one candidate for one period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Days.
    pub days: u32,
    /// Price of one lot.
    pub lot: Cents,
    /// Price of one lot times the lots, nothing else.
    pub total: Cents,
}

/// Statements that belong beside every choice of lots and periods, by stable name; the texts are translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statement {
    /// Total = lot price x lots.
    TotalIsLotsTimesPrice,
    /// Cards do not merge their memory.
    CardsDoNotMerge,
    /// A program must share out its work by itself.
    ProgramMustShareOut,
    /// A lot is not a batch.
    LotIsNotABatch,
    /// A period organises work and promises no duration.
    PeriodIsNoPromise,
    /// Time for installation, checks and export belongs to the period.
    ReserveTime,
    /// The prices are examples.
    PricesAreExamples,
}

/// A plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Always `pilote.plan/1`.
    pub format: String,
    /// Who made the catalogue.
    pub catalogue: String,
    /// The currency of every amount.
    pub currency: String,
    /// Whether the prices are only examples.
    pub examples: bool,
    /// The candidates: what fits first, then what is open, then the cheapest.
    pub candidates: Vec<Candidate>,
    /// Cards that were asked for or would fit and are not offered.
    pub not_offered: Vec<String>,
    /// What must be said beside it.
    pub statements: Vec<Statement>,
    /// How long a campaign may take, if anything is known of it.
    pub projection: Projection,
}

/// Makes a plan from a sizing (or none), a table of cards and a catalogue.
///
/// # Errors
/// A card that is in no table; a total beyond 64 bits.
pub fn plan(
    sizing: Option<&Sizing>,
    cards: &Cards,
    catalogue: &Catalogue,
    request: &PlanRequest,
) -> Result<Plan, SizeError> {
    let asked = request.card.as_deref().map(|name| cards.named(name)).transpose()?;
    let wanted = |card: &&Card| {
        asked.is_none_or(|asked| asked.name == card.name)
            && request.backend.is_none_or(|backend| backend == card.backend)
    };
    let (mut candidates, mut not_offered) = (Vec::new(), Vec::new());
    for card in cards.all.iter().filter(wanted) {
        let offer =
            catalogue.offers.iter().find(|offer| cards.named(&offer.card).is_ok_and(|named| named == card));
        match offer {
            Some(offer) => candidates.push(candidate(sizing, card, offer, request)?),
            None => not_offered.push(card.name.clone()),
        }
    }
    candidates.sort_by_key(|candidate| {
        (candidate.standing, candidate.prices.first().map(|price| price.total), candidate.card.name.clone())
    });
    let mut statements = vec![
        Statement::TotalIsLotsTimesPrice,
        Statement::CardsDoNotMerge,
        Statement::ProgramMustShareOut,
        Statement::LotIsNotABatch,
        Statement::PeriodIsNoPromise,
        Statement::ReserveTime,
    ];
    if catalogue.examples {
        statements.push(Statement::PricesAreExamples);
    }
    Ok(Plan {
        format: PLAN_FORMAT.to_owned(),
        catalogue: catalogue.from.clone(),
        currency: catalogue.currency.clone(),
        examples: catalogue.examples,
        candidates,
        not_offered,
        statements,
        projection: project(request.sample.as_ref()),
    })
}

fn candidate(
    sizing: Option<&Sizing>,
    card: &Card,
    offer: &Offer,
    request: &PlanRequest,
) -> Result<Candidate, SizeError> {
    let lots = request.lots.get();
    let days = PERIODS.into_iter().filter(|days| request.period.is_none_or(|wanted| wanted == *days));
    let mut prices = Vec::new();
    for days in days {
        let Some(lot) = offer.lot_price.get(&days.to_string()).copied() else { continue };
        let total = lot.times(lots).ok_or_else(|| SizeError::Impossible {
            file: "catalogue".to_owned(),
            field: card.name.clone(),
            value: lot.to_string(),
            why: Box::new(said!("why-total", "the total is beyond what can be counted")),
        })?;
        prices.push(Price { days, lot, total });
    }
    Ok(Candidate {
        memory: card.memory(),
        memory_of_lot: card.memory_of_lot(),
        standing: standing(sizing, card),
        lots,
        cards: lots.saturating_mul(card.per_lot),
        prices,
        card: card.clone(),
    })
}

fn standing(sizing: Option<&Sizing>, card: &Card) -> Standing {
    let held = sizing.and_then(|sizing| sizing.cards.iter().find(|held| held.card.name == card.name));
    if sizing.is_some_and(|sizing| sizing.task.backend != card.backend) {
        return Standing::OtherBackend;
    }
    match held.map(|held| &held.verdict) {
        None => Standing::NotSized,
        Some(Verdict::Fits { .. }) => Standing::Fits,
        Some(Verdict::NoMargin { .. }) => Standing::NoMargin,
        Some(Verdict::DoesNotFit { .. }) => Standing::DoesNotFit,
        Some(Verdict::Open { beyond: true, .. }) => Standing::OpenBeyond,
        Some(Verdict::Open { .. }) => Standing::Open,
    }
}
