//! `pilote results`: the outcomes of a finished trial as a file that other programs take.

use pilote_proof::TableFormat;
use pilote_spec::Digest;
use serde::Serialize;

use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place;
use crate::printer::Printer;
use crate::surroundings::Surroundings;

#[derive(Serialize)]
struct ResultsJson {
    format: &'static str,
    trial: String,
    file: String,
    bytes: u64,
    sha256: Digest,
    accepted: u64,
    refused: u64,
}

/// Writes the file, never over another one.
///
/// # Errors
/// When the trial is not finished or damaged, its outputs do not fit the format, or another file is there.
pub(crate) fn results(
    args: &args::Results,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let trial = place::trial(surroundings, &args.run)?;
    let format = match args.format {
        args::ResultsFormat::Csv => TableFormat::Csv,
        args::ResultsFormat::Parquet => TableFormat::Parquet,
        args::ResultsFormat::OpenaiBatch => TableFormat::OpenAiBatch,
    };
    let name = trial.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let output = match &args.output {
        Some(output) => output.clone(),
        None => format!("{name}.{}", format.extension()).into(),
    };
    let to = place::plain(&surroundings.folder.join(output));
    let file = pilote_proof::write_table(&trial, format, &to)?;
    let texts = &printer.texts;
    let (path, size) = (file.path.display().to_string(), texts.storage(file.bytes));
    let (accepted, refused) = (texts.number(file.accepted), texts.number(file.refused));
    printer.line(&texts.get(
        "results-written",
        &[("file", &path), ("size", &size), ("accepted", &accepted), ("refused", &refused)],
    ));
    printer.object(&ResultsJson {
        format: "pilote.results/1",
        trial: trial.display().to_string(),
        file: path,
        bytes: file.bytes,
        sha256: file.sha256,
        accepted: file.accepted,
        refused: file.refused,
    });
    Ok(Exit::Holds)
}
