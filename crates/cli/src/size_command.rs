//! `pilote size`: from what was typed to a task, and from a sizing to lines that people read.

use std::io::{self, BufRead as _, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use pilote_size::cards::{Card, Cards, Holding, MemorySource};
use pilote_size::measured::{Beside, Coverage, Measured, Shape, Verdict};
use pilote_size::memory::{
    Backend, CacheType, CardShare, Engine, LatentCache, Method, PartKind, Sharding, Spread, Task, Work,
};
use pilote_size::model::{Folder, HttpRanges, Kind, ModelFacts, read};
use pilote_size::picture::{Bar, Piece, svg};
use pilote_size::precision::Known;
use pilote_size::{
    Amount, Bytes, CardVerdict, Figure, Origin, Phrase, Request, SizeError, Sizing, size_model,
};
use pilote_spec::{CardFacts, MeasureLine, Trial};
use pilote_text::{Texts, pad, pad_start, width};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::open_points;

/// What is to be sized.
#[derive(Debug, Clone, Args)]
pub(crate) struct SizeArgs {
    /// The model: a folder, a file, an http(s) address, or hub:ORG/NAME@REVISION. Headers alone are read.
    #[arg(value_name = "MODEL")]
    pub model: Option<String>,
    /// encode, generate or train; otherwise what the model is built for.
    #[arg(long)]
    pub work: Option<String>,
    /// Texts or sequences of one batch.
    #[arg(long, default_value_t = 1)]
    pub batch: u64,
    /// Tokens of the longest text, or of question and answer together. The model's longest is never assumed.
    #[arg(long)]
    pub tokens: Option<u64>,
    /// Sequences that are answered at once.
    #[arg(long, default_value_t = 1)]
    pub concurrency: u64,
    /// builtin, transformers, vllm or llama.cpp.
    #[arg(long)]
    pub engine: Option<String>,
    /// cuda, rocm or cpu.
    #[arg(long)]
    pub backend: Option<String>,
    /// Hold plain weights as f32, half, nf4 or int8; otherwise as stored.
    #[arg(long)]
    pub precision: Option<String>,
    /// Type of the cache: f16, bf16, f32, fp8, q8_0 ...
    #[arg(long, default_value = "f16")]
    pub cache: String,
    /// Attention keeps its scores (neither SDPA nor flash attention).
    #[arg(long)]
    pub eager: bool,
    /// llama.cpp: tokens computed at once.
    #[arg(long)]
    pub ubatch: Option<u64>,
    /// vLLM and an encoder in the built-in engine: tokens of one step.
    #[arg(long, default_value_t = 2048)]
    pub batched_tokens: u64,
    /// vLLM: share of the card that it reserves.
    #[arg(long, default_value_t = 0.9)]
    pub utilisation: f64,
    /// Cards that share every layer.
    #[arg(long, default_value_t = 1)]
    pub tensor_parallel: u32,
    /// Groups of cards that each hold some layers.
    #[arg(long, default_value_t = 1)]
    pub pipeline_parallel: u32,
    /// Training: mixed-adam, bf16-adam, bf16-adam8bit, f32-adam, f32-sgd, f32-sgd-momentum or bf16-adafactor.
    #[arg(long, default_value = "mixed-adam")]
    pub recipe: String,
    /// Training: rank of an adapter; the base is only read.
    #[arg(long)]
    pub lora: Option<u64>,
    /// Training: modules of the adapter.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj"
    )]
    pub modules: Vec<String>,
    /// Training: stage of ZeRO, over --shards cards.
    #[arg(long)]
    pub zero: Option<u8>,
    /// Training: cards over which states are shared out (FSDP without --zero).
    #[arg(long)]
    pub shards: Option<u32>,
    /// Training: nothing, selective or full.
    #[arg(long, default_value = "nothing")]
    pub recompute: String,
    /// Hold it against this card; may be given several times. Otherwise every card of the table.
    #[arg(long = "card")]
    pub cards: Vec<String>,
    /// A table of cards that adds to the built-in one or overrides it.
    #[arg(long)]
    pub cards_file: Option<PathBuf>,
    /// What must stay free of a card, in per cent of its memory.
    #[arg(long, default_value_t = 10)]
    pub margin: u32,
    /// Tokens at once that a trial counted, where its texts are taken from it.
    #[arg(skip)]
    pub at_once: Option<u64>,
    /// A trial of this project whose measured peaks stand beside the estimate.
    #[arg(long, value_name = "RUN")]
    pub from: Option<PathBuf>,
    /// Also write a picture of the memory by part against each card (SVG).
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
}

/// What a command takes from the machine, read once by the caller.
pub(crate) struct Setting<'a> {
    /// The folder that relative paths start from.
    pub folder: &'a Path,
    /// Address of the model hub, without a slash at the end.
    pub endpoint: &'a str,
    /// Token for the hub; appears in no message.
    pub token: Option<&'a str>,
    /// Cards of this machine as their driver shows them, which go before the table; empty where there are none.
    pub found: &'a [CardFacts],
    /// Memory of this machine, which is what a task on the processor is held against; none where unknown.
    pub machine_memory: Option<u64>,
    /// Processors of this machine, as many as the built-in engine has threads unless told otherwise.
    pub processors: Option<u32>,
}

/// The name of this machine's memory among cards.
const THIS_MACHINE: &str = "this machine";

/// A card's name, which no language translates, or that of this machine's memory.
pub(crate) fn card_name(card: &Card, texts: &Texts) -> String {
    if card.name == THIS_MACHINE { texts.get("size-this-machine", &[]) } else { card.name.clone() }
}

/// The memory of this machine in the place of a card.
fn this_machine(bytes: u64) -> Holding {
    let memory = Bytes(bytes);
    let card = Card {
        name: THIS_MACHINE.to_owned(),
        aliases: Vec::new(),
        memory_mib: bytes >> 20,
        memory_source: MemorySource::Driver,
        bandwidth_gb_s: None,
        backend: Backend::Cpu,
        capability: None,
        per_lot: 1,
        link: None,
        source: "the memory that this machine shows".to_owned(),
    };
    Holding { card, memory, used_by_others: Bytes(0) }
}

/// Sizes what was asked.
///
/// # Errors
/// A model that cannot be read, an argument that is not allowed, a trial without its files.
pub(crate) fn size(args: &SizeArgs, setting: &Setting<'_>) -> Result<Sizing, SizeError> {
    let run = args.from.as_ref().map(|run| setting.folder.join(run));
    let trial = run.as_deref().map(trial).transpose()?;
    let lines = run.as_deref().map(measures).transpose()?.unwrap_or_default();
    let args = &trial.as_ref().map_or_else(|| args.clone(), |trial| as_measured(args, trial, &lines));
    let model = model(args, setting)?;
    let processors = trial.as_ref().map_or(setting.processors, |trial| trial.machine.processors);
    let task = task(args, &model, processors)?;
    let table = cards(args, setting)?;
    let mut held = Vec::new();
    for name in &args.cards {
        held.push(Holding::whole(table.named(name)?.clone()));
    }
    if held.is_empty() {
        let found = setting.found.iter().filter(|_| task.backend != Backend::Cpu);
        held.extend(found.filter_map(|facts| Holding::found(facts, &table, task.backend, Bytes(0))));
        held.extend(setting.machine_memory.filter(|_| task.backend == Backend::Cpu).map(this_machine));
        let mine = table.all.iter().filter(|card| card.backend == task.backend);
        held.extend(mine.cloned().map(Holding::whole));
    }
    let measured = trial.as_ref().and_then(|trial| Measured::of_trial(trial, &lines));
    size_model(model, &Request { task, cards: held, margin_percent: args.margin, measured })
}

/// The model that a trial ran; none where its engine has none.
///
/// # Errors
/// When the trial cannot be read.
pub(crate) fn model_of(run: &Path) -> Result<Option<String>, SizeError> {
    Ok(trial(run)?.engine.model.map(|model| model.reference))
}

/// Whether the cards that were named all have their verdict: none of them is certain or measured to be too small.
pub(crate) fn holds(args: &SizeArgs, sizing: &Sizing) -> bool {
    let bad =
        |card: &CardVerdict| matches!(card.verdict, Verdict::DoesNotFit { .. } | Verdict::NoMargin { .. });
    args.cards.is_empty() || !sizing.cards.iter().any(bad)
}

/// The table of cards: the built-in one, and the user's over it.
pub(crate) fn cards(args: &SizeArgs, setting: &Setting<'_>) -> Result<Cards, SizeError> {
    let mut table = Cards::built_in()?;
    if let Some(file) = &args.cards_file {
        let text = read_text(&setting.folder.join(file))?;
        table.override_with(Cards::parse(&file.display().to_string(), &text)?);
    }
    Ok(table)
}

pub(crate) fn read_text(path: &Path) -> Result<String, SizeError> {
    std::fs::read_to_string(path).map_err(|source| SizeError::Io { file: path.display().to_string(), source })
}

fn not_allowed(field: &'static str, value: &str, allowed: &str) -> SizeError {
    SizeError::NotAllowed { field, value: value.to_owned(), allowed: allowed.to_owned() }
}

fn model(args: &SizeArgs, setting: &Setting<'_>) -> Result<ModelFacts, SizeError> {
    let name = args.model.as_deref().unwrap_or(".");
    let token = setting.token.map(str::to_owned);
    if let Some(reference) = name.strip_prefix("hub:") {
        let (repository, revision) = reference.split_once('@').unwrap_or((reference, "main"));
        let address = format!("{}/{repository}/resolve/{revision}", setting.endpoint);
        return read(&HttpRanges::new(&address, token));
    }
    if name.starts_with("http://") || name.starts_with("https://") {
        // The token is the hub's and goes nowhere else.
        let token = token.filter(|_| name.starts_with(&format!("{}/", setting.endpoint)));
        return read(&HttpRanges::new(name, token));
    }
    let path = name.strip_prefix("path:").unwrap_or(name);
    read(&Folder::new(&setting.folder.join(path)))
}

/// A value of an enumeration by the name that it has in files.
fn named<T: DeserializeOwned>(field: &'static str, text: &str, allowed: &str) -> Result<T, SizeError> {
    serde_json::from_value(text.into()).map_err(|_| not_allowed(field, text, allowed))
}

fn task(args: &SizeArgs, model: &ModelFacts, threads: Option<u32>) -> Result<Task, SizeError> {
    let backend =
        args.backend.as_deref().map(|text| named("--backend", text, "cuda, rocm or cpu")).transpose()?;
    let precision = args.precision.as_deref();
    let precision = precision.map(|text| named("--precision", text, "f32, half, nf4 or int8")).transpose()?;
    let work = work(args, model)?;
    let engine = engine(args, &work)?;
    Ok(Task {
        backend: backend.unwrap_or(if engine == Engine::Builtin { Backend::Cpu } else { Backend::Cuda }),
        work,
        engine,
        precision,
        cache: CacheType::named(&args.cache)?,
        spread: Spread { tensor: args.tensor_parallel, pipeline: args.pipeline_parallel },
        threads,
    })
}

fn work(args: &SizeArgs, model: &ModelFacts) -> Result<Work, SizeError> {
    let kind = model.architecture.as_ref().map(|built| built.kind);
    let usual = if kind == Some(Kind::Decoder) { "generate" } else { "encode" };
    let work = args.work.as_deref().unwrap_or(usual);
    let Some(tokens) = args.tokens else {
        let allowed = "say how many tokens the task has; the model's longest is never assumed";
        return Err(not_allowed("--tokens", "none", allowed));
    };
    match work {
        "encode" => {
            // The built-in engine computes a batch in pieces of so many tokens; one longer text is a piece of its own.
            let whole = args.batch.saturating_mul(tokens);
            let builtin = args.engine.as_deref().unwrap_or("builtin") == "builtin";
            let piece = builtin.then_some(args.batched_tokens.max(tokens)).filter(|piece| *piece < whole);
            let at_once = args.at_once.or(piece);
            Ok(Work::Encode { batch: args.batch, tokens, kept: args.batch, at_once })
        }
        "generate" => Ok(Work::Generate { tokens, concurrency: args.concurrency }),
        "train" => {
            let recipe = named(
                "--recipe",
                &args.recipe,
                "mixed-adam, bf16-adam, bf16-adam8bit, f32-adam, f32-sgd, f32-sgd-momentum or bf16-adafactor",
            )?;
            let recompute = named("--recompute", &args.recompute, "nothing, selective or full")?;
            let method = match args.lora {
                Some(rank) => Method::Lora { rank, modules: args.modules.clone() },
                None => Method::Full,
            };
            let sharding = match (args.zero, args.shards) {
                (None, None) => Sharding::Whole,
                (None, Some(cards)) => Sharding::Fsdp { cards },
                (Some(stage), Some(cards)) => Sharding::Zero { stage, cards },
                (Some(_), None) => {
                    return Err(not_allowed("--shards", "", "--zero needs the number of cards"));
                }
            };
            Ok(Work::Train { batch: args.batch, tokens, recipe, method, sharding, recompute })
        }
        other => Err(not_allowed("--work", other, "encode, generate or train")),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share from 0 to 1, checked before"
)]
fn engine(args: &SizeArgs, work: &Work) -> Result<Engine, SizeError> {
    let usual = if matches!(work, Work::Encode { .. }) { "builtin" } else { "transformers" };
    match args.engine.as_deref().unwrap_or(usual) {
        "builtin" => Ok(Engine::Builtin),
        "transformers" => Ok(Engine::Transformers { fused: !args.eager }),
        "vllm" if args.utilisation > 0.0 && args.utilisation <= 1.0 => Ok(Engine::Vllm {
            block: 16,
            batched_tokens: args.batched_tokens,
            utilisation: (args.utilisation * 1000.0).round() as u32,
        }),
        "vllm" => Err(not_allowed("--utilisation", &args.utilisation.to_string(), "more than 0, up to 1")),
        "llama.cpp" => {
            Ok(Engine::LlamaCpp { ubatch: args.ubatch, latent: LatentCache::Latent, fused: !args.eager })
        }
        other => Err(not_allowed("--engine", other, "builtin, transformers, vllm or llama.cpp")),
    }
}

/// What a trial says of itself.
fn trial(run: &Path) -> Result<Trial, SizeError> {
    let path = run.join("trial.json");
    serde_json::from_str(&read_text(&path)?).map_err(|error| SizeError::Malformed {
        file: path.display().to_string(),
        format: "trial",
        problem: error.to_string(),
    })
}

/// The task as the trial ran it, where nothing else was asked: its longest text, as many of them as it computes at
/// once, its engine, device and precision.
fn as_measured(args: &SizeArgs, trial: &Trial, lines: &[MeasureLine]) -> SizeArgs {
    let mut args = args.clone();
    let engine = &trial.engine;
    if engine.kind == "builtin" {
        args.engine.get_or_insert_with(|| "builtin".to_owned());
    }
    let device = engine.device.split(':').next().unwrap_or_default();
    args.backend
        .get_or_insert_with(|| if device == "cuda" || device == "rocm" { device } else { "cpu" }.to_owned());
    let precision = match engine.precision.as_str() {
        "f32" => Some("f32"),
        "f16" | "bf16" => Some("half"),
        _ => None,
    };
    args.precision = args.precision.or_else(|| precision.map(str::to_owned));
    if args.tokens.is_none() {
        let counted = Shape::of_trial(trial, lines);
        let shape = Shape { longest: counted.longest.or(engine.longest_tokens.map(u64::from)), ..counted };
        args.tokens = shape.longest;
        args.batch = shape.batch().unwrap_or(args.batch);
        args.at_once = shape.at_once;
    }
    if let Some(reference) = engine.model.as_ref().map(|model| model.reference.clone()) {
        args.model.get_or_insert(reference);
    }
    args
}

/// The measures of a trial, from its own files.
fn measures(run: &Path) -> Result<Vec<MeasureLine>, SizeError> {
    let folder = run.join("measures");
    let io = |path: &Path, source| SizeError::Io { file: path.display().to_string(), source };
    let mut lines: Vec<MeasureLine> = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(|error| io(&folder, error))? {
        let path = entry.map_err(|error| io(&folder, error))?.path();
        if path.extension().is_none_or(|ending| ending != "jsonl") {
            continue;
        }
        let file = std::fs::File::open(&path).map_err(|error| io(&path, error))?;
        for line in io::BufReader::new(file).lines() {
            let line = line.map_err(|error| io(&path, error))?;
            // The last line of a writer that was killed may be torn; what stands before it was measured.
            lines.extend(serde_json::from_str::<MeasureLine>(&line).ok());
        }
    }
    Ok(lines)
}

/// Prints a sizing for people.
///
/// # Errors
/// When the writer fails.
pub(crate) fn print(sizing: &Sizing, texts: &Texts, out: &mut dyn Write) -> io::Result<()> {
    print_model(sizing, texts, out)?;
    for share in &sizing.estimate.shares {
        print_share(sizing, share, texts, out)?;
    }
    if let Some(bytes) = sizing.estimate.cache_growth {
        writeln!(out, "{}", texts.get("size-cache-growth", &[("memory", &texts.memory(bytes))]))?;
    }
    if let Some(link) = &sizing.estimate.link {
        let key = if link.direct { "size-link-direct" } else { "size-link-plain" };
        writeln!(out, "{}", texts.get(key, &[("memory", &texts.memory(link.bytes_per_token))]))?;
    }
    print_measured(sizing, texts, out)?;
    print_cards(sizing, texts, out)?;
    let points = open_points::lines(&sizing.open_points, texts);
    if !points.is_empty() {
        writeln!(out, "\n{}", points.join("\n"))?;
    }
    writeln!(out, "\n{}", texts.get("size-never-by-count", &[]))
}

/// The name of a kebab-case enumeration value, as it stands in machine-readable output.
pub(crate) fn code(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// A formula or reason in the reader's language; in English where it has no phrase.
pub(crate) fn said(texts: &Texts, phrase: Option<&Phrase>, english: &str) -> String {
    let Some(phrase) = phrase else { return english.to_owned() };
    let values: Vec<(&str, String)> = phrase
        .values
        .iter()
        .map(|(name, value)| match value.parse::<u64>() {
            // Long numbers are grouped; short ones also choose plurals.
            Ok(number) if number >= 10_000 && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                (name.as_str(), texts.number(number))
            }
            _ => (name.as_str(), value.clone()),
        })
        .collect();
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    texts.find(&format!("size-basis-{}", phrase.code), &values).unwrap_or_else(|| english.to_owned())
}

pub(crate) fn part_name(texts: &Texts, part: PartKind) -> String {
    texts.get(&format!("size-part-{}", code(&part)), &[])
}

pub(crate) fn range(texts: &Texts, amount: Amount) -> String {
    if amount.low == amount.high {
        return texts.memory(amount.low.0);
    }
    texts.get("size-range", &[("low", &texts.memory(amount.low.0)), ("high", &texts.memory(amount.high.0))])
}

fn print_model(sizing: &Sizing, texts: &Texts, out: &mut dyn Write) -> io::Result<()> {
    let model = &sizing.model;
    writeln!(out, "{}", texts.get("size-model", &[("place", &model.place)]))?;
    if let Some(bytes) = model.weight_bytes {
        let (memory, storage) = (texts.memory(bytes), texts.storage(bytes));
        let files = model.files.len().to_string();
        let args = [("memory", memory.as_str()), ("storage", &storage), ("files", &files)];
        writeln!(out, "{}", texts.get("size-weights-in-files", &args))?;
    }
    if let Some(parameters) = model.parameters {
        writeln!(out, "{}", texts.get("size-parameters", &[("parameters", &texts.number(parameters))]))?;
    }
    if let Some(built) = &model.architecture {
        writeln!(
            out,
            "{}",
            texts.get("size-build", &[("family", &built.family), ("source", &built.source)])
        )?;
        if built.own_code || !model.own_code.is_empty() {
            let files =
                if model.own_code.is_empty() { "auto_map".to_owned() } else { model.own_code.join(", ") };
            writeln!(out, "{}", texts.get("size-own-code", &[("files", &files)]))?;
        }
    }
    for note in &model.notes {
        writeln!(out, "{}", texts.get("size-note", &[("note", note)]))?;
    }
    Ok(())
}

fn print_share(sizing: &Sizing, share: &CardShare, texts: &Texts, out: &mut dyn Write) -> io::Result<()> {
    let alone = sizing.estimate.shares.len() == 1 && share.cards == 1;
    let (stage, cards) = (share.stage.to_string(), share.cards.to_string());
    let title = if alone { "size-memory-title" } else { "size-memory-stage" };
    writeln!(out, "\n{}", texts.get(title, &[("stage", &stage), ("cards", &cards)]))?;
    let row = |name: String, figure: &Figure| {
        let amount =
            figure.amount.map_or_else(|| texts.get("size-unknown", &[]), |amount| range(texts, amount));
        let origin = texts.get(&format!("size-origin-{}", code(&figure.origin)), &[]);
        [name, amount, origin, said(texts, figure.phrase.as_ref(), &figure.basis)]
    };
    let mut rows: Vec<[String; 4]> =
        share.parts.iter().map(|part| row(part_name(texts, part.part), &part.figure)).collect();
    rows.push([texts.get("size-total", &[]), range(texts, share.known), String::new(), String::new()]);
    print_rows(&rows, &[1], out)?;
    if !share.unknown.is_empty() {
        let parts: Vec<String> = share.unknown.iter().map(|part| part_name(texts, *part)).collect();
        let parts = texts.list(parts.iter().map(String::as_str));
        writeln!(out, "  {}", texts.get("size-not-in-total", &[("parts", &parts)]))?;
    }
    Ok(())
}

/// Prints rows with columns as wide as their widest cell; numbers stand to the right.
pub(crate) fn print_rows<const N: usize>(
    rows: &[[String; N]],
    numbers: &[usize],
    out: &mut dyn Write,
) -> io::Result<()> {
    let widest = |column: usize| rows.iter().map(|row| width(&row[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(widest).collect();
    for row in rows {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            if numbers.contains(&column) {
                pad_start(cell, widths[column])
            } else {
                pad(cell, widths[column])
            }
        });
        writeln!(out, "  {}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

fn print_measured(sizing: &Sizing, texts: &Texts, out: &mut dyn Write) -> io::Result<()> {
    let Some(comparison) = &sizing.comparison else { return Ok(()) };
    writeln!(out, "\n{}", texts.get("size-measured-title", &[("trial", &comparison.trial)]))?;
    for line in &comparison.lines {
        let part =
            line.part.map_or_else(|| texts.get("size-measured-whole", &[]), |part| part_name(texts, part));
        let measured = texts.memory(line.measured.0);
        let text = match (line.estimated, line.difference) {
            (Some(estimated), Some(difference)) => {
                let estimated = range(texts, estimated);
                let far = texts.memory(difference.unsigned_abs());
                let difference = match difference.signum() {
                    1 => texts.get("size-above", &[("memory", &far)]),
                    -1 => texts.get("size-below", &[("memory", &far)]),
                    _ => texts.get("size-inside", &[]),
                };
                let args = [
                    ("part", part.as_str()),
                    ("measured", &measured),
                    ("estimated", &estimated),
                    ("difference", &difference),
                ];
                texts.get("size-measured-line", &args)
            }
            _ => texts.get("size-measured-alone", &[("part", &part), ("measured", &measured)]),
        };
        writeln!(out, "  {text}")?;
    }
    let read_later = |line: &Beside| {
        line.part == Some(PartKind::Weights) && line.difference.is_some_and(|difference| difference < 0)
    };
    if comparison.lines.iter().any(read_later) {
        writeln!(out, "  {}", texts.get("size-measured-pages", &[]))?;
    }
    if let Some(coverage) = &sizing.coverage {
        writeln!(out, "  {}", coverage_text(coverage, texts))?;
    }
    Ok(())
}

/// Whether a trial's peak covers the task, with what was computed and what is asked for.
fn coverage_text(coverage: &Coverage, texts: &Texts) -> String {
    let number = |count: Option<u64>| {
        count.map_or_else(|| texts.get("size-unknown", &[]), |count| texts.number(count))
    };
    let (longest, at_once) = (number(coverage.longest), number(coverage.at_once));
    let (longest_asked, at_once_asked) =
        (number(Some(coverage.longest_asked)), number(coverage.at_once_asked));
    let key = if coverage.covers { "size-covered" } else { "size-not-covered" };
    let args = [
        ("longest", longest.as_str()),
        ("at-once", &at_once),
        ("longest-asked", &longest_asked),
        ("at-once-asked", &at_once_asked),
    ];
    texts.get(key, &args)
}

fn print_cards(sizing: &Sizing, texts: &Texts, out: &mut dyn Write) -> io::Result<()> {
    let percent = texts.percent(f64::from(sizing.margin_percent) / 100.0, 0);
    writeln!(out, "\n{}", texts.get("size-cards-title", &[("percent", &percent)]))?;
    let rows: Vec<[String; 3]> = sizing
        .cards
        .iter()
        .map(|card| {
            [card_name(&card.card, texts), texts.memory(card.budget.0), verdict_text(texts, &card.verdict)]
        })
        .collect();
    print_rows(&rows, &[1], out)?;
    let [only] = sizing.cards.as_slice() else { return Ok(()) };
    let mut lines = vec![("size-precision-engine", only.precision.engine)];
    if only.card.backend != Backend::Cpu {
        lines.push(("size-precision-card", only.precision.card));
    }
    for (key, known) in lines {
        let known = texts.get(known_key(known), &[]);
        writeln!(out, "  {}", texts.get(key, &[("format", &only.precision.format), ("known", &known)]))?;
    }
    if let Some(trial) = &only.precision.tested {
        writeln!(out, "  {}", texts.get("size-precision-tested", &[("trial", trial)]))?;
    }
    if let Some(lines) = &only.reserve {
        let memory = |bytes: Bytes| texts.memory(bytes.0);
        let (budget, weights) = (memory(lines.budget), memory(lines.weights));
        let (working, runtime, cache) = (memory(lines.working), memory(lines.runtime), memory(lines.cache));
        let args = [
            ("budget", budget.as_str()),
            ("weights", &weights),
            ("working", &working),
            ("runtime", &runtime),
            ("cache", &cache),
        ];
        writeln!(out, "  {}", texts.get("size-reserve", &args))?;
    }
    Ok(())
}

fn known_key(known: Known) -> &'static str {
    match known {
        Known::Supported => "size-known-supported",
        Known::NotSupported => "size-known-not-supported",
        Known::Unknown => "size-known-unknown",
    }
}

pub(crate) fn verdict_text(texts: &Texts, verdict: &Verdict) -> String {
    let memory = |bytes: &Bytes| texts.memory(bytes.0);
    match verdict {
        Verdict::Fits { peak, headroom, margin, .. } | Verdict::NoMargin { peak, headroom, margin, .. } => {
            let (peak, headroom, margin) = (memory(peak), memory(headroom), memory(margin));
            let args = [("peak", peak.as_str()), ("headroom", &headroom), ("margin", &margin)];
            texts.get(&format!("size-{}", verdict.code()), &args)
        }
        Verdict::DoesNotFit { certain, over } => {
            texts.get("size-does-not-fit", &[("certain", &memory(certain)), ("over", &memory(over))])
        }
        Verdict::Open { known, beyond, .. } => {
            let key = if *beyond { "size-open-beyond" } else { "size-open" };
            texts.get(key, &[("known", &range(texts, *known))])
        }
    }
}

/// A picture of the task's parts against each card, as SVG.
pub(crate) fn picture(sizing: &Sizing, texts: &Texts) -> String {
    let Some(share) = sizing.estimate.fullest() else {
        return svg(&texts.get("size-memory-title", &[]), &[]);
    };
    let pieces: Vec<Piece> = share
        .parts
        .iter()
        .filter_map(|part| {
            let amount = part.figure.amount?;
            let exact = part.figure.origin != Origin::Estimated;
            Some(Piece { label: part_name(texts, part.part), bytes: amount.high, exact })
        })
        .collect();
    let label = texts.get("size-total", &[]);
    let sum = texts.memory(share.known.high.0);
    let mut bars = vec![Bar { label, pieces: pieces.clone(), room: None, sum }];
    bars.extend(sizing.cards.iter().map(|card| Bar {
        label: card_name(&card.card, texts),
        pieces: pieces.clone(),
        room: Some(card.budget),
        sum: texts.memory(card.budget.0),
    }));
    svg(&texts.get("size-memory-title", &[]), &bars)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pilote_text::Lang;

    use super::*;

    /// The codes of all phrases, from the sources that make them.
    fn codes() -> BTreeSet<String> {
        let mut codes = BTreeSet::new();
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../size/src")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                for opening in ["said!(", "Said::new(", "per_parameter(", "phrase.code = "] {
                    for behind in text.split(opening).skip(1) {
                        let code =
                            behind.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next());
                        codes.extend(code.map(str::to_owned));
                    }
                }
            }
        }
        codes
    }

    #[test]
    fn every_formula_and_reason_is_said_in_three_languages() {
        let codes = codes();
        assert!(codes.len() > 40, "{codes:?}");
        for lang in [Lang::En, Lang::Fr, Lang::Ja] {
            let texts = Texts::new(lang);
            for code in &codes {
                let phrase = Phrase { code: code.clone(), ..Phrase::default() };
                let text = said(&texts, Some(&phrase), "ENGLISH");
                assert!(text != "ENGLISH" && !text.is_empty(), "{code} in {lang:?}");
            }
        }
    }

    #[test]
    fn numbers_of_a_formula_are_grouped_and_one_choice_of_words_follows_them() {
        let values = [("parameters", "8030261248"), ("family", "llama"), ("width", "2")];
        let values = values.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let phrase = Phrase { code: "weights-by-build".to_owned(), values };
        assert_eq!(
            said(&Texts::new(Lang::En), Some(&phrase), ""),
            "8,030,261,248 parameters by the build of llama x 2 bytes"
        );
        assert_eq!(
            said(&Texts::new(Lang::Ja), Some(&phrase), ""),
            "llama の構成によるパラメーター 8,030,261,248 個 × 2 バイト"
        );
    }
}
