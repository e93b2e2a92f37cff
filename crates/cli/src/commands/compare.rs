//! `pilote compare`: what differs between two trials, and whether the second keeps to a declared quality.

use std::path::{Path, PathBuf};

use pilote_proof::{ChangedItem, Comparison, Factor, FactorCode, FactorState, Labels, Question, Side};
use pilote_spec::{Outcome, OutcomeChange, QualityBar, QualityLine, QualityMeasure, Verdict};
use pilote_text::{fit, pad, pad_start, printable, width};

use super::again::{self, CompareJson};
use super::show;
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::{self, Place};
use crate::printer::Printer;
use crate::surroundings::Surroundings;

/// The widest value of a changed field, and the widest identifier, that are shown whole.
const WIDTH_MAX: usize = 48;

/// Items of a sample that is to be computed again.
const AGAIN: u64 = 12;

/// Compares two trials or copies.
///
/// # Errors
/// When one of them cannot be read, or the bar or the labels are wrong.
pub(crate) fn compare(
    args: &args::Compare,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let (a, b) = (place::trial(surroundings, &args.a)?, place::trial(surroundings, &args.b)?);
    let project = place::project_of(&b).or_else(|| place::project_of(&a));
    let asked = asked(args, project.as_deref(), surroundings)?;
    let scratch = PathBuf::from(surroundings.variable("TMPDIR").unwrap_or("/tmp"));
    let question = Question {
        project: project.as_deref(),
        scratch: &scratch,
        bar: asked.bar,
        labels: asked.labels.as_ref(),
    };
    let comparison = pilote_proof::compare(&a, &b, &question)?;
    show(&comparison, printer);
    let again = match args.again {
        Some(count) if comparison.cause == pilote_proof::Cause::Unexplained => {
            Some(again::again((&a, &b), count, &scratch, surroundings, printer)?)
        }
        Some(_) => {
            printer.line(&printer.texts.get("compare-again-needless", &[]));
            None
        }
        None => {
            advise_again(&comparison, printer);
            None
        }
    };
    printer.object(&CompareJson { comparison: &comparison, again });
    Ok(Exit::of_verdict(comparison.quality_holds.unwrap_or(true)))
}

/// The bar and the labels: of the command line, else of the project.
struct Asked {
    bar: QualityBar,
    labels: Option<Labels>,
}

fn asked(
    args: &args::Compare,
    project: Option<&Path>,
    surroundings: &Surroundings,
) -> Result<Asked, Failure> {
    let bar = args.bar.as_deref().map(str::parse::<QualityBar>).transpose();
    let bar = bar.map_err(|error| Failure::request("bar", error))?;
    let labels = args.labels.as_ref().map(|path| surroundings.folder.join(path));
    // A configuration that cannot be read does not keep two finished trials from being compared.
    let declared = project
        .and_then(|root| Some((root, Place::find(surroundings, Some(root)).ok()?.parsed.project.quality?)));
    let of_project = declared.as_ref().and_then(|(root, quality)| Some(root.join(quality.labels.as_ref()?)));
    let labels = labels.or(of_project).map(|path| Labels::read(&path)).transpose();
    let labels = labels.map_err(|error| Failure::request("labels", error))?;
    let bar = bar.or_else(|| declared.map(|(_, quality)| quality.bar())).unwrap_or_default();
    if bar.accuracy_min.is_some() && labels.is_none() {
        let error =
            anyhow::anyhow!("accuracy is asked for, and there are no labels to count right answers by");
        return Err(Failure::request("no-labels", error)
            .hint("name a file of objects with `id` and `label`: --labels FILE"));
    }
    Ok(Asked { bar, labels })
}

fn show(comparison: &Comparison, printer: &Printer) {
    let Comparison { a, b, .. } = comparison;
    side("compare-a", a, printer);
    side("compare-b", b, printer);
    printer.line("");
    printer.line(&printer.texts.get("compare-factors", &[]));
    factors(&comparison.factors, printer);
    items(comparison, printer);
    results(comparison, printer);
    most(&comparison.changed_most, printer);
    printer.line("");
    verdict(comparison, printer);
    quality(&comparison.quality, printer);
}

fn side(key: &str, side: &Side, printer: &Printer) {
    let texts = &printer.texts;
    let (items, trial) = (texts.number(side.items), &side.trial);
    printer.line(&texts.get(key, &[("trial", trial), ("items", &items)]));
    if let Some(limit) = side.limit {
        printer.line(&texts.get("compare-limited", &[("trial", trial), ("limit", &limit.to_string())]));
    }
    if side.lost > 0 {
        let count = texts.number(side.lost);
        printer.line(&texts.get("compare-lost", &[("trial", &side.directory), ("count", &count)]));
    }
}

/// The name of a factor, as people read it.
pub(crate) fn factor_name(factor: FactorCode, printer: &Printer) -> String {
    printer.texts.get(&format!("compare-factor-{}", factor.code()), &[])
}

fn factors(factors: &[Factor], printer: &Printer) {
    let texts = &printer.texts;
    let names: Vec<String> = factors.iter().map(|factor| factor_name(factor.factor, printer)).collect();
    let column = names.iter().map(|name| width(name)).max().unwrap_or(0);
    for (factor, name) in factors.iter().zip(names) {
        let lacks: Vec<String> = factor
            .not_recorded
            .iter()
            .map(|what| texts.get(&format!("compare-unrecorded-{what}"), &[]))
            .collect();
        let lacks = texts.list(lacks.iter().map(String::as_str));
        let (mark, said) = match factor.state {
            FactorState::Differs => ('≠', String::new()),
            FactorState::NotRecorded => ('?', texts.get("compare-not-recorded", &[])),
            FactorState::Same if lacks.is_empty() => ('=', texts.get("compare-same", &[])),
            FactorState::Same => ('=', texts.get("compare-partly", &[("what", &lacks)])),
        };
        let changes = factor.changes.iter().map(|change| {
            let absent = texts.get("compare-absent", &[]);
            let value = |value: &Option<String>| {
                value
                    .as_ref()
                    .map_or_else(|| absent.clone(), |value| fit(&printable(value), WIDTH_MAX).into_owned())
            };
            let (a, b) = (value(&change.a), value(&change.b));
            // Figures of the items are told below, in words.
            let field = change.field.strip_prefix("project.").unwrap_or(&change.field);
            texts.get("compare-change", &[("field", field), ("a", &a), ("b", &b)])
        });
        let own =
            factor.changes.iter().zip(changes).filter(|(change, _)| !change.field.starts_with("items "));
        let lines: Vec<String> = own.map(|(_, line)| line).collect();
        let first = if factor.state == FactorState::Differs { lines.first().cloned() } else { Some(said) };
        printer.line(format!("  {mark} {}  {}", pad(&name, column), first.unwrap_or_default()).trim_end());
        for line in lines.iter().skip(1) {
            printer.line(&format!("    {}  {line}", pad("", column)));
        }
    }
}

fn items(comparison: &Comparison, printer: &Printer) {
    let (items, texts) = (&comparison.items, &printer.texts);
    let figures = [
        ("compare-items-changed", items.changed),
        ("compare-items-only-a", items.only_a),
        ("compare-items-only-b", items.only_b),
        ("compare-items-moved", items.moved),
    ];
    for (key, count) in figures.into_iter().filter(|(_, count)| *count > 0) {
        printer.line(&format!("    {}", texts.get(key, &[("count", &texts.number(count))])));
    }
    if !items.names.is_empty() {
        let names = texts.list(items.names.iter().map(String::as_str));
        printer.line(&format!("    {}", texts.get("compare-names", &[("names", &names)])));
    }
}

fn results(comparison: &Comparison, printer: &Printer) {
    let (results, texts) = (&comparison.results, &printer.texts);
    let figures = &results.figures;
    printer.line("");
    printer.line(&texts.get("compare-results", &[("count", &texts.number(comparison.items.both))]));
    let changes = OutcomeChange::ALL.into_iter().filter_map(|change| {
        let count = results.changes.get(change.code())?;
        Some((texts.get(&format!("compare-change-{}", change.code()), &[]), texts.number(*count)))
    });
    let changes: Vec<(String, String)> = changes.collect();
    let column = changes.iter().map(|(_, count)| width(count)).max().unwrap_or(0);
    for (name, count) in &changes {
        printer.line(&format!("  {}  {name}", pad_start(count, column)));
    }
    for (a, b, count) in &results.labels {
        let count = texts.number(*count);
        printer
            .line(&format!("    {}", texts.get("compare-label", &[("a", a), ("b", b), ("count", &count)])));
    }
    if let (Some(lowest), Some(mean)) = (figures.cosine_min, results.cosine_mean) {
        let (lowest, mean) = (texts.decimal(lowest, 6), texts.decimal(mean, 6));
        let args = [("count", &*texts.number(figures.vectors)), ("lowest", &lowest), ("mean", &mean)];
        printer.line(&format!("  {}", texts.get("compare-cosine", &args)));
    }
    if figures.leaves > 0 {
        let (equal, all) = (texts.number(figures.leaves_equal), texts.number(figures.leaves));
        printer.line(&format!("  {}", texts.get("compare-leaves", &[("equal", &equal), ("all", &all)])));
    }
    if let Some(most) = results.score_difference_max.filter(|most| *most > 0.0) {
        printer.line(&format!("  {}", texts.get("compare-scores", &[("most", &texts.decimal(most, 4))])));
    }
    if figures.labelled > 0 {
        let [a, b, all] = [figures.correct_in_reference, figures.correct, figures.labelled]
            .map(|count| texts.number(count));
        let args = [("reference", &*a), ("candidate", &*b), ("all", &*all)];
        printer.line(&format!("  {}", texts.get("compare-labelled", &args)));
    }
}

fn most(changed: &[ChangedItem], printer: &Printer) {
    if changed.is_empty() {
        return;
    }
    printer.line("");
    printer.line(&printer.texts.get("compare-most", &[]));
    for item in changed {
        let name = fit(&printable(&item.name), WIDTH_MAX).into_owned();
        let cosine = item.cosine.map(|cosine| format!("  (cosine {cosine:.6})")).unwrap_or_default();
        let (a, b) = (outcome(item.a.as_ref(), printer), outcome(item.b.as_ref(), printer));
        printer.line(&format!("  {name}: {a} → {b}{cosine}"));
        if let Some(input) = &item.input {
            let words: Vec<&str> = input.split_whitespace().collect();
            printer.line(&format!("    {}", fit(&printable(&words.join(" ")), 96)));
        }
    }
}

fn outcome(outcome: Option<&Outcome>, printer: &Printer) -> String {
    match outcome {
        None => printer.texts.get("outcome-pending", &[]),
        Some(Outcome::Accepted(output)) => show::output(printer, output),
        Some(Outcome::Refused(refusal)) => refusal.reason.to_string(),
    }
}

/// What can be said of the cause, in a sentence.
fn verdict(comparison: &Comparison, printer: &Printer) {
    let texts = &printer.texts;
    let names = |factors: &mut dyn Iterator<Item = &Factor>| {
        let names: Vec<String> = factors.map(|factor| factor_name(factor.factor, printer)).collect();
        texts.list(names.iter().map(String::as_str))
    };
    let differing = names(&mut comparison.differing());
    let count = comparison.results.differing().to_string();
    let inputs = comparison.differing().any(|factor| factor.factor == FactorCode::Inputs);
    let key = match comparison.cause {
        pilote_proof::Cause::OneFactor if !inputs => "compare-same-inputs-one-factor".to_owned(),
        cause => format!("compare-{}", cause.code()),
    };
    printer.line(&texts.get(&key, &[("count", &count), ("factor", &differing)]));
    let unknown = names(&mut comparison.not_recorded());
    if !unknown.is_empty() {
        printer.line(&texts.get("compare-also", &[("factors", &unknown)]));
    }
}

/// What to do where nothing explains a difference.
fn advise_again(comparison: &Comparison, printer: &Printer) {
    if comparison.cause == pilote_proof::Cause::Unexplained {
        let count = AGAIN.min(comparison.b.items.max(1)).to_string();
        let args = [("count", &*count), ("a", &*comparison.a.trial), ("b", &*comparison.b.trial)];
        printer.line(&printer.texts.get("compare-again", &args));
    }
}

/// The judgement by the bar, a line for each measure.
pub(crate) fn quality(lines: &[QualityLine], printer: &Printer) {
    if lines.is_empty() {
        return;
    }
    printer.line("");
    for line in lines {
        printer.line(&format!("  {}", quality_line(line, printer)));
    }
    let any = |verdict| lines.iter().any(|line| line.verdict == verdict);
    let key = match (any(Verdict::Fails), any(Verdict::Unknown)) {
        (true, _) => "quality-fails",
        (false, true) => "quality-unknown",
        (false, false) => "quality-holds",
    };
    printer.line(&printer.texts.get(key, &[]));
}

fn quality_line(line: &QualityLine, printer: &Printer) -> String {
    let texts = &printer.texts;
    let measure = texts.get(&format!("quality-{}", line.measure.code()), &[]);
    let figure = |figure: f64| match line.measure {
        QualityMeasure::Cosine => texts.decimal(figure, 6),
        _ => texts.percent(figure, 2),
    };
    let seen = line.seen.map_or_else(|| texts.get("unit-unknown", &[]), figure);
    let (of, minimum) = (texts.number(line.of), figure(line.minimum));
    let args = [("measure", &*measure), ("seen", &*seen), ("of", &*of), ("minimum", &*minimum)];
    let mark = match line.verdict {
        Verdict::Holds => '✓',
        Verdict::Fails => '✗',
        Verdict::Unknown => '?',
    };
    format!("{mark} {}", texts.get("quality-line", &args))
}
