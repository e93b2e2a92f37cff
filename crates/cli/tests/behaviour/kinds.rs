//! The four kinds of engine, each made to do the same: give a text back in capitals, or vectors where that is all it
//! can; refuse what begins with `refuse`; break on what begins with `die`, where it can break.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pilote_engine::builtin::Builtin;
use pilote_engine::command::CommandEngine;
use pilote_engine::model::{Environment, ModelStore};
use pilote_engine::openai::ServerEngine;
use pilote_engine::process::{Scratch, Surround};
use pilote_engine::worker::WorkerEngine;
use pilote_engine::{Answer, Batch, BatchId, Content, Engine, Event, Request, WireId};
use pilote_spec::{Clock, Limits, Output, OutputSpec, Stamp};
use serde_json::{Value, json};

use crate::server::{FakeServer, chat, status};
use crate::support;

/// Starts an engine of a kind.
type Start = Box<dyn Fn(&Kind) -> Box<dyn Engine>>;

/// One kind of engine, ready to be started any number of times.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) output: OutputSpec,
    /// Whether an item can end the engine, or its program.
    pub(crate) breaks: bool,
    start: Start,
    /// What the engine gives for a text; computed once for the kind that gives vectors.
    right: Box<dyn Fn(&str) -> Output>,
    folder: tempfile::TempDir,
    starts: std::cell::Cell<u32>,
}

impl Kind {
    pub(crate) fn start(&self) -> Box<dyn Engine> {
        (self.start)(self)
    }

    /// What the engine gives for a text.
    pub(crate) fn right(&self, text: &str) -> Output {
        (self.right)(text)
    }

    /// Whether `output` is the answer to `text`; vectors under other neighbours differ in their last digits.
    pub(crate) fn is_right(&self, text: &str, output: &Output) -> bool {
        match (self.right(text), output) {
            (Output::Vector { values, .. }, Output::Vector { values: seen, .. }) => {
                values.len() == seen.len() && values.iter().zip(seen).all(|(a, b)| (a - b).abs() < 1e-4)
            }
            (Output::Text { text, .. }, Output::Text { text: seen, .. }) => text == *seen,
            _ => false,
        }
    }

    /// The answer of a canary, as the configuration declares it.
    pub(crate) fn expected(&self, text: &str) -> Value {
        match self.right(text) {
            Output::Vector { values, .. } => json!(values),
            Output::Text { text, .. } => json!(text),
            other => panic!("{other:?}"),
        }
    }

    /// A world of its own for each start.
    fn surround(&self) -> Surround {
        self.starts.set(self.starts.get() + 1);
        let scratch = self.folder.path().join(format!("scratch-{}", self.starts.get()));
        Surround {
            guard: support::guard(),
            project: self.folder.path().to_owned(),
            scratch: Scratch::make(&scratch).unwrap(),
            environment: std::env::vars().collect(),
            secrets: Vec::new(),
            clock: Arc::new(Fast::start()),
        }
    }
}

/// A clock that runs a hundred times as fast, so that no test waits for a retry.
pub(crate) struct Fast(Instant);

impl Fast {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for Fast {
    fn monotonic(&self) -> Duration {
        self.0.elapsed() * 100
    }

    fn wall(&self) -> Stamp {
        Stamp(0)
    }

    fn wait(&self, time: Duration) {
        std::thread::sleep(time / 100);
    }
}

/// Every kind.
pub(crate) fn all() -> Vec<Kind> {
    vec![builtin(), worker(), command(), server()]
}

fn kind(
    name: &'static str,
    output: OutputSpec,
    start: impl Fn(&Kind) -> Box<dyn Engine> + 'static,
    right: impl Fn(&str) -> Output + 'static,
) -> Kind {
    Kind {
        name,
        breaks: name != "builtin",
        output,
        start: Box::new(start),
        right: Box::new(right),
        folder: tempfile::tempdir().unwrap(),
        starts: std::cell::Cell::new(0),
    }
}

fn in_capitals(text: &str) -> Output {
    Output::Text { text: text.to_uppercase(), made_with: BTreeMap::new() }
}

fn builtin() -> Kind {
    let start = || {
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/tests/fixtures/tiny-bert");
        let mut environment = Environment::read(Path::new("/"), |_| None);
        environment.offline = true;
        let store = ModelStore::new(&PathBuf::from("/nonexistent"), environment, support::clock(), |_| {});
        let model = store.resolve(&[format!("path:{}", model.display())], &BTreeMap::new()).unwrap();
        let config = json!({ "task": "embed", "model": ["path:m"], "threads": 1 });
        let config: pilote_spec::Builtin = serde_json::from_value(config).unwrap();
        let output = OutputSpec::Vector { width: 128 };
        Builtin::start(&config, &output, &Limits::default(), model, support::clock()).unwrap()
    };
    // Each text alone, by an engine of its own: what the same text gives in any batch.
    let reference = std::cell::RefCell::new((start(), BTreeMap::<String, Output>::new()));
    let right = move |text: &str| {
        let (engine, known) = &mut *reference.borrow_mut();
        if let Some(output) = known.get(text) {
            return output.clone();
        }
        let requests = vec![Request::new(WireId(1), Content::Text(text.to_owned()))];
        engine.submit(Batch { id: BatchId(1), requests }).unwrap();
        let mut output = None;
        loop {
            for event in engine.poll(Duration::from_secs(60)).unwrap() {
                match event {
                    Event::Answer { answer: Answer::Output(seen), .. } => output = Some(seen),
                    Event::Finished { .. } => {
                        let output = output.expect("a text that is answered");
                        known.insert(text.to_owned(), output.clone());
                        return output;
                    }
                    other => panic!("{text}: {other:?}"),
                }
            }
        }
    };
    kind("builtin", OutputSpec::Vector { width: 128 }, move |_| Box::new(start()), right)
}

fn worker() -> Kind {
    let start = |kind: &Kind| -> Box<dyn Engine> {
        let config = support::config(&["python3", &support::worker("suite.py")]);
        Box::new(WorkerEngine::start(&config, &kind.output, kind.surround()).unwrap())
    };
    kind("worker", OutputSpec::Text {}, start, in_capitals)
}

fn command() -> Kind {
    let start = |kind: &Kind| -> Box<dyn Engine> {
        let script = r#"t=$(cat "$0"); case "$t" in refuse*) exit 0;; die*) kill -9 $$;; esac; printf %s "${t^^}" > "$1""#;
        let config = json!({ "command": ["bash", "-c", script, "{input}", "{output}"], "slots": 2 });
        let config = serde_json::from_value(config).unwrap();
        Box::new(CommandEngine::start(&config, &kind.output, kind.surround()).unwrap())
    };
    kind("command", OutputSpec::Text {}, start, in_capitals)
}

fn server() -> Kind {
    let server = FakeServer::start(|asked| {
        let text = asked.text();
        if text.starts_with("refuse") {
            status(400, "told to refuse")
        } else if text.starts_with("die") {
            crate::server::Say::Reset
        } else {
            chat(&text.to_uppercase(), "stop")
        }
    });
    let start = move |kind: &Kind| -> Box<dyn Engine> {
        let config =
            json!({ "endpoints": [server.endpoint], "task": "chat", "model": "m-1", "concurrency": 2 });
        let config = serde_json::from_value(config).unwrap();
        Box::new(ServerEngine::start(&config, &kind.output, &kind.surround(), 7).unwrap())
    };
    kind("openai", OutputSpec::Text {}, start, in_capitals)
}
