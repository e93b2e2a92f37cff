//! `pilote log`: a project's trials and the decisions on them, on one page.

use pilote_proof::{Decision, HistoryEntry, Kept, Tie};
use pilote_text::printable;
use serde::Serialize;

use super::compare::factor_name;
use super::runs;
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place;
use crate::printer::Printer;
use crate::surroundings::Surroundings;

#[derive(Serialize)]
struct LogJson<'a> {
    format: &'static str,
    project: String,
    entries: &'a [HistoryEntry],
}

/// Shows the history. Status 1 where a decision rests on nothing any more.
///
/// # Errors
/// When there is no project, or its trials cannot be read.
pub(crate) fn log(args: &args::Log, surroundings: &Surroundings, printer: &Printer) -> Result<Exit, Failure> {
    let root = place::root(surroundings, args.project.as_deref())?;
    let entries = pilote_proof::history(&root)?;
    for entry in &entries {
        show(entry, printer);
    }
    if entries.is_empty() {
        printer.say(&printer.texts.get("log-none", &[]));
    }
    printer.object(&LogJson {
        format: "pilote.log/1",
        project: root.display().to_string(),
        entries: &entries,
    });
    let tied = entries.iter().flat_map(|entry| &entry.decisions).all(|kept| kept.tie.holds());
    Ok(Exit::of_verdict(tied))
}

fn show(entry: &HistoryEntry, printer: &Printer) {
    let texts = &printer.texts;
    let [name, state, balance] = runs::row(printer, &entry.trial);
    printer.line(format!("{name}  {state}  {balance}").trim_end());
    if let (Some(since), false) = (&entry.since, entry.changed.is_empty()) {
        let names: Vec<String> = entry.changed.iter().map(|factor| factor_name(*factor, printer)).collect();
        let factors = texts.list(names.iter().map(String::as_str));
        printer
            .line(&format!("    {}", texts.get("log-changed", &[("since", since), ("factors", &factors)])));
    }
    if entry.verified_elsewhere {
        printer.line(&format!("    {}", texts.get("log-elsewhere", &[])));
    }
    if let Some(line) = resolution(entry, printer) {
        printer.line(&format!("    {line}"));
    }
    entry.decisions.iter().for_each(|kept| decision(kept, printer));
}

/// Whether what the last decision named is resolved, in a sentence.
pub(crate) fn resolution(entry: &HistoryEntry, printer: &Printer) -> Option<String> {
    entry.resolution.as_ref().map(|resolution| sentence(resolution, printer))
}

/// [`resolution`] of a resolution.
pub(crate) fn sentence(resolution: &pilote_proof::Resolution, printer: &Printer) -> String {
    let condition = resolution.condition.to_string();
    let key = format!("log-resolution-{}", resolution.state.code());
    printer.texts.get(&key, &[("condition", &condition), ("of", &resolution.of)])
}

fn decision(kept: &Kept, printer: &Printer) {
    let texts = &printer.texts;
    let number = kept.number.to_string();
    if let Some(Decision { choice, at, because, accepted, left, condition, samples, .. }) = &kept.decision {
        let choice = texts.get(&format!("decision-{}", choice.code()), &[]);
        let at = pilote_proof::calendar(*at);
        let args = [("number", &*number), ("at", &*at), ("choice", &*choice)];
        printer.line(&format!("    {}", texts.get("log-decision", &args)));
        let say = |key: &str, words: &str| {
            printer.line(&format!("      {}", texts.get(key, &[("words", words)])));
        };
        say("log-because", because);
        accepted.iter().for_each(|words| say("log-accepted", words));
        left.iter().for_each(|words| say("log-left", words));
        if let Some(condition) = condition {
            let condition = condition.to_string();
            printer.line(&format!("      {}", texts.get("log-condition", &[("condition", &condition)])));
        }
        if !samples.is_empty() {
            let wrong = samples.iter().filter(|sample| !sample.right).count().to_string();
            let args = [("count", &*samples.len().to_string()), ("wrong", &*wrong)];
            printer.line(&format!("      {}", texts.get("log-samples", &args)));
        }
    }
    let line = match &kept.tie {
        Tie::Holds => return,
        Tie::ByLength { files } => {
            texts.get("log-by-length", &[("files", &texts.list(files.iter().map(String::as_str)))])
        }
        Tie::Broken { files } => {
            texts.get("log-broken", &[("files", &texts.list(files.iter().map(String::as_str)))])
        }
        Tie::Unreadable { why } => texts.get("log-unreadable", &[("number", &number), ("why", why)]),
    };
    printer.line(&format!("      {}", printable(&line)));
}
