//! `pilote plan`: candidates with exact totals, and what must be said beside them.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use pilote_size::memory::Backend;
use pilote_size::plan::{
    Candidate, Catalogue, Lots, Plan, PlanRequest, Projection, Sample, Statement, period, plan,
};
use pilote_size::{OpenPoint, SizeError, Sizing};
use pilote_text::Texts;

use crate::open_points;
use crate::size_command::{Setting, SizeArgs, cards, code, print_rows, read_text, size};

/// The maker of the catalogue that is built in.
const BUILT_IN: &str = "built-in sample";

/// What is to be planned.
#[derive(Debug, Clone, Args)]
pub(crate) struct PlanArgs {
    /// The task, where a model is named; otherwise prices alone are shown.
    #[command(flatten)]
    pub task: SizeArgs,
    /// 3, 7 or 30 days; otherwise all three.
    #[arg(long)]
    pub period: Option<String>,
    /// Lots, from 1 to 10.
    #[arg(long, default_value = "1")]
    pub lots: String,
    /// A catalogue of prices; otherwise the built-in examples.
    #[arg(long, value_name = "FILE")]
    pub catalogue: Option<PathBuf>,
    /// The currency that totals are made in.
    #[arg(long, default_value = "USD")]
    pub currency: String,
    /// Also write the plan as a page: one file, without scripts (HTML).
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Project the time of the declared campaign on this trial, which measured a sample of its corpus: a path, a name
    /// below runs/, or `latest`.
    #[arg(long, value_name = "RUN", conflicts_with = "sample")]
    pub measured: Option<PathBuf>,
    /// A measured sample for a projection (JSON).
    #[arg(long, value_name = "FILE")]
    pub sample: Option<PathBuf>,
}

/// Makes the plan, and the sizing that it rests on where a model was named. `backend` is the only one that the
/// project's libraries leave, where they leave one.
///
/// # Errors
/// Lots or a period that are none, a catalogue or sample that cannot be used, or what sizing refuses.
pub(crate) fn planned(
    args: &PlanArgs,
    backend: Option<Backend>,
    setting: &Setting<'_>,
) -> Result<(Plan, Option<Sizing>), SizeError> {
    let lots = Lots::parse(&args.lots)?;
    let days = args.period.as_deref().map(period).transpose()?;
    let table = cards(&args.task, setting)?;
    let catalogue = match &args.catalogue {
        Some(file) => {
            let text = read_text(&setting.folder.join(file))?;
            Catalogue::parse(&file.display().to_string(), &text, &args.currency)?
        }
        None => Catalogue::sample()?,
    };
    let sample = match &args.sample {
        Some(file) => {
            let bad = |error: serde_json::Error| SizeError::Table {
                file: file.display().to_string(),
                problem: error.to_string(),
            };
            Some(serde_json::from_str::<Sample>(&read_text(&setting.folder.join(file))?).map_err(bad)?)
        }
        None => None,
    };
    let sizing = args.task.model.as_ref().map(|_| size(&args.task, setting)).transpose()?;
    let card = args.task.cards.first().cloned();
    let request = PlanRequest { card, period: days, lots, backend, sample };
    Ok((plan(sizing.as_ref(), &table, &catalogue, &request)?, sizing))
}

/// Prints a plan for people.
///
/// # Errors
/// When the writer fails.
pub(crate) fn print(
    plan: &Plan,
    open: &[OpenPoint],
    lots: &str,
    texts: &Texts,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{}", title(plan, lots, texts))?;
    if plan.examples {
        writeln!(out, "{}", texts.get("plan-examples", &[]))?;
    }
    if plan.candidates.is_empty() {
        writeln!(out, "\n{}", texts.get("plan-none", &[]))?;
    } else {
        writeln!(out)?;
        print_candidates(plan, texts, out)?;
    }
    if !plan.not_offered.is_empty() {
        let cards = texts.list(plan.not_offered.iter().map(String::as_str));
        writeln!(out, "{}", texts.get("plan-not-offered", &[("cards", &cards)]))?;
    }
    writeln!(out)?;
    for statement in plan.statements.iter().filter(|one| **one != Statement::PricesAreExamples) {
        writeln!(out, "{}", texts.get(&format!("plan-{}", code(statement)), &[]))?;
    }
    writeln!(out)?;
    for days in pilote_size::plan::PERIODS {
        writeln!(out, "{}", texts.get(&format!("plan-suits-{days}"), &[]))?;
    }
    writeln!(out, "\n{}", projection_text(texts, &plan.projection))?;
    let points = open_points::lines(open, texts);
    if points.is_empty() { Ok(()) } else { writeln!(out, "\n{}", points.join("\n")) }
}

/// What a plan is of, and whose prices it has.
pub(crate) fn title(plan: &Plan, lots: &str, texts: &Texts) -> String {
    let sample = plan.examples.then(|| texts.get("plan-built-in-sample", &[]));
    let from = sample.filter(|_| plan.catalogue == BUILT_IN).unwrap_or_else(|| plan.catalogue.clone());
    texts.get("plan-title", &[("lots", lots), ("from", &from)])
}

fn print_candidates(plan: &Plan, texts: &Texts, out: &mut dyn Write) -> io::Result<()> {
    print_rows(&rows(plan, texts), &[1, 2, 4, 5, 6], out)
}

/// The candidates as a table, its head first.
pub(crate) fn rows(plan: &Plan, texts: &Texts) -> Vec<[String; 7]> {
    let days =
        pilote_size::plan::PERIODS.map(|days| texts.get("plan-column-days", &[("days", &days.to_string())]));
    let [three, seven, thirty] = days;
    let columns =
        ["card", "memory", "cards", "standing"].map(|name| texts.get(&format!("plan-column-{name}"), &[]));
    let [card, memory, cards, standing] = columns;
    let mut rows = vec![[card, memory, cards, standing, three, seven, thirty]];
    rows.extend(plan.candidates.iter().map(|candidate| row(plan, candidate, texts)));
    rows
}

fn row(plan: &Plan, candidate: &Candidate, texts: &Texts) -> [String; 7] {
    let total = |days: u32| {
        candidate.prices.iter().find(|price| price.days == days).map_or_else(
            || texts.get("plan-no-price", &[]),
            // Amounts are written as they are counted: digits, two decimals, the currency's code.
            |price| format!("{} {}", price.total, plan.currency),
        )
    };
    [
        candidate.card.name.clone(),
        texts.memory(candidate.memory.0),
        candidate.cards.to_string(),
        texts.get(&format!("plan-standing-{}", code(&candidate.standing)), &[]),
        total(3),
        total(7),
        total(30),
    ]
}

pub(crate) fn projection_text(texts: &Texts, projection: &Projection) -> String {
    let time = |seconds: f64| texts.duration(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    match projection {
        Projection::None { reason } => texts.get(&format!("plan-projection-none-{}", code(reason)), &[]),
        Projection::Interval {
            trial,
            measured,
            items,
            computing_low,
            computing_high,
            preparation,
            export,
        } => {
            let (items, measured) = (items.to_string(), measured.to_string());
            let (low, high) = (time(*computing_low), time(*computing_high));
            let args = [
                ("items", items.as_str()),
                ("low", &low),
                ("high", &high),
                ("measured", &measured),
                ("trial", trial),
            ];
            let computing = texts.get("plan-projection", &args);
            let unknown = || texts.get("size-unknown", &[]);
            let preparation = preparation.map_or_else(unknown, time);
            let export = export.map_or_else(unknown, time);
            let besides =
                texts.get("plan-projection-besides", &[("preparation", &preparation), ("export", &export)]);
            format!("{computing}\n{besides}")
        }
    }
}
