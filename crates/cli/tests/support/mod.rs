//! What tests of the program share.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pilote_engine::process::{GuardProgram, Scratch};
use pilote_engine::worker::Surround;
use pilote_spec::{Clock, Stamp};

/// A clock that runs.
pub struct RealClock(Instant);

impl Clock for RealClock {
    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }

    fn wall(&self) -> Stamp {
        Stamp(0)
    }

    #[expect(clippy::disallowed_methods, reason = "a real clock waits")]
    fn wait(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// A clock for tests of real processes.
#[expect(clippy::disallowed_methods, reason = "processes run in real time")]
pub fn clock() -> Arc<RealClock> {
    Arc::new(RealClock(Instant::now()))
}

/// The repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Path of a worker for tests.
pub fn worker(script: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workers").join(script).display().to_string()
}

/// A worker's parameters, with defaults.
pub fn config(argv: &[&str]) -> pilote_spec::Worker {
    let mut config: pilote_spec::Worker = serde_json::from_value(serde_json::json!({ "command": argv })).unwrap();
    config.environment.insert("PYTHONPATH".into(), repository().join("python").display().to_string());
    config.setup_seconds_max = 120;
    config
}

/// The guard of the real program.
pub fn guard() -> GuardProgram {
    GuardProgram { program: env!("CARGO_BIN_EXE_pilote").into(), arguments: vec!["__guard".into(), "run".into(), "--".into()] }
}

/// What a worker needs.
pub fn surround(folder: &Path) -> Surround {
    let environment: BTreeMap<String, String> = std::env::vars().collect();
    Surround {
        guard: guard(),
        project: folder.to_owned(),
        scratch: Scratch::make(&folder.join("scratch")).unwrap(),
        environment,
        secrets: Vec::new(),
        clock: clock(),
    }
}
