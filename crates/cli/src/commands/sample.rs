//! `pilote sample`: items of the campaign's inputs, drawn by length, as the pilot's inputs.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use anyhow::anyhow;
use pilote_corpus::{Share, Source};
use pilote_spec::{Digest, ExactJson, Inputs, Item, Location, Project};
use pilote_text::{pad, width};
use serde::Serialize;

use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::Place;
use crate::printer::Printer;
use crate::surroundings::Surroundings;

/// The file of rows below the folder of the sample.
const ROWS: &str = "items.jsonl";

#[derive(Serialize)]
struct SampleJson<'a> {
    format: &'static str,
    seed: u64,
    corpus: u64,
    faulty: u64,
    groups: &'a [Share],
    digests: String,
    digests_sha256: Digest,
    pilot: serde_json::Value,
}

/// Draws a sample and writes it, never over something that is there.
///
/// # Errors
/// When no campaign is declared, its inputs cannot be read, or the folder holds something already.
pub(crate) fn sample(
    args: &args::Sample,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let place = Place::find(surroundings, args.project.as_deref())?;
    let project = &place.parsed.project;
    let campaign = project.campaign.as_ref().ok_or_else(|| {
        Failure::request(
            "no-campaign",
            anyhow!("config/pilote.json declares no campaign to draw a sample of"),
        )
        .hint("add `campaign` with its inputs, count and refused_max")
    })?;
    let (into, digests) =
        (args.into.trim_end_matches('/').to_owned(), format!("{}.sha256", args.into.trim_end_matches('/')));
    free(&place.root, &into, &digests)?;
    let source = source(&place.root, &campaign.inputs, project);
    let drawn = pilote_corpus::sample(&source, args.count, args.seed).map_err(unusable)?;
    if drawn.items.is_empty() {
        return Err(Failure::request(
            "no-items",
            anyhow!("the campaign's inputs hold no item that could be drawn"),
        ));
    }
    let inputs = copied(&place.root, &into, (&place.root, &campaign.inputs), &source, &drawn.items)?;
    let pins =
        pilote_corpus::digests(&self::source(&place.root, &inputs, project)).map_err(unusable)?.to_string();
    create(&place.root.join(&digests), pins.as_bytes())?;
    let corpus: u64 = drawn.shares.iter().map(|share| share.corpus).sum();
    let pilot = serde_json::json!({
        "inputs": inputs, "count": drawn.items.len(), "expected_refusals": [], "digests": digests,
    });
    shown(printer, &drawn.shares, corpus, drawn.faulty);
    printer.line("");
    printer.line(&printer.texts.get("sample-written", &[("folder", &into), ("digests", &digests)]));
    printer.line(&printer.texts.get("sample-declare", &[]));
    printer.line(&format!("  \"pilot\": {pilot}"));
    printer.object(&SampleJson {
        format: "pilote.sample/1",
        seed: args.seed,
        corpus,
        faulty: drawn.faulty,
        groups: &drawn.shares,
        digests_sha256: Digest::of(pins.as_bytes()),
        digests,
        pilot,
    });
    Ok(Exit::Holds)
}

fn source(root: &Path, inputs: &Inputs, project: &Project) -> Source {
    Source::new(root, inputs, &project.limits, project.duplicates)
}

fn unusable(error: pilote_corpus::CorpusError) -> Failure {
    Failure::request(error.code(), error)
}

/// The pilot's inputs are fixed, so nothing that is there is replaced.
fn free(root: &Path, into: &str, digests: &str) -> Result<(), Failure> {
    let folder = root.join(into);
    let holds = folder.read_dir().is_ok_and(|mut names| names.next().is_some()) || folder.is_file();
    for (path, taken) in [(into, holds), (digests, root.join(digests).exists())] {
        if taken {
            let error =
                anyhow!("`{path}` is there already, and the inputs of a pilot are never written over");
            return Err(
                Failure::request("sample-exists", error).hint("name another folder with --into data/NAME")
            );
        }
    }
    Ok(())
}

/// Copies items of the inputs of the project at `from` into the folder `into` below `to`, and gives the inputs that
/// they are there. Numbers of a range are no files, so there is nothing to copy of them.
pub(super) fn copied(
    to: &Path,
    into: &str,
    (from, inputs): (&Path, &Inputs),
    source: &Source,
    items: &[Item],
) -> Result<Inputs, Failure> {
    match inputs {
        Inputs::Directory { directory, encoding } => {
            copied_files(&from.join(directory), &to.join(into), items)?;
            Ok(Inputs::Directory { directory: into.to_owned(), encoding: *encoding })
        }
        Inputs::Files { files } => {
            copied_files(&from.join(files), &to.join(into), items)?;
            Ok(Inputs::Files { files: into.to_owned() })
        }
        Inputs::Range { .. } => {
            let error = anyhow!("numbers of a range are no items to draw from: none is longer than another");
            let hint = "give the pilot a range of its own, with a few of the campaign's numbers";
            Err(Failure::request("sample-of-a-range", error).hint(hint))
        }
        rows => copied_rows(to, into, rows, source, items),
    }
}

fn copied_files(from: &Path, into: &Path, items: &[Item]) -> Result<(), Failure> {
    for item in items {
        let Location::File { path, .. } = &item.location else { continue };
        let bytes =
            fs_err::read(from.join(path)).map_err(|error| Failure::machine("input-unreadable", error))?;
        create(&into.join(path), &bytes)?;
    }
    Ok(())
}

/// Rows of any format become one file of records.
fn copied_rows(
    root: &Path,
    into: &str,
    inputs: &Inputs,
    source: &Source,
    items: &[Item],
) -> Result<Inputs, Failure> {
    let unread = |error: pilote_corpus::ReadError| Failure::machine("input-unreadable", error);
    pilote_corpus::prepare(source, items).map_err(unread)?;
    let batch = matches!(inputs, Inputs::OpenAiBatch { .. });
    let (id, text) = if batch { ("custom_id", "body") } else { ("id", "text") };
    let (mut rows, mut columns) = (Vec::new(), BTreeMap::new());
    for item in items {
        let content = pilote_corpus::read(source, item).map_err(unread)?;
        let content = if batch { ExactJson::parse(&content) } else { Some(ExactJson::of_text(&content)) };
        let name = item.id.as_ref().map(|id| ExactJson::of_text(id.as_str()));
        let mut fields: Vec<(String, Option<ExactJson>)> =
            vec![(id.to_owned(), name), (text.to_owned(), content)];
        for (name, value) in &item.columns {
            let field =
                if [id, text].contains(&name.as_str()) { format!("column {name}") } else { name.clone() };
            columns.insert(name.clone(), field.clone());
            fields.push((field, Some(value.clone())));
        }
        let fields: Vec<String> = fields
            .iter()
            .filter_map(|(field, value)| Some(format!("{}:{}", ExactJson::of_text(field), value.as_ref()?)))
            .collect();
        rows.extend_from_slice(format!("{{{}}}\n", fields.join(",")).as_bytes());
    }
    let path = format!("{into}/{ROWS}");
    create(&root.join(&path), &rows)?;
    let paths = path.as_str().into();
    Ok(if batch {
        Inputs::OpenAiBatch { openai_batch: paths, columns }
    } else {
        let (id, text) = (id.to_owned(), text.to_owned());
        Inputs::Jsonl { jsonl: paths, id, text, columns, encoding: pilote_spec::Encoding::Utf8 }
    })
}

/// Creates a file that was not there, for reading only from then on.
fn create(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::machine("sample-unwritten", error);
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = fs_err::OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(failed)?;
    let mut permissions = file.metadata().map_err(failed)?.permissions();
    permissions.set_readonly(true);
    fs_err::set_permissions(path, permissions).map_err(failed)
}

/// Both distributions side by side.
fn shown(printer: &Printer, shares: &[Share], corpus: u64, faulty: u64) {
    let texts = &printer.texts;
    let drawn: u64 = shares.iter().map(|share| share.sample).sum();
    let heading =
        ["group", "lengths", "corpus", "sample"].map(|name| texts.get(&format!("sample-column-{name}"), &[]));
    let mut rows = vec![heading];
    for share in shares {
        let code = serde_json::to_value(share.group).ok().and_then(|code| Some(code.as_str()?.to_owned()));
        rows.push([
            texts.get(&format!("sample-group-{}", code.unwrap_or_default()), &[]),
            format!("{} - {}", texts.number(share.from), texts.number(share.to)),
            part_of(&texts.number(share.corpus), share.corpus, corpus),
            part_of(&texts.number(share.sample), share.sample, drawn),
        ]);
    }
    let wide = [0, 1, 2, 3].map(|at| rows.iter().map(|row| width(&row[at])).max().unwrap_or(0));
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(wide).map(|(cell, wide)| pad(cell, wide).to_string()).collect();
        printer.line(cells.join("  ").trim_end());
    }
    if faulty > 0 {
        printer.line(&texts.get("sample-faulty", &[("count", &texts.number(faulty))]));
    }
}

/// A count with its share of all.
#[expect(clippy::cast_precision_loss, reason = "a share is a ratio")]
fn part_of(shown: &str, count: u64, all: u64) -> String {
    format!("{shown} ({:.1} %)", 100.0 * count as f64 / (all.max(1) as f64))
}
