//! `pilote worker-check`: whether a program keeps to the worker protocol, a line for each rule.

use anyhow::Context as _;
use pilote_engine::worker::conformance::{self, Checked, Conformance, Subject};
use pilote_spec::{EngineConfig, EngineFacts, OutputSpec, Verdict};
use pilote_text::{pad, printable, width};
use serde::Serialize;

use super::engine;
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::Place;
use crate::printer::Printer;
use crate::surroundings::Surroundings;

#[derive(Serialize)]
struct CheckJson<'a> {
    format: &'static str,
    command: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    worker: Option<&'a EngineFacts>,
    rules: Vec<RuleJson<'a>>,
    holds: bool,
}

#[derive(Serialize)]
struct RuleJson<'a> {
    rule: &'a str,
    verdict: Verdict,
    #[serde(skip_serializing_if = "str::is_empty")]
    detail: &'a str,
}

/// What is checked: a program of the command line, or the worker of a project.
struct Request {
    root: std::path::PathBuf,
    config: pilote_spec::Worker,
    output: OutputSpec,
    judged: bool,
    secrets: Vec<String>,
}

/// Checks a program.
///
/// # Errors
/// When no program is named, or it cannot be started below a guard.
pub(crate) fn worker_check(
    args: &args::WorkerCheck,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let Request { root, config, output, judged, secrets } = request(args, surroundings)?;
    let around = engine::surround(&root, &secrets, surroundings)
        .map_err(|fault| Failure::machine("worker-check", fault))?;
    let subject = Subject { config: &config, output: &output, judged, around: &around };
    let found = conformance::check(&subject).map_err(|fault| Failure::machine("worker-check", fault))?;
    show(&found, printer);
    let rules = found.checked.iter().map(|Checked { rule, verdict, detail }| RuleJson {
        rule,
        verdict: *verdict,
        detail,
    });
    printer.object(&CheckJson {
        format: "pilote.worker-check/1",
        command: &config.command,
        worker: found.worker.as_ref(),
        rules: rules.collect(),
        holds: found.holds(),
    });
    Ok(Exit::of_verdict(found.holds()))
}

fn show(found: &Conformance, printer: &Printer) {
    let texts = &printer.texts;
    let sentences: Vec<String> = found
        .checked
        .iter()
        .map(|checked| texts.get(&format!("worker-check-{}", checked.rule), &[]))
        .collect();
    let column = sentences.iter().map(|sentence| width(sentence)).max().unwrap_or(0);
    for (checked, sentence) in found.checked.iter().zip(&sentences) {
        let verdict = texts.verdict(checked.verdict);
        printer.line(&format!("{}  {verdict}  {}", pad(sentence, column), printable(&checked.detail)));
    }
    let kept = found.checked.iter().filter(|checked| checked.verdict == Verdict::Holds).count().to_string();
    let all = found.checked.len().to_string();
    printer.line(&texts.get("worker-check-summary", &[("kept", &kept), ("all", &all)]));
}

fn request(args: &args::WorkerCheck, surroundings: &Surroundings) -> Result<Request, Failure> {
    let place = match (&args.project, args.command.is_empty()) {
        (None, false) => None,
        (project, _) => Some(Place::find(surroundings, project.as_deref())?),
    };
    let given = args.output.as_deref().map(|text| {
        serde_json::from_str::<OutputSpec>(text)
            .context("--output is none of the kinds of output that config/pilote.json knows")
            .map_err(|error| {
                Failure::request("output", error)
                    .hint("write it as there: '{\"kind\":\"vector\",\"width\":384}'")
            })
    });
    let given = given.transpose()?;
    let judged = given.is_some() || place.is_some();
    let mut request = match place {
        Some(place) => {
            let project = place.parsed.project;
            let secrets = engine::secrets(&project);
            let config = match project.engine {
                EngineConfig::Worker(config) => config,
                _ if !args.command.is_empty() => plain(args)?,
                _ => {
                    let error = anyhow::anyhow!("the project's engine is no worker");
                    return Err(Failure::request("no-worker", error)
                        .hint("name the program: pilote worker-check -- CMD"));
                }
            };
            Request { root: place.root, config, output: project.output, judged, secrets }
        }
        None => Request {
            root: surroundings.folder.clone(),
            config: plain(args)?,
            output: OutputSpec::Text {},
            judged,
            secrets: Vec::new(),
        },
    };
    if let Some(output) = given {
        request.output = output;
    }
    if !args.command.is_empty() {
        request.config.command.clone_from(&args.command);
    }
    request.config.silence_seconds_max = args.seconds;
    Ok(request)
}

/// A worker's parameters beside its command, with their defaults.
fn plain(args: &args::WorkerCheck) -> Result<pilote_spec::Worker, Failure> {
    let value = serde_json::json!({ "command": args.command });
    serde_json::from_value(value).map_err(|error| Failure::request("arguments", error))
}
