//! The entry of `pilote size`: a model, a task and what was measured, to one result.

use serde::{Deserialize, Serialize};

use crate::cards::{Card, Holding};
use crate::measured::{Comparison, Coverage, Measured, Verdict, compare, verdict};
use crate::memory::{Estimate, PartKind, Reserve, Task, estimate, reserve};
use crate::model::{ModelFacts, RangeReader, read};
use crate::precision::{Support, support};
use crate::{Bytes, Origin, Phrase, Said, SizeError, said};

/// The format of a sizing.
pub const SIZING_FORMAT: &str = "pilote.sizing/1";

/// What is asked of [`size`].
#[derive(Debug, Clone)]
pub struct Request {
    /// The task.
    pub task: Task,
    /// The cards to hold it against.
    pub cards: Vec<Holding>,
    /// What must stay free of a card, in per cent of its memory: the stated margin of every verdict.
    pub margin_percent: u32,
    /// What a trial of this project measured, where there is one.
    pub measured: Option<Measured>,
}

/// The result of [`size`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sizing {
    /// Always `pilote.sizing/1`.
    pub format: String,
    /// The model.
    pub model: ModelFacts,
    /// The task.
    pub task: Task,
    /// Memory by part and card.
    pub estimate: Estimate,
    /// Measured peaks beside the estimate, where there are some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// Whether what was measured covers the task, and by what, where something was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// The stated margin, in per cent of a card's memory.
    pub margin_percent: u32,
    /// One verdict a card.
    pub cards: Vec<CardVerdict>,
    /// What stays open until the pilot has measured it.
    pub open_points: Vec<OpenPoint>,
}

/// A card with its verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CardVerdict {
    /// The card.
    pub card: Card,
    /// The memory that may be used: of a slice where the card is one, less what others use.
    pub budget: Bytes,
    /// What it came to.
    pub verdict: Verdict,
    /// How an engine that reserves memory divides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserve: Option<Reserve>,
    /// Whether engine, format and card support the weights' precision.
    pub precision: Support,
}

/// A figure that nobody knows yet, to be written into the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPoint {
    /// The part.
    pub part: PartKind,
    /// What is missing and would tell, in English.
    pub missing: String,
    /// The same as a phrase, for other languages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phrase: Option<Phrase>,
}

impl OpenPoint {
    fn new(part: PartKind, said: Said) -> Self {
        Self { part, missing: said.text, phrase: said.phrase }
    }
}

/// Sizes a task with the model at a place.
///
/// # Errors
/// When the model's files are not what they say, the task is impossible, or something does not divide.
pub fn size(reader: &dyn RangeReader, request: &Request) -> Result<Sizing, SizeError> {
    size_model(read(reader)?, request)
}

/// Sizes a task with a model that was read already.
///
/// # Errors
/// When the task is impossible, the margin is none, or something does not divide.
pub fn size_model(model: ModelFacts, request: &Request) -> Result<Sizing, SizeError> {
    if request.margin_percent > 90 {
        return Err(SizeError::NotAllowed {
            field: "margin",
            value: request.margin_percent.to_string(),
            allowed: "0 to 90 per cent of a card's memory".to_owned(),
        });
    }
    let estimate = estimate(&model, &request.task)?;
    let measured = request.measured.as_ref();
    let cards = request
        .cards
        .iter()
        .map(|holding| {
            let budget = holding.budget(&request.task.engine);
            CardVerdict {
                card: holding.card.clone(),
                budget,
                verdict: verdict(&estimate, &request.task, measured, budget, request.margin_percent),
                reserve: estimate
                    .fullest()
                    .filter(|_| request.task.engine.reserves())
                    .and_then(|share| reserve(budget, share)),
                precision: Support {
                    tested: tested_on(measured, &holding.card),
                    ..support(&model, &request.task, &holding.card)
                },
            }
        })
        .collect();
    Ok(Sizing {
        format: SIZING_FORMAT.to_owned(),
        comparison: measured.map(|measured| compare(&estimate, measured)),
        coverage: measured.and_then(|measured| measured.coverage(&request.task)),
        open_points: open_points(&estimate, measured, &request.task),
        model,
        task: request.task.clone(),
        estimate,
        margin_percent: request.margin_percent,
        cards,
    })
}

/// The trial that ran on a card, where its driver's name for it is one that the card goes by.
fn tested_on(measured: Option<&Measured>, card: &Card) -> Option<String> {
    let measured = measured?;
    card.goes_by(measured.card.as_deref()?).then(|| measured.trial.clone())
}

/// What the pilot has to measure: every unknown part, and the peak itself until one was measured for this task.
fn open_points(estimate: &Estimate, measured: Option<&Measured>, task: &Task) -> Vec<OpenPoint> {
    if measured.is_some_and(|measured| measured.peak_covering(task).is_some()) {
        return Vec::new();
    }
    let Some(share) = estimate.fullest() else { return Vec::new() };
    share
        .parts
        .iter()
        .filter(|part| matches!(part.figure.origin, Origin::Unknown | Origin::Estimated))
        .map(|part| match part.figure.origin {
            // Beside the part stands what the estimate is made of; the point is that nobody measured it.
            Origin::Estimated => OpenPoint::new(
                part.part,
                said!("only-estimated", "only estimated: the pilot has to measure the peak"),
            ),
            _ => OpenPoint {
                part: part.part,
                missing: part.figure.basis.clone(),
                phrase: part.figure.phrase.clone(),
            },
        })
        .collect()
}
