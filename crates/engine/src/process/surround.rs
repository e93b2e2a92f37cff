//! What every child gets of the world around Pilote, and what it does not.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use pilote_spec::Clock;

use super::{GuardProgram, Launch, Scratch, Secret};

/// Variables that every child gets where they are set.
const ALWAYS: [&str; 6] = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH"];
/// Bytes of one line of a secret below which it is not looked for alone.
const SECRET_LINE_BYTES_MIN: usize = 8;
/// Variables by which drivers are told which devices a program sees.
const DEVICES: [&str; 2] = ["CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"];

/// What an engine that starts programs needs beside its declared parameters.
pub struct Surround {
    /// The program that guards them.
    pub guard: GuardProgram,
    /// The project's folder: their working folder.
    pub project: PathBuf,
    /// Where texts and files pass between them and Pilote.
    pub scratch: Scratch,
    /// The whole environment of `pilote`; a child sees only what is declared.
    pub environment: BTreeMap<String, String>,
    /// Names of the variables that hold secrets; every child gets them, and no log shows them.
    pub secrets: Vec<String>,
    /// The clock of deadlines.
    pub clock: Arc<dyn Clock>,
}

impl Surround {
    /// A program with the environment that is declared for it, and the devices that it alone sees, where any are.
    #[must_use]
    pub fn launch(
        &self,
        command: &[String],
        declared: &BTreeMap<String, String>,
        pass: &[String],
        devices: &[String],
    ) -> Launch {
        let names = pass.iter().chain(&self.secrets).map(String::as_str).chain(ALWAYS);
        let mut environment: BTreeMap<String, String> =
            names.filter_map(|name| Some((name.to_owned(), self.environment.get(name)?.clone()))).collect();
        environment.extend(visible(devices));
        environment.extend(declared.clone());
        Launch {
            argv: command.iter().map(OsString::from).collect(),
            environment,
            folder: self.project.clone(),
            secrets: self.known_secrets(),
        }
    }

    /// The declared secrets that are set. Of one with several lines each line is a secret too, since a log is read
    /// line by line; very short lines are none, as the brackets of a JSON key would be.
    fn known_secrets(&self) -> Vec<Secret> {
        let set = self.secrets.iter().filter_map(|name| Some((name, self.environment.get(name)?)));
        set.flat_map(|(name, value)| {
            let lines = value.lines().map(str::trim).filter(|line| line.len() >= SECRET_LINE_BYTES_MIN);
            let lines = lines.filter(|_| value.contains('\n'));
            std::iter::once(value.as_str())
                .chain(lines)
                .map(|value| Secret { name: name.clone(), value: value.to_owned() })
                .collect::<Vec<_>>()
        })
        .collect()
    }
}

/// The variables that let a program see these devices alone; none where no device is declared.
#[must_use]
pub fn visible(devices: &[String]) -> BTreeMap<String, String> {
    if devices.is_empty() {
        return BTreeMap::new();
    }
    DEVICES.into_iter().map(|name| (name.to_owned(), devices.join(","))).collect()
}
