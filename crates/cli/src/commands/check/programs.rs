//! Programs that the ladder asks: each below a guard, with what the engine's own programs would see.

use std::collections::BTreeMap;
use std::path::Path;

use pilote_engine::EngineFault;
use pilote_machine::evidence::{Programs, Said};
use pilote_spec::{EngineConfig, Project};

use crate::surroundings::Surroundings;

/// Bytes kept of a program's output; no driver's listing is as long.
#[cfg(unix)]
const OUT_BYTES_MAX: u64 = 8 << 20;

/// Starts programs for the ladder.
pub(crate) struct Guarded {
    #[cfg(unix)]
    around: pilote_engine::process::Surround,
    /// What the engine's programs get beside what every child gets.
    declared: BTreeMap<String, String>,
    /// Variables that the project hands on by name.
    pass: Vec<String>,
    devices: Vec<String>,
    root: std::path::PathBuf,
}

impl Guarded {
    /// For the engine of a project: its programs see the variables that its engine would see.
    ///
    /// # Errors
    /// When no folder for temporary files can be made.
    pub(crate) fn of(
        project: Option<&Project>,
        root: &Path,
        surroundings: &Surroundings,
    ) -> Result<Self, EngineFault> {
        let (declared, pass, devices) =
            project.map_or_else(Default::default, |project| given(&project.engine));
        let secrets = project.map(|project| project.secrets.clone()).unwrap_or_default();
        Ok(Self {
            #[cfg(unix)]
            around: super::super::engine::surround(root, &secrets, surroundings)?,
            declared,
            pass: pass.into_iter().chain(if cfg!(unix) { Vec::new() } else { secrets }).collect(),
            devices,
            root: root.to_owned(),
        })
    }

    /// The environment of the engine's programs.
    pub(crate) fn environment(&self) -> BTreeMap<String, String> {
        self.launch(&[], &BTreeMap::new()).1
    }

    /// A folder for temporary files, gone with this.
    #[cfg(unix)]
    pub(crate) fn scratch(&self) -> &Path {
        self.around.scratch.path()
    }

    /// Whether there is such a program: relative to the project where it names a path, else on the PATH.
    pub(crate) fn finds(&self, program: &str) -> Option<std::path::PathBuf> {
        if program.contains('/') {
            return Some(self.root.join(program)).filter(|path| path.is_file());
        }
        let path = self.environment().get("PATH").cloned().unwrap_or_default();
        std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
    }

    #[cfg(unix)]
    fn launch(
        &self,
        argv: &[String],
        more: &BTreeMap<String, String>,
    ) -> (pilote_engine::process::Launch, BTreeMap<String, String>) {
        let mut declared = self.declared.clone();
        declared.extend(more.clone());
        let launch = self.around.launch(argv, &declared, &self.pass, &self.devices);
        let environment = launch.environment.clone();
        (launch, environment)
    }

    #[cfg(not(unix))]
    fn launch(&self, _argv: &[String], more: &BTreeMap<String, String>) -> ((), BTreeMap<String, String>) {
        let mut declared = self.declared.clone();
        declared.extend(more.clone());
        ((), declared)
    }
}

/// What an engine's configuration gives to its programs: variables, names that are handed on, devices.
fn given(engine: &EngineConfig) -> (BTreeMap<String, String>, Vec<String>, Vec<String>) {
    match engine {
        EngineConfig::Builtin(_) => Default::default(),
        EngineConfig::Worker(worker) => (worker.environment.clone(), worker.pass.clone(), Vec::new()),
        EngineConfig::OpenAi(server) => server.launch.as_ref().map_or_else(Default::default, |launch| {
            (launch.environment.clone(), launch.pass.clone(), launch.devices.clone())
        }),
        EngineConfig::Command(command) => {
            (command.environment.clone(), command.pass.clone(), command.devices.clone())
        }
    }
}

#[cfg(unix)]
impl Programs for Guarded {
    fn run(&self, argv: &[String], environment: &BTreeMap<String, String>, seconds_max: u32) -> Said {
        use std::io::Read as _;
        use std::sync::mpsc::channel;

        use pilote_engine::process;

        let Some(program) = argv.first() else { return Said { missing: true, ..Said::default() } };
        if self.finds(program).is_none() {
            return Said { missing: true, ..Said::default() };
        }
        let (mut launch, _) = self.launch(argv, environment);
        // Standard output by itself: the guard's child becomes the program, its output on the channel.
        let guard = &self.around.guard;
        let tell = [guard.program.clone().into_os_string()];
        let words = ["__guard", "tell", "--"].map(std::ffi::OsString::from);
        launch.argv = tell.into_iter().chain(words).chain(launch.argv).collect();
        let (mut child, to, from) = match process::Guarded::spawn(guard, &launch) {
            Ok(spawned) => spawned,
            Err(error) => return Said { err: error.to_string(), ..Said::default() },
        };
        let (send, receive) = channel();
        let reading = std::thread::Builder::new().name("output".to_owned()).spawn(move || {
            let mut out = Vec::new();
            let _ = from.take(OUT_BYTES_MAX).read_to_end(&mut out);
            let _ = send.send(out);
        });
        if let Err(error) = reading {
            return Said { err: error.to_string(), ..Said::default() };
        }
        let wait = std::time::Duration::from_secs(u64::from(seconds_max));
        let Ok(out) = receive.recv_timeout(wait) else {
            child.end_now();
            return Said { late: true, err: child.log().last_lines().join("\n"), ..Said::default() };
        };
        // The output is at its end, so the program is, or is about to be.
        let status = child.wait(i64::from(seconds_max)).ok().flatten().and_then(|status| status.code());
        drop(to);
        Said {
            // The guard says 128 and the signal where one ended the program.
            status: status.filter(|status| *status < 128),
            out: child.redacted(&String::from_utf8_lossy(&out)),
            err: child.log().last_lines().join("\n"),
            missing: false,
            late: false,
        }
    }
}

#[cfg(not(unix))]
impl Programs for Guarded {
    fn run(&self, argv: &[String], environment: &BTreeMap<String, String>, _seconds_max: u32) -> Said {
        let [program, arguments @ ..] = argv else { return Said { missing: true, ..Said::default() } };
        let mut command = std::process::Command::new(program);
        command.args(arguments).envs(&self.declared).envs(environment).current_dir(&self.root);
        match command.stdin(std::process::Stdio::null()).output() {
            Ok(output) => Said {
                status: output.status.code(),
                out: String::from_utf8_lossy(&output.stdout).into_owned(),
                err: String::from_utf8_lossy(&output.stderr).into_owned(),
                ..Said::default()
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Said { missing: true, ..Said::default() }
            }
            Err(error) => Said { err: error.to_string(), ..Said::default() },
        }
    }
}
