//! What tests of the program share.

#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(unreachable_pub, reason = "the same")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pilote_engine::process::{GuardProgram, Scratch, Surround};
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
    let mut config: pilote_spec::Worker =
        serde_json::from_value(serde_json::json!({ "command": argv })).unwrap();
    config.environment.insert("PYTHONPATH".into(), repository().join("python").display().to_string());
    config.setup_seconds_max = 120;
    config
}

/// The guard of the real program.
pub fn guard() -> GuardProgram {
    GuardProgram { program: env!("CARGO_BIN_EXE_pilote").into(), arguments: vec!["__guard".into()] }
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

/// Whether no living process has this number.
pub fn is_gone(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

/// Waits for something that other processes bring about; panics after a minute.
#[expect(clippy::disallowed_methods, reason = "other processes tell of themselves by files alone")]
pub fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "nothing came of it within a minute");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A small project in a folder of its own.
pub struct Trial(tempfile::TempDir, PathBuf);

impl Trial {
    /// A project with one file for each text.
    pub fn new(output: &str, engine: &serde_json::Value, texts: &[&str]) -> Self {
        let inputs = serde_json::json!({ "directory": "data/pilote" });
        let trial = Self::with_inputs(output, engine, &inputs, texts.len());
        for (number, text) in texts.iter().enumerate() {
            trial.write(&format!("data/pilote/{number}.txt"), text.as_bytes());
        }
        trial
    }

    /// A project with these inputs, whose files are still to be written.
    pub fn with_inputs(
        output: &str,
        engine: &serde_json::Value,
        inputs: &serde_json::Value,
        count: usize,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("data/pilote")).unwrap();
        std::fs::create_dir_all(folder.path().join("config")).unwrap();
        let output: serde_json::Value = serde_json::from_str(output).unwrap();
        let project = serde_json::json!({
            "format": "pilote.project/1", "name": "a test", "output": output, "engine": engine,
            "pilot": { "inputs": inputs, "count": count },
        });
        std::fs::write(folder.path().join("config/pilote.json"), project.to_string()).unwrap();
        let root = folder.path().to_owned();
        Self(folder, root)
    }

    /// Writes a file of the project.
    pub fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// The project's folder.
    pub fn root(&self) -> &Path {
        &self.1
    }

    /// The same in a folder with this name.
    pub fn moved(mut self, name: &str) -> Self {
        let to = self.0.path().join(name);
        std::fs::create_dir(&to).unwrap();
        for part in ["config", "data"] {
            std::fs::rename(self.root().join(part), to.join(part)).unwrap();
        }
        self.1 = to;
        self
    }

    /// Declares one more key of the configuration.
    pub fn declare(&self, key: &str, value: serde_json::Value) {
        let path = self.root().join("config/pilote.json");
        let mut project: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        project[key] = value;
        std::fs::write(&path, project.to_string()).unwrap();
    }

    /// Every file below runs/, its bytes read as text.
    pub fn written(&self) -> Vec<(PathBuf, String)> {
        let (mut folders, mut files) = (vec![self.root().join("runs")], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                    files.push((path, text));
                }
            }
        }
        files
    }

    /// Runs its pilot to its end.
    pub fn run(&self, arguments: &[&str]) -> Came {
        self.run_around(&[], arguments, &[])
    }

    /// Runs its pilot to its end, with these variables in the environment.
    pub fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Came {
        self.run_around(&[], arguments, variables)
    }

    /// Runs its pilot to its end, started by another program.
    pub fn run_below(&self, starter: &[&str], arguments: &[&str]) -> Came {
        self.run_around(starter, arguments, &[])
    }

    fn run_around(&self, starter: &[&str], arguments: &[&str], variables: &[(&str, &str)]) -> Came {
        let words: Vec<&str> = starter.iter().copied().chain([env!("CARGO_BIN_EXE_pilote")]).collect();
        let output = std::process::Command::new(words[0])
            .args(&words[1..])
            .args(["run", "--project"])
            .arg(self.root())
            .args(arguments)
            .envs(variables.iter().copied())
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Came {
            status: output.status.code().unwrap(),
            said: format!("{}\n{}", text(&output.stdout), text(&output.stderr)),
            object: text(&output.stdout),
        }
    }
}

/// What a run came to.
pub struct Came {
    /// The exit status.
    pub status: i32,
    /// Everything that was printed.
    pub said: String,
    object: String,
}

impl Came {
    /// The object on standard output.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.object).unwrap_or_else(|error| panic!("{error}: {}", self.said))
    }

    /// The trial's directory.
    pub fn trial(&self) -> PathBuf {
        PathBuf::from(self.json()["trial"].as_str().unwrap())
    }

    /// The lines of a file of the trial.
    pub fn lines(&self, name: &str) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.trial().join(name))
            .unwrap_or_else(|_| panic!("{name}: {}", self.said));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
