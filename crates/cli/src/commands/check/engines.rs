//! The rungs that need the engine: the model's files, its start, and items through the whole path. They are ordinary
//! trials over a few of the pilot's items, in a folder that is gone afterwards.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pilote_conduct::{Conductor, EndReason, Launch, Settings, Silent};
use pilote_corpus::Source;
use pilote_engine::{Batch, Engine, EngineFault, Event, Stop};
use pilote_ledger::{NoFailpoint, ProcessLiveness};
use pilote_machine::causes::recognise;
use pilote_machine::ladder::{Judgement, Rung};
use pilote_machine::verdict::{Finding, RungCode, Weight};
use pilote_spec::{
    EngineConfig, EngineFacts, Inputs, Item, MachineFacts, NeededAdapter, Output, Parsed, Project,
    ResultLine, TrialKind,
};

use crate::commands::crew::Share;
use crate::commands::{engine, model, unlock};
use crate::place::Place;
use crate::printer::Printer;
use crate::surroundings::{self, Surroundings};

/// The cosine below which two vectors of one text are no longer the same vector computed in another batch.
const COSINE_LEAST: f64 = 0.99;

/// What the engine's rungs share: the engine, once it started.
pub(crate) struct Bench<'a> {
    place: &'a Place,
    cache: &'a Path,
    surroundings: &'a Surroundings,
    printer: &'a Printer,
    engine: RefCell<Option<Shared>>,
}

/// One of the engine's rungs.
pub(crate) struct EngineRung<'a> {
    /// Which one.
    pub code: RungCode,
    /// What they share.
    pub bench: Rc<Bench<'a>>,
}

impl Rung for EngineRung<'_> {
    fn code(&self) -> RungCode {
        self.code
    }

    fn judge(&mut self) -> Judgement {
        match self.code {
            RungCode::Model => self.bench.model(),
            RungCode::Engine => Judgement::Judged(self.bench.start()),
            _ => Judgement::Judged(self.bench.items()),
        }
    }
}

impl<'a> Bench<'a> {
    /// Before anything started.
    pub(crate) fn new(
        place: &'a Place,
        cache: &'a Path,
        surroundings: &'a Surroundings,
        printer: &'a Printer,
    ) -> Self {
        Self { place, cache, surroundings, printer, engine: RefCell::new(None) }
    }

    /// The files of the built-in engine's model against their digests. Another engine loads its model itself; its
    /// declared files were compared in the project's folder.
    fn model(&self) -> Judgement {
        let EngineConfig::Builtin(builtin) = &self.place.parsed.project.engine else {
            return Judgement::NotApplicable("no-model");
        };
        match model::resolve(builtin, &self.place.root, self.surroundings, self.printer, self.cache) {
            Ok(found) => Judgement::Judged(vec![
                Finding::seen("model").with("reference", &found.reference).with("files", found.files.len()),
            ]),
            Err(failure) => {
                let words = failure.message();
                let finding = Finding::fault("model-unusable").saying(&words).because(recognise(&words));
                Judgement::Judged(vec![finding])
            }
        }
    }

    fn start(&self) -> Vec<Finding> {
        match engine::start(self.place, &Share::default(), self.cache, self.surroundings, self.printer) {
            Ok(started) => {
                let finding = described(started.facts());
                *self.engine.borrow_mut() = Some(Shared::new(started));
                vec![finding]
            }
            Err(fault) => vec![failed(Finding::fault("engine-failed"), &fault)],
        }
    }

    /// The shortest, the longest and a few between them: each alone, then all in one batch; then again with each
    /// adapter.
    fn items(&self) -> Vec<Finding> {
        // A climb that begins at this rung did not start the engine before.
        if self.engine.borrow().is_none() {
            let started = self.start();
            if self.engine.borrow().is_none() {
                return started;
            }
        }
        let Some(engine) = self.engine.borrow().clone() else {
            return vec![Finding::fault("items-no-engine")];
        };
        match self.tried(&engine) {
            Ok(findings) => findings,
            Err(finding) => vec![*finding],
        }
    }

    fn tried(&self, engine: &Shared) -> Result<Vec<Finding>, Box<Finding>> {
        let broken =
            |what: &dyn std::fmt::Display| Box::new(Finding::fault("items-failed").saying(&what.to_string()));
        let project = &self.place.parsed.project;
        let source =
            Source::new(&self.place.root, &project.pilot.inputs, &project.limits, project.duplicates);
        let chosen = chosen(&source, project).map_err(|error| broken(&error))?;
        let [shortest, .., longest] = chosen.as_slice() else {
            return Ok(vec![Finding::note("items-none")]);
        };
        let folder = Scratch::make(self.surroundings).map_err(|error| broken(&error))?;
        let (mut findings, plain) = self.passes(&folder.0, project, &chosen, engine)?;
        if project.needs.as_ref().is_some_and(|needs| !needs.adapters.is_empty()) {
            findings.extend(self.adapters(&folder.0, &chosen, engine, &plain)?);
        }
        let id = |item: &Item| item.id.as_ref().map_or_else(String::new, ToString::to_string);
        findings.push(
            Finding::seen("items")
                .with("count", chosen.len())
                .with("shortest", format!("{} ({})", id(shortest), shortest.chars))
                .with("longest", format!("{} ({})", id(longest), longest.chars)),
        );
        Ok(findings)
    }

    /// The chosen items one by one, then all in one batch: what was found, and the outputs of the batch.
    fn passes(
        &self,
        folder: &Path,
        project: &Project,
        chosen: &[Item],
        engine: &Shared,
    ) -> Result<(Vec<Finding>, Outputs), Box<Finding>> {
        let mut passes = Vec::new();
        let all = u32::try_from(chosen.len()).unwrap_or(u32::MAX);
        for (name, batch_items) in [("alone", 1), ("batch", all)] {
            let root = folder.join(name);
            let small = laid_out(&root, &self.place.root, project, chosen, batch_items)
                .map_err(|error| Box::new(Finding::fault("items-failed").saying(&error.to_string())))?;
            passes.push(self.pass(&root, &small, engine)?);
        }
        let mut findings = Vec::new();
        for refused in passes[1].refused.iter().chain(&passes[0].refused) {
            findings.push(Finding::fault("item-refused").with("id", &refused.0).with("reason", &refused.1));
        }
        findings.dedup();
        findings.extend(differences(&passes[0].outputs, &passes[1].outputs));
        Ok((findings, passes.swap_remove(1).outputs))
    }

    /// The same items through the engine with each declared adapter. One whose outputs are all those of the plain model
    /// is told: it may not have been applied.
    fn adapters(
        &self,
        folder: &Path,
        chosen: &[Item],
        plain: &Shared,
        without: &Outputs,
    ) -> Result<Vec<Finding>, Box<Finding>> {
        let project = &self.place.parsed.project;
        let mut findings = Vec::new();
        // A worker holds its model: the one without an adapter gives its memory back first. A server goes on serving.
        if matches!(project.engine, EngineConfig::Worker(_)) {
            let _ = plain.with(|engine| engine.stop(Stop::Orderly));
            self.engine.borrow_mut().take();
        }
        for (at, adapter) in project.needs.iter().flat_map(|needs| &needs.adapters).enumerate() {
            let about = |finding: Finding| finding.with("adapter", &adapter.name);
            let Some(engine) = adapted(&project.engine, adapter) else {
                return Ok(vec![about(Finding::fault("adapter-not-for-engine"))]);
            };
            let parsed =
                Parsed { project: Project { engine, ..project.clone() }, ..self.place.parsed.clone() };
            let place = Place { root: self.place.root.clone(), parsed };
            let started =
                match engine::start(&place, &Share::default(), self.cache, self.surroundings, self.printer) {
                    Ok(started) => Shared::new(started),
                    Err(fault) => {
                        findings.push(about(failed(Finding::fault("adapter-failed"), &fault)));
                        continue;
                    }
                };
            let came =
                self.passes(&folder.join(format!("adapter-{at}")), &place.parsed.project, chosen, &started);
            let _ = started.with(|engine| engine.stop(Stop::Orderly));
            match came {
                Ok((found, _)) if found.iter().any(|finding| finding.weight == Weight::Fault) => {
                    findings.push(about(Finding::fault("adapter-failed")));
                    findings.extend(found.into_iter().map(about));
                }
                Ok((found, outputs)) => {
                    findings.extend(found.into_iter().map(about));
                    let finding = if outputs == *without { Finding::note } else { Finding::seen };
                    let code = if outputs == *without { "adapter-alike" } else { "adapter" };
                    findings.push(about(finding(code)).with("count", chosen.len()));
                }
                Err(finding) => {
                    findings.push(about(Finding { code: "adapter-failed".to_owned(), ..*finding }));
                }
            }
        }
        Ok(findings)
    }

    /// One trial through the whole path: conducted, collected, verified by what was read again.
    fn pass(&self, root: &Path, project: &Project, engine: &Shared) -> Result<Pass, Box<Finding>> {
        let words = |what: String| {
            let cause = recognise(&what);
            Box::new(Finding::fault("items-failed").saying(&what).because(cause))
        };
        let owner = unlock::owner(self.surroundings).map_err(|failure| words(failure.message()))?;
        let (machine, program) = (MachineFacts::default(), surroundings::program());
        let launch = Launch {
            root,
            project,
            config: self.place.parsed.digest,
            program: &program,
            machine: &machine,
            environment: None,
        };
        let mut start = || Ok(Box::new(engine.clone()) as Box<dyn Engine>);
        let mut conductor = Conductor {
            clock: &*self.surroundings.clock,
            devices: Vec::new(),
            liveness: Arc::new(ProcessLiveness::new(owner.clone())),
            owner,
            interrupt: &self.surroundings.interrupt,
            progress: &mut Silent,
            engine: &mut start,
            // Nobody waits for this trial: what fails twice has failed.
            settings: Settings { failures_max: 2, ..Settings::default() },
            on_step: &pilote_conduct::no_step,
            failpoint: Arc::new(NoFailpoint),
        };
        let end = conductor.run(&launch, TrialKind::Pilot, None).map_err(|error| words(error.to_string()))?;
        if end.why != EndReason::Done {
            return Err(match &end.first_fault {
                Some(fault) => Box::new(failed(Finding::fault("items-failed"), fault)),
                None => {
                    words(end.error.map_or_else(|| end.why.as_str().to_owned(), |error| error.to_string()))
                }
            });
        }
        pilote_proof::collect(&end.trial).map_err(|error| words(error.to_string()))?;
        let verification = pilote_proof::verify(&end.trial).map_err(|error| words(error.to_string()))?;
        if verification.balance.as_ref().is_none_or(|balance| balance.pending > 0) {
            return Err(words(format!("{:?}", verification.balance)));
        }
        Pass::read(&end.trial).map_err(|error| words(error.to_string()))
    }
}

impl Drop for Bench<'_> {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.borrow_mut().take() {
            let _ = engine.with(|engine| engine.stop(Stop::Now));
        }
    }
}

/// What an engine says of itself, the execution path among its parameters where it names one.
fn described(facts: &EngineFacts) -> Finding {
    let parameters: Vec<String> =
        facts.parameters.iter().take(12).map(|(name, value)| format!("{name}={value}")).collect();
    Finding::seen("engine")
        .with("name", &facts.name)
        .with("version", &facts.version)
        .with("device", &facts.device)
        .with("precision", &facts.precision)
        .with("path", if parameters.is_empty() { "-".to_owned() } else { parameters.join(", ") })
}

fn failed(finding: Finding, fault: &EngineFault) -> Finding {
    let finding = finding.with("step", &fault.step).because(recognise(&fault.first_error));
    match (&finding.cause, &fault.advice) {
        // The engine's own advice is one of its words where nothing better is known.
        (None, Some(advice)) => finding.saying(&format!("{}\n{advice}", fault.first_error)),
        _ => finding.saying(&fault.first_error),
    }
}

/// Four items by length: the shortest, the longest, and two between them. Those that cannot become work, or are
/// expected to be refused, are left out.
fn chosen(source: &Source, project: &Project) -> Result<Vec<Item>, pilote_corpus::CorpusError> {
    let expected: Vec<&str> =
        project.pilot.expected_refusals.iter().map(|refusal| refusal.id.as_str()).collect();
    let mut items = Vec::new();
    for item in pilote_corpus::scan(source)? {
        let item = item?;
        let is_expected = item.id.as_ref().is_some_and(|id| expected.contains(&id.as_str()));
        if item.fault.is_none() && !is_expected {
            items.push(item);
        }
    }
    items.sort_by_key(|item| (item.chars, item.position));
    let last = items.len().saturating_sub(1);
    let mut places = vec![0, last / 3, last * 2 / 3, last];
    places.dedup();
    Ok(places.into_iter().filter_map(|at| items.get(at).cloned()).collect())
}

/// Lays out a project over the chosen items below `root`, with batches of this size.
fn laid_out(
    root: &Path,
    original: &Path,
    project: &Project,
    chosen: &[Item],
    batch_items: u32,
) -> std::io::Result<Project> {
    let mut small = project.clone();
    fs_err::create_dir_all(root.join("data/pilote"))?;
    match &mut small.pilot.inputs {
        // The first numbers stand for the chosen ones: a number has no length of its own.
        Inputs::Range { range, needs } => {
            let steps = i64::try_from(chosen.len()).unwrap_or(1).saturating_sub(1);
            range.last =
                range.last.min(range.first.saturating_add(i64::from(range.step).saturating_mul(steps)));
            for path in needs {
                copied(&original.join(&*path), &root.join(&*path))?;
            }
        }
        inputs => {
            let source = Source::new(original, inputs, &project.limits, project.duplicates);
            *inputs =
                crate::commands::sample::copied(root, "data/pilote", (original, inputs), &source, chosen)
                    .map_err(|failure| std::io::Error::other(format!("{:#}", failure.error)))?;
        }
    }
    small.pilot.count = chosen.len() as u64;
    small.pilot.expected_refusals.clear();
    (small.pilot.digests, small.campaign, small.destination, small.quality) = (None, None, None, None);
    match &mut small.engine {
        EngineConfig::Builtin(builtin) => builtin.batch_items = batch_items,
        EngineConfig::Worker(worker) => worker.batch_items = batch_items,
        EngineConfig::OpenAi(server) => server.batch_items = batch_items,
        EngineConfig::Command(command) => command.batch_items = batch_items,
    }
    Ok(small)
}

/// A file, or a folder with everything in it.
fn copied(from: &Path, to: &Path) -> std::io::Result<()> {
    if let Some(parent) = to.parent() {
        fs_err::create_dir_all(parent)?;
    }
    if !from.is_dir() {
        return fs_err::copy(from, to).map(drop);
    }
    fs_err::create_dir_all(to)?;
    for entry in fs_err::read_dir(from)? {
        let entry = entry?;
        copied(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// An engine with an adapter: a server is asked for it in the place of its model and is not started a second time, a
/// worker is told its name. None where the kind of engine takes none.
fn adapted(engine: &EngineConfig, adapter: &NeededAdapter) -> Option<EngineConfig> {
    let mut engine = engine.clone();
    match &mut engine {
        EngineConfig::OpenAi(server) => {
            server.model.clone_from(&adapter.name);
            server.launch = None;
            server.parameters.extend(adapter.parameters.clone());
        }
        EngineConfig::Worker(worker) => {
            worker.parameters.insert("adapter".to_owned(), adapter.name.as_str().into());
            worker.parameters.extend(adapter.parameters.clone());
        }
        EngineConfig::Builtin(_) | EngineConfig::Command(_) => return None,
    }
    Some(engine)
}

/// Outputs by identifier.
type Outputs = BTreeMap<String, Output>;

/// What was read again of a trial.
struct Pass {
    outputs: Outputs,
    refused: Vec<(String, String)>,
}

impl Pass {
    fn read(trial: &Path) -> std::io::Result<Self> {
        let text = |name: &str| fs_err::read_to_string(trial.join(name));
        let results = text("results.jsonl")?;
        let outputs = results
            .lines()
            .filter_map(|line| serde_json::from_str::<ResultLine>(line).ok())
            .map(|line| (line.id.to_string(), line.output))
            .collect();
        let refused = text("refused.jsonl").unwrap_or_default();
        let refused = refused
            .lines()
            .filter_map(|line| serde_json::from_str::<pilote_spec::RefusedLine>(line).ok())
            .map(|line| {
                (line.id.map_or_else(String::new, |id| id.to_string()), line.refusal.reason.to_string())
            })
            .collect();
        Ok(Self { outputs, refused })
    }
}

/// An item alone and in a batch must come out the same: a vector nearly, a category exactly. A generated text may
/// differ, and then says so.
fn differences(alone: &BTreeMap<String, Output>, batch: &BTreeMap<String, Output>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (id, one) in alone {
        let Some(other) = batch.get(id) else { continue };
        let finding = match (one, other) {
            (Output::Vector { values: one, .. }, Output::Vector { values: other, .. }) => {
                let cosine = cosine(one, other);
                (cosine < COSINE_LEAST)
                    .then(|| Finding::fault("items-differ").with("how", format!("cosine {cosine:.4}")))
            }
            (Output::Category { category: one, .. }, Output::Category { category: other, .. }) => {
                (one != other).then(|| Finding::fault("items-differ").with("how", format!("{one} / {other}")))
            }
            (Output::Text { text: one, .. }, Output::Text { text: other, .. }) if one != other => {
                Some(Finding::note("items-vary"))
            }
            (Output::Json { value: one, .. }, Output::Json { value: other, .. }) if one != other => {
                Some(Finding::note("items-vary"))
            }
            _ => None,
        };
        findings.extend(finding.map(|finding| finding.with("id", id)));
    }
    findings
}

fn cosine(one: &[f32], other: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let lengths = (dot(one, one) * dot(other, other)).sqrt();
    if one.len() == other.len() && lengths > 0.0 { dot(one, other) / lengths } else { 0.0 }
}

/// A folder that is gone with this.
struct Scratch(PathBuf);

impl Scratch {
    fn make(surroundings: &Surroundings) -> std::io::Result<Self> {
        let temporary = surroundings.variable("TMPDIR").unwrap_or("/tmp");
        let random = getrandom::u64().map_err(std::io::Error::other)?;
        let path = Path::new(temporary).join(format!("pilote-check-{random:016x}"));
        fs_err::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs_err::remove_dir_all(&self.0);
    }
}

/// The engine that started, for one trial after the other: a trial's end does not stop it.
#[derive(Clone)]
struct Shared {
    engine: Arc<Mutex<Box<dyn Engine>>>,
    facts: EngineFacts,
    in_flight_max: usize,
}

impl Shared {
    fn new(engine: Box<dyn Engine>) -> Self {
        let (facts, in_flight_max) = (engine.facts().clone(), engine.in_flight_max());
        Self { engine: Arc::new(Mutex::new(engine)), facts, in_flight_max }
    }

    fn with<T>(&self, use_it: impl FnOnce(&mut dyn Engine) -> T) -> T {
        use_it(&mut **self.engine.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Engine for Shared {
    fn facts(&self) -> &EngineFacts {
        &self.facts
    }

    fn in_flight_max(&self) -> usize {
        self.in_flight_max
    }

    fn submit(&mut self, batch: Batch) -> Result<(), EngineFault> {
        self.with(|engine| engine.submit(batch))
    }

    fn poll(&mut self, wait: Duration) -> Result<Vec<Event>, EngineFault> {
        self.with(|engine| engine.poll(wait))
    }

    fn stop(&mut self, _how: Stop) -> Result<(), EngineFault> {
        Ok(())
    }
}
