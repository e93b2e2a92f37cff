//! `pilote decide` and `pilote receipt`: what a campaign rests on, written down by a person.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use pilote_proof::{Choice, Decision, EXAMINED_MIN, Examined, Found, Proposal, Question};
use pilote_spec::{Clock as _, Outcome, QualityLine};
use pilote_text::{fit, printable};
use serde::Serialize;

use super::{compare, show};
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::{self, Place};
use crate::printer::Printer;
use crate::surroundings::Surroundings;

/// Characters of an input that are shown while it is looked at.
const START_WIDTH: usize = 480;

/// Questions asked again when an answer cannot be understood.
const TRIES: usize = 3;

#[derive(Serialize)]
struct DecideJson<'a> {
    format: &'static str,
    trial: String,
    path: String,
    decision: &'a Decision,
}

#[derive(Serialize)]
struct ReceiptJson<'a> {
    format: &'static str,
    trial: String,
    receipt: &'a pilote_proof::Receipt,
}

/// Keeps a decision on a trial.
///
/// # Errors
/// When something lacks, and when the trial cannot be read.
pub(crate) fn decide(
    args: &args::Decide,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let trial = place::trial(surroundings, &args.run)?;
    let choice = match args.choice {
        args::Choice::Launch => Choice::Launch,
        args::Choice::Mend => Choice::Mend,
        args::Choice::Replan => Choice::Replan,
    };
    let samples = args.samples.iter().map(|text| text.parse()).collect::<Result<Vec<Examined>, _>>()?;
    let condition = args.failed.as_deref().map(str::parse).transpose()?;
    let quality = quality(&trial, surroundings)?;
    compare::quality(&quality, printer);
    let mut proposal = Proposal {
        choice,
        because: args.because.clone(),
        accepted: args.accepted.clone(),
        left: args.left.clone(),
        condition,
        samples,
        quality,
    };
    if std::io::stdin().is_terminal() && printer.draws_progress() == Some(true) {
        ask(&trial, &mut proposal, printer)?;
    }
    let decision = pilote_proof::weigh(&trial, proposal, surroundings.clock.wall())?;
    let path = pilote_proof::keep(&trial, &decision)?;
    let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u32>().ok()).unwrap_or_default();
    let condition = decision.condition.as_ref().map(ToString::to_string).unwrap_or_default();
    let args = [("trial", &*decision.trial), ("number", &*number.to_string()), ("condition", &*condition)];
    printer.line(&printer.texts.get(&format!("decision-kept-{}", choice.code()), &args));
    printer.object(&DecideJson {
        format: "pilote.decide/1",
        trial: trial.display().to_string(),
        path: path.display().to_string(),
        decision: &decision,
    });
    Ok(Exit::Holds)
}

/// The judgement against the reference that the project declares; empty where it declares none, or is it.
fn quality(trial: &Path, surroundings: &Surroundings) -> Result<Vec<QualityLine>, Failure> {
    let Some(root) = place::project_of(trial) else { return Ok(Vec::new()) };
    let quality = Place::find(surroundings, Some(&root))?.parsed.project.quality;
    let Some((quality, name)) = quality.and_then(|it| it.reference.clone().map(|name| (it, name))) else {
        return Ok(Vec::new());
    };
    let reference = root.join("runs").join(&name);
    if trial.file_name() == reference.file_name() {
        return Ok(Vec::new());
    }
    let labels = quality.labels.as_ref().map(|labels| pilote_proof::Labels::read(&root.join(labels)));
    let labels = labels.transpose().map_err(|error| Failure::request("labels", error))?;
    let scratch = PathBuf::from(surroundings.variable("TMPDIR").unwrap_or("/tmp"));
    let question =
        Question { project: Some(&root), scratch: &scratch, bar: quality.bar(), labels: labels.as_ref() };
    Ok(pilote_proof::compare(&reference, trial, &question)?.quality)
}

/// Asks for what a decision still lacks, where somebody sits at a terminal.
fn ask(trial: &Path, proposal: &mut Proposal, printer: &Printer) -> Result<(), Failure> {
    let launch = proposal.choice == Choice::Launch;
    if launch && proposal.samples.len() < EXAMINED_MIN {
        let count = EXAMINED_MIN - proposal.samples.len();
        let ids = pilote_proof::candidates(trial, &proposal.samples, count)?;
        printer.say(&printer.texts.get("decide-look", &[("count", &ids.len().to_string())]));
        for id in ids {
            for found in pilote_proof::find(trial, &id)? {
                beside(trial, &found, printer);
            }
            let Some((right, note)) = verdict(printer) else { break };
            proposal.samples.push(Examined { id, right, note });
        }
    }
    if proposal.because.is_none() {
        proposal.because = answer("decide-because", printer);
    }
    if launch && proposal.accepted.is_none() {
        proposal.accepted = answer("decide-accepted", printer);
    }
    if launch && proposal.left.is_none() {
        proposal.left = answer("decide-left", printer);
    }
    Ok(())
}

/// Shows a result beside the start of its input.
fn beside(trial: &Path, found: &Found, printer: &Printer) {
    let texts = &printer.texts;
    let name = found.item.id.as_ref().map_or("—", |id| id.as_str());
    printer.say(&format!("\n{}", printable(name)));
    if let Some(text) = pilote_proof::input_start(trial, place::project_of(trial).as_deref(), &found.item) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let words = printable(&words.join(" ")).into_owned();
        let start = fit(&words, START_WIDTH);
        printer.say(&format!("  {}", texts.get("decide-input", &[("text", &start)])));
    }
    if let Some(Outcome::Accepted(output)) = &found.outcome {
        let output = show::output(printer, output);
        printer.say(&format!("  {}", texts.get("decide-result", &[("text", &output)])));
    }
}

/// `r`, or `w` with a reason; none where nobody answers.
fn verdict(printer: &Printer) -> Option<(bool, Option<String>)> {
    for _ in 0..TRIES {
        let said = answer("decide-right-or-wrong", printer)?;
        let (word, note) = said.split_once(char::is_whitespace).unwrap_or((&said, ""));
        let note = Some(note.trim().to_owned()).filter(|note| !note.is_empty());
        match word.to_lowercase().as_str() {
            "r" | "right" => return Some((true, note)),
            "w" | "wrong" => return Some((false, note)),
            _ => printer.say(&printer.texts.get("decide-no-answer", &[])),
        }
    }
    None
}

/// A line that somebody types; none where they type nothing or go away.
fn answer(key: &str, printer: &Printer) -> Option<String> {
    let mut to = std::io::stderr();
    let _ = write!(to, "{} ", printer.texts.get(key, &[])).and_then(|()| to.flush());
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).ok()?;
    Some(line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// Takes in the word of another machine that it verified a copy of a trial.
///
/// # Errors
/// When it is of something else, or was written on the machine that computed.
pub(crate) fn receipt(
    args: &args::Receipt,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let trial = place::trial(surroundings, &args.run)?;
    let receipt = pilote_proof::take_receipt(&trial, &surroundings.folder.join(&args.file))?;
    let at = pilote_proof::calendar(receipt.at);
    let said = [("trial", &*receipt.trial), ("copy", &*receipt.copy), ("at", &*at)];
    printer.line(&printer.texts.get("receipt-taken", &said));
    printer.object(&ReceiptJson {
        format: "pilote.take-receipt/1",
        trial: trial.display().to_string(),
        receipt: &receipt,
    });
    Ok(Exit::Holds)
}
