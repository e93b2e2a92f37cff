//! Everything that the program takes from the machine it runs on, read once: environment, folder, clock, chance,
//! signals and terminals. Nothing below the cli reads any of it.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use pilote_spec::{Clock, ProgramFacts, Stamp};

use crate::failure::Failure;

/// The machine's clock.
pub(crate) struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// A clock whose monotonic origin is now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    pub(crate) fn start() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn monotonic(&self) -> Duration {
        self.origin.elapsed()
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn wall(&self) -> Stamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Stamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that waits on the machine's clock")]
    fn wait(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// What was read at the start.
pub(crate) struct Surroundings {
    /// The environment's variables that are UTF-8.
    pub variables: BTreeMap<String, String>,
    /// The folder in which the program was started.
    pub folder: PathBuf,
    /// The clock.
    pub clock: Arc<SystemClock>,
    /// Set by the first interrupt; the second one ends the program.
    pub interrupt: Arc<AtomicBool>,
    /// Whether standard error is a terminal.
    pub stderr_is_terminal: bool,
}

impl Surroundings {
    /// Reads them.
    ///
    /// # Errors
    /// When the current folder is gone.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the environment and the current folder"
    )]
    pub(crate) fn read() -> Result<Self, Failure> {
        let folder =
            std::env::current_dir().context("the current folder cannot be read").map_err(|error| {
                Failure::request("no-current-folder", error).hint("change to a folder that exists")
            })?;
        Ok(Self {
            variables: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
            folder,
            clock: Arc::new(SystemClock::start()),
            interrupt: Arc::new(AtomicBool::new(false)),
            stderr_is_terminal: std::io::stderr().is_terminal(),
        })
    }

    /// From now on the first interrupt asks for an orderly stop. Commands that cannot stop in order never call this,
    /// so that an interrupt ends them as it ends any program.
    ///
    /// # Errors
    /// When signals cannot be watched.
    pub(crate) fn heed_interrupts(&self) -> Result<(), Failure> {
        watch_signals(&self.interrupt).map_err(|error| Failure::machine("signals", error))
    }

    /// A variable that is set and not empty.
    #[must_use]
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Where models are kept unless the command line says otherwise: below the user's cache.
    ///
    /// # Errors
    /// When neither `XDG_CACHE_HOME` nor `HOME` is set.
    pub(crate) fn model_cache(&self, asked: Option<&Path>) -> Result<PathBuf, Failure> {
        if let Some(asked) = asked {
            return Ok(self.folder.join(asked));
        }
        let cache =
            match (self.variable("PILOTE_CACHE"), self.variable("XDG_CACHE_HOME"), self.variable("HOME")) {
                (Some(ours), _, _) => self.folder.join(ours),
                (None, Some(cache), _) => self.folder.join(cache).join("pilote"),
                (None, None, Some(home)) => Path::new(home).join(".cache/pilote"),
                (None, None, None) => {
                    return Err(Failure::request(
                        "no-cache",
                        anyhow::anyhow!("no folder to keep models in: HOME is not set"),
                    )
                    .hint("name one with --cache DIR"));
                }
            };
        Ok(cache.join("models"))
    }

    /// Sixteen bytes of chance: the identity of this run of the program.
    ///
    /// # Errors
    /// When the machine gives no random bytes.
    pub(crate) fn chance(&self) -> Result<u128, Failure> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .context("the machine gives no random bytes")
            .map_err(|error| Failure::machine("no-random-bytes", error))?;
        Ok(u128::from_le_bytes(bytes))
    }
}

/// The program that runs: version, and digest of its executable where that can be read.
#[must_use]
pub(crate) fn program() -> ProgramFacts {
    let digest = std::env::current_exe().ok().and_then(|path| {
        let mut hasher = pilote_spec::Hasher::new();
        std::io::copy(&mut fs_err::File::open(path).ok()?, &mut hasher).ok()?;
        Some(hasher.finish())
    });
    ProgramFacts { version: env!("CARGO_PKG_VERSION").to_owned(), digest }
}

/// Signals that ask for an orderly stop, a closed terminal among them, with the status of a shell for each.
const WATCHED: [(i32, i32); 3] = [
    (signal_hook::consts::SIGINT, 130),
    (signal_hook::consts::SIGTERM, 143),
    (signal_hook::consts::SIGHUP, 129),
];

/// The first interrupt sets the flag; one that comes when it is set ends the program with the status that a shell
/// expects.
fn watch_signals(interrupt: &Arc<AtomicBool>) -> anyhow::Result<()> {
    for (signal, status) in WATCHED {
        signal_hook::flag::register_conditional_shutdown(signal, status, Arc::clone(interrupt))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(interrupt)))
            .context("interrupts cannot be watched")?;
    }
    Ok(())
}
