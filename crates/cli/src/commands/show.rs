//! What several commands show alike: the balance, the refusals, some results beside their inputs.

use std::path::Path;

use pilote_proof::Verification;
use pilote_spec::{Balance, Criterion, Output, RefusedLine, ResultLine};
use pilote_text::{fit, pad, printable, width};
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::printer::Printer;

/// The widest identifier that is shown whole.
const ID_WIDTH_MAX: usize = 36;
/// Characters of an input beside its result.
const START_WIDTH: usize = 60;

/// Prints the balance for people.
pub(crate) fn balance(printer: &Printer, balance: &Balance, criteria: &[Criterion]) {
    for line in printer.texts.balance_lines(balance, criteria) {
        printer.line(&line);
    }
}

/// Prints what a verification found, the criteria first.
pub(crate) fn verification(printer: &Printer, verification: &Verification) {
    if let Some(account) = &verification.balance {
        balance(printer, account, &verification.criteria);
    }
    for finding in &verification.findings {
        let (code, place) = (finding.code.code(), printable(&finding.place));
        let said = printer.texts.get(&format!("finding-{code}"), &[]);
        let mark = if finding.grade == pilote_proof::Grade::Error { '✗' } else { '!' };
        let args = [("place", &*place), ("code", &said)];
        printer.line(&format!("  {mark} {} [{code}]", printer.texts.get("report-finding", &args)));
        if !finding.detail.is_empty() {
            printer.line(&format!("      {}", printable(&finding.detail)));
        }
    }
}

/// Prints every refusal in words.
///
/// # Errors
/// When the refusals cannot be read.
pub(crate) fn refusals(printer: &Printer, trial: &Path) -> Result<(), Failure> {
    let refused: Vec<RefusedLine> = lines(&trial.join("refused.jsonl"), 20)?;
    if refused.is_empty() {
        return Ok(());
    }
    printer.line("");
    printer.line(&printer.texts.get("show-refused", &[]));
    let names: Vec<String> =
        refused.iter().map(|line| name(line.id.as_ref().map_or("—", |id| id.as_str()))).collect();
    let column = names.iter().map(|name| width(name)).max().unwrap_or(0);
    for (line, name) in refused.iter().zip(&names) {
        printer.line(&format!("  {}  {}", pad(name, column), printer.texts.refusal(&line.refusal)));
    }
    Ok(())
}

/// Prints a few results beside the start of their inputs: valid syntax can still be wrong, so a person looks.
///
/// # Errors
/// When the results cannot be read.
pub(crate) fn results(
    printer: &Printer,
    trial: &Path,
    start_of: impl Fn(&ResultLine) -> Option<String>,
) -> Result<(), Failure> {
    let results: Vec<ResultLine> = lines(&trial.join("results.jsonl"), 5)?;
    if results.is_empty() {
        return Ok(());
    }
    printer.line("");
    printer.line(&printer.texts.get("show-results", &[]));
    let rows: Vec<(String, String)> =
        results.iter().map(|line| (name(line.id.as_str()), output(printer, &line.output))).collect();
    let names = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let outputs = rows.iter().map(|(_, output)| width(output)).max().unwrap_or(0);
    for ((name, output), line) in rows.iter().zip(&results) {
        let start = start_of(line).map(|text| one_line(&text)).unwrap_or_default();
        let row = format!("  {}  {}  {}", pad(name, names), pad(output, outputs), fit(&start, START_WIDTH));
        printer.line(row.trim_end());
    }
    Ok(())
}

/// An output in a few words.
pub(crate) fn output(printer: &Printer, output: &Output) -> String {
    match output {
        Output::Category { category, score: Some(score), .. } => {
            format!("{} ({score:.2})", printable(category))
        }
        Output::Category { category, .. } => printable(category).into_owned(),
        Output::Vector { values, .. } => {
            printer.texts.get("show-vector", &[("width", &values.len().to_string())])
        }
        Output::VectorAt { width, .. } => printer.texts.get("show-vector", &[("width", &width.to_string())]),
        Output::Text { text, .. } => fit(&one_line(text), START_WIDTH).to_string(),
        Output::Json { value, .. } => fit(&one_line(&value.to_string()), START_WIDTH).to_string(),
        Output::FileMade { path } => printable(path).into_owned(),
        Output::File { payload, bytes, .. } => {
            format!("{} ({})", printable(payload), printer.texts.storage(*bytes))
        }
    }
}

fn name(id: &str) -> String {
    fit(&printable(id), ID_WIDTH_MAX).to_string()
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(40).collect();
    printable(&words.join(" ")).into_owned()
}

/// The first `most` lines of a file of JSON lines.
fn lines<T: DeserializeOwned>(path: &Path, most: usize) -> Result<Vec<T>, Failure> {
    use std::io::BufRead as _;
    let unreadable = |error: anyhow::Error| Failure::machine("results-unreadable", error);
    let file = fs_err::File::open(path).map_err(|error| unreadable(error.into()))?;
    std::io::BufReader::new(file)
        .lines()
        .take(most)
        .map(|line| {
            let line = line.map_err(|error| unreadable(error.into()))?;
            serde_json::from_str(&line)
                .map_err(|error| unreadable(anyhow::anyhow!("{} cannot be read: {error}", path.display())))
        })
        .collect()
}
