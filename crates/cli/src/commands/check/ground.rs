//! The rungs that judge facts: what each needs is collected when its turn comes, from this machine or from a file.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use pilote_machine::demands::Demands;
use pilote_machine::evidence::{Look, Programs as _, Reader, Said};
use pilote_machine::ladder::{Judgement, Rung};
use pilote_machine::probe::{PROBE, PROBE_NAME, Step};
use pilote_machine::verdict::RungCode;
use pilote_machine::{Facts, probe, rungs};
use pilote_spec::{Clock, NeededBackend};
use serde_json::json;

use super::index;
use super::programs::Guarded;

/// Seconds for a declared program, a licence or preprocessing.
const PROGRAM_SECONDS_MAX: u32 = 120;

/// Where the facts come from.
pub(crate) enum Source<'a> {
    /// A file; nothing more is collected.
    File,
    /// This machine.
    Here(Box<Here<'a>>),
}

/// What it takes to read this machine.
pub(crate) struct Here<'a> {
    /// Its root.
    pub machine: PathBuf,
    /// The list of what is copied.
    pub look: Look,
    /// Starts programs.
    pub programs: &'a Guarded,
    /// The clock.
    pub clock: &'a dyn Clock,
    /// The project.
    pub root: &'a Path,
    /// Where models are kept.
    pub cache: &'a Path,
}

/// Facts as far as they were collected, and what is asked for.
pub(crate) struct Ground<'a> {
    /// The facts.
    pub facts: Facts,
    /// What is asked for.
    pub demands: Demands,
    /// Where more of them come from.
    pub source: Source<'a>,
}

/// A rung that judges facts.
pub(crate) struct FactRung<'a> {
    /// Which one.
    pub code: RungCode,
    /// What all of them stand on.
    pub ground: Rc<RefCell<Ground<'a>>>,
}

impl Rung for FactRung<'_> {
    fn code(&self) -> RungCode {
        self.code
    }

    fn judge(&mut self) -> Judgement {
        let mut ground = self.ground.borrow_mut();
        ground.collect(self.code);
        let judgement = rungs::judge(self.code, &ground.facts, &ground.demands);
        index::named(judgement, &ground.facts, &ground.demands)
    }
}

impl Ground<'_> {
    /// Collects what tells this machine from others: its files, and its cards where there are some.
    pub(crate) fn identify(&mut self) {
        if let Source::Here(here) = &self.source {
            here.machine(&mut self.facts);
            here.cards(&mut self.facts, &self.demands);
        }
    }

    /// Collects what a rung judges, once.
    fn collect(&mut self, rung: RungCode) {
        let Source::Here(here) = &self.source else { return };
        let (facts, demands) = (&mut self.facts, &self.demands);
        here.machine(facts);
        // A climb that began further up has not asked it yet, and these rungs judge by it.
        if matches!(
            rung,
            RungCode::Interpreter
                | RungCode::Environment
                | RungCode::Wheel
                | RungCode::Capability
                | RungCode::Computation
                | RungCode::Extensions
        ) {
            here.step(facts, demands, Step::Interpreter);
        }
        match rung {
            RungCode::Environment => here.declared(facts, demands),
            RungCode::Fabric => here.ask(facts, "fabric"),
            RungCode::Cards | RungCode::Memory => here.cards(facts, demands),
            RungCode::Order => here.ask(facts, "cards"),
            RungCode::Wheel | RungCode::Capability => {
                here.cards(facts, demands);
                here.torch(facts, demands);
            }
            RungCode::Computation => {
                if demands.cards_of(facts) == Some(NeededBackend::Cuda) {
                    here.step(facts, demands, Step::Driver);
                }
                here.cards(facts, demands);
                here.torch(facts, demands);
                here.step(facts, demands, Step::Compute);
            }
            RungCode::Peers => here.peers(facts, demands),
            RungCode::Extensions if !demands.needs.extensions.is_empty() => {
                here.step(facts, demands, Step::Extensions);
            }
            RungCode::Preprocessing => here.preprocessing(facts, demands),
            _ => {}
        }
    }
}

impl Here<'_> {
    fn reader<'r>(&'r self, variables: &'r std::collections::BTreeMap<String, String>) -> Reader<'r> {
        Reader {
            root: &self.machine,
            look: &self.look,
            programs: self.programs,
            variables,
            clock: self.clock,
        }
    }

    /// Everything that needs no program of a driver.
    fn machine(&self, facts: &mut Facts) {
        if !facts.steps.insert("machine".to_owned()) {
            return;
        }
        let variables = self.programs.environment();
        let reader = self.reader(&variables);
        facts.machine = reader.still();
        let temporary = variables.get("TMPDIR").map_or("/tmp", String::as_str);
        let places = [
            ("runs", self.root.join("runs"), true),
            ("cache", self.cache.to_owned(), false),
            ("temporary", PathBuf::from(temporary), false),
            ("shared", self.machine.join("dev/shm"), false),
        ];
        for (name, folder, write) in places {
            facts.machine.room.insert(name.to_owned(), reader.room(&folder, write));
        }
        self.ask(facts, "system");
    }

    fn ask(&self, facts: &mut Facts, step: &str) {
        if facts.steps.insert(step.to_owned()) {
            let variables = self.programs.environment();
            let said = self.reader(&variables).ask(step, &facts.machine);
            facts.machine.said.extend(said);
        }
    }

    /// The drivers' programs, where a card is asked for or there is one.
    fn cards(&self, facts: &mut Facts, demands: &Demands) {
        if demands.cards_of(facts).is_some() {
            self.ask(facts, "cards");
        }
    }

    /// PyTorch; not imported where it is not installed.
    fn torch(&self, facts: &mut Facts, demands: &Demands) {
        if facts.took("interpreter") && !facts.packages.iter().any(|package| package.name == "torch") {
            facts.steps.insert(Step::Torch.code().to_owned());
            return;
        }
        self.step(facts, demands, Step::Torch);
    }

    /// What passes between cards, where several computed.
    fn peers(&self, facts: &mut Facts, demands: &Demands) {
        self.step(facts, demands, Step::Compute);
        if facts.computations.iter().any(|row| row.device == "cuda:1") {
            self.step(facts, demands, Step::Peers);
        }
    }

    /// One step of the probe, through the project's interpreter.
    fn step(&self, facts: &mut Facts, demands: &Demands, step: Step) {
        let Some(interpreter) = &demands.interpreter else { return };
        if facts.took(step.code()) || facts.ended.contains_key(step.code()) {
            return;
        }
        let request = json!({
            "project": self.root,
            "packages": demands.pinned.iter().map(|pinned| &pinned.name).collect::<Vec<_>>(),
            // Where the project's own scripts stand, and so what they import first.
            "folders": ["src"],
            "backend": demands.backend.map_or("", NeededBackend::code),
            "extensions": demands.needs.extensions,
        });
        let said = match self.probe() {
            Ok(path) => {
                let words =
                    [interpreter.as_str(), &path, "--here", step.code(), "--request", &request.to_string()];
                let argv: Vec<String> = words.into_iter().map(str::to_owned).collect();
                self.programs.run(&argv, &std::collections::BTreeMap::new(), step.seconds_max())
            }
            Err(error) => Said { err: error.to_string(), ..Said::default() },
        };
        if said.good().is_none_or(|out| probe::take(facts, step, out).is_err()) {
            facts.ended.insert(step.code().to_owned(), said);
        }
    }

    /// The probe as a file, where the interpreter finds it.
    fn probe(&self) -> std::io::Result<String> {
        #[cfg(unix)]
        let folder = self.programs.scratch().to_owned();
        #[cfg(not(unix))]
        let folder = self.cache.to_owned();
        let path = folder.join(PROBE_NAME);
        fs_err::create_dir_all(&folder)?;
        fs_err::write(&path, PROBE)?;
        Ok(path.display().to_string())
    }

    /// Declared programs and licences.
    fn declared(&self, facts: &mut Facts, demands: &Demands) {
        for (kind, programs) in [("program", &demands.needs.programs), ("licence", &demands.needs.licences)] {
            for program in programs {
                let said = self.programs.run(&program.command, &Default::default(), PROGRAM_SECONDS_MAX);
                facts.programs.insert(format!("{kind}:{}", program.name), said);
            }
        }
    }

    fn preprocessing(&self, facts: &mut Facts, demands: &Demands) {
        if let Some(known) = &demands.needs.preprocessing {
            let said = self.programs.run(&known.command, &Default::default(), PROGRAM_SECONDS_MAX);
            facts.programs.insert("preprocessing:".to_owned(), said);
        }
    }
}
