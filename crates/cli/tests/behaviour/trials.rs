//! Whole trials over every kind of engine, undisturbed and under faults.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pilote_conduct::{Conductor, EndReason, Launch, RunEnd, Settings, Silent};
use pilote_engine::{Engine, EngineFault};
use pilote_ledger::{DirStore, NoFailpoint, Nonce, Owner, ProcessLiveness, read_part, read_vector};
use pilote_spec::{Digest, MachineFacts, Outcome, Output, ProgramFacts, Project, TrialKind};
use serde_json::{Value, json};

use crate::faults::{Done, Fault, Faulty};
use crate::kinds::{Fast, Kind, all};

/// A project with a file for each text, whose engine is given by the test.
struct Bench {
    folder: tempfile::TempDir,
    project: Project,
    texts: BTreeMap<String, String>,
}

impl Bench {
    fn new(kind: &Kind, texts: &[&str], guards: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let inputs = folder.path().join("data/pilote");
        std::fs::create_dir_all(&inputs).unwrap();
        let named = texts.iter().enumerate().map(|(at, text)| (format!("{at:02}.txt"), (*text).to_owned()));
        let texts: BTreeMap<String, String> = named.collect();
        for (name, text) in &texts {
            std::fs::write(inputs.join(name), text).unwrap();
        }
        let project = json!({
            "format": "pilote.project/1", "name": kind.name, "output": kind.output, "guards": guards,
            "pilot": { "inputs": { "directory": "data/pilote" }, "count": texts.len() },
            "engine": { "kind": "worker", "command": ["any"], "batch_items": 4 }
        });
        Self { project: serde_json::from_value(project).unwrap(), folder, texts }
    }

    /// A trial from its launch to its end, over `kind` with `fault`.
    fn run(&self, kind: &Kind, fault: Fault) -> (RunEnd, Arc<Done>) {
        let done = Arc::new(Done::default());
        let mut engine = || -> Result<Box<dyn Engine>, EngineFault> {
            Ok(Box::new(Faulty::new(kind.start(), fault, &done)))
        };
        let owner = Owner::of_this_process(Nonce(u128::from(std::process::id()) << 64 | 1)).unwrap();
        let mut conductor = Conductor {
            clock: &Fast::start(),
            devices: Vec::new(),
            liveness: Arc::new(ProcessLiveness::new(owner.clone())),
            owner,
            interrupt: &AtomicBool::new(false),
            progress: &mut Silent,
            engine: &mut engine,
            settings: Settings { part_items: 16, ..Settings::default() },
            on_step: &pilote_conduct::no_step,
            failpoint: Arc::new(NoFailpoint),
        };
        let launch = Launch {
            root: self.folder.path(),
            project: &self.project,
            config: Digest::of(b"config"),
            program: &ProgramFacts { version: "0".into(), digest: None },
            machine: &MachineFacts::default(),
            environment: None,
        };
        let end = conductor.run(&launch, TrialKind::Pilot, None).unwrap();
        (end, done)
    }

    /// Each outcome is the right one for its own text: accepted with its answer, or refused with the code given here.
    fn audit(&self, kind: &Kind, trial: &Path, refused: &BTreeMap<&str, &str>) -> usize {
        let store = DirStore::open(trial).unwrap();
        let mut outcomes = 0;
        for part in pilote_ledger::parts(&store).unwrap() {
            for record in read_part(&store, part).unwrap().records {
                let text = &self.texts[&record.id.unwrap().0];
                outcomes += 1;
                match record.outcome {
                    Outcome::Accepted(output) => {
                        let values = read_vector(&store, part, &output).unwrap();
                        let output =
                            values.map_or(output, |values| Output::Vector { values, cut_at_tokens: None });
                        assert!(kind.is_right(text, &output), "{}: `{text}` gave {output:?}", kind.name);
                    }
                    Outcome::Refused(refusal) => {
                        let expected = refused.iter().find(|(start, _)| text.starts_with(**start));
                        let code = expected.map(|(_, code)| *code);
                        assert_eq!(Some(refusal.reason.code()), code, "{}: `{text}`: {refusal:?}", kind.name);
                    }
                }
            }
        }
        outcomes
    }
}

fn letters() -> Vec<String> {
    (0..22).map(|at| format!("letter {at} of the harbour{}", " office".repeat(at % 4))).collect()
}

#[test]
fn a_trial_over_any_kind_gives_each_item_its_own_outcome_under_every_fault() {
    for kind in all() {
        let letters = letters();
        let texts: Vec<&str> = letters.iter().map(String::as_str).collect();
        let bench = Bench::new(&kind, &texts, json!({}));
        for fault in Fault::BORNE {
            let (end, done) = bench.run(&kind, fault);
            let said = format!("{} under {fault:?}: {end:?}", kind.name);
            assert_eq!(end.why, EndReason::Done, "{said}");
            assert_eq!((end.counts.accepted, end.counts.refused, end.pending()), (22, 0, 0), "{said}");
            assert_eq!(end.counts.stray, done.strays.load(Ordering::Relaxed), "{said}");
            assert_eq!(bench.audit(&kind, &end.trial, &BTreeMap::new()), 22, "{said}");
            // What was to happen has happened.
            let happened =
                [&done.strays, &done.lost, &done.deaths].map(|count| count.load(Ordering::Relaxed) > 0);
            let expected = match fault {
                Fault::Doubled | Fault::Late | Fault::Stray => [true, false, false],
                Fault::Lost => [false, true, false],
                Fault::Dying => [false, false, true],
                _ => [false, false, false],
            };
            assert_eq!(happened, expected, "{said}");
        }
    }
}

#[test]
fn an_item_that_breaks_any_kind_again_and_again_is_refused_and_the_others_are_accepted() {
    for kind in all().into_iter().filter(|kind| kind.breaks) {
        let bench =
            Bench::new(&kind, &["one", "two", "refuse this", "die now", "five", "six", "seven"], json!({}));
        let (end, _) = bench.run(&kind, Fault::None);
        assert_eq!((end.why, end.counts.accepted, end.counts.refused), (EndReason::Done, 5, 2), "{end:?}");
        let by_engine = if kind.name == "command" { "bad-file" } else { "by-engine" };
        let refused = BTreeMap::from([("refuse", by_engine), ("die", "poison")]);
        assert_eq!(bench.audit(&kind, &end.trial, &refused), 7);
    }
}

/// Guards with a canary and a sample, for a kind.
fn guards(kind: &Kind) -> Value {
    let canary = |text: &str| json!({ "text": text, "expected": kind.expected(text) });
    json!({ "canaries": [canary("a known letter"), canary("another known letter of the office")], "sample": 3 })
}

#[test]
fn guards_over_an_honest_engine_of_any_kind_find_nothing_and_leave_nothing_in_the_results() {
    for kind in all() {
        let letters = letters();
        let texts: Vec<&str> = letters.iter().map(String::as_str).collect();
        let bench = Bench::new(&kind, &texts, guards(&kind));
        for fault in [Fault::None, Fault::Delayed, Fault::Dying] {
            let (end, _) = bench.run(&kind, fault);
            let said = format!("{} under {fault:?}: {end:?}", kind.name);
            assert_eq!((end.why, end.counts.accepted, end.counts.stray), (EndReason::Done, 22, 0), "{said}");
            assert_eq!(bench.audit(&kind, &end.trial, &BTreeMap::new()), 22, "{said}");
            assert!(events(&end.trial).contains("guards-agreed"), "{said}");
        }
    }
}

#[test]
fn answers_that_change_places_within_a_batch_are_found_in_any_kind_before_one_of_them_is_recorded() {
    for kind in all() {
        let letters = letters();
        let texts: Vec<&str> = letters.iter().map(String::as_str).collect();
        let guards = guards(&kind);
        // Two canaries asked before the first item would already tell: here the sample and the batches have to.
        let one = json!({ "canaries": [guards["canaries"][0]], "sample": 0 });
        let bench = Bench::new(&kind, &texts, one);
        let (end, _) = bench.run(&kind, Fault::Swapped);
        assert_eq!((end.why, end.exit()), (EndReason::Guard, 4), "{}: {end:?}", kind.name);
        assert_eq!((end.counts.accepted, end.pending()), (0, 22), "{}: {end:?}", kind.name);
        let fault = end.first_fault.unwrap();
        assert!(fault.first_error.starts_with("canary 0 (from 0), `a known letter`"), "{fault}");
        assert!(
            events(&end.trial).contains("\"event\":\"failed\",\"step\":\"guard\""),
            "{}",
            events(&end.trial)
        );
        // One item of each of several batches: the small model knows few words, and gives some letters one vector.
        let bench = Bench::new(&kind, &texts, json!({ "sample": 8, "tolerance": 1e-6 }));
        let (end, _) = bench.run(&kind, Fault::Swapped);
        assert_eq!(end.why, EndReason::Guard, "{}: a sample alone", kind.name);
    }
}

fn events(trial: &Path) -> String {
    let files = std::fs::read_dir(trial.join("events")).unwrap();
    files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect()
}
