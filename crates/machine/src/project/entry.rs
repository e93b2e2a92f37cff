//! The entry command and its paths, paths into somebody's home, and steps that only a notebook holds.

use std::path::Path;

use pilote_spec::{EngineConfig, Project};

use super::walk::Folder;
use crate::verdict::Finding;

/// Folders of every system of a kind, which a command may name.
const OF_EVERY_SYSTEM: [&str; 8] = ["/usr/", "/bin/", "/opt/", "/dev/", "/proc/", "/sys/", "/etc/", "/lib"];

/// Endings of files that a command reads, so that an argument is known for a path of the project.
const FILE_ENDINGS: [&str; 12] =
    [".py", ".sh", ".blend", ".json", ".yaml", ".yml", ".toml", ".jinja", ".txt", ".js", ".pl", ".rb"];

/// Programs that run a notebook.
const NOTEBOOK_PROGRAMS: [&str; 4] = ["jupyter", "nbconvert", "papermill", "ipython"];

/// Every command that a project declares, with the key that it stands under.
fn commands(project: &Project) -> Vec<(String, &Vec<String>)> {
    let mut commands = Vec::new();
    match &project.engine {
        EngineConfig::Builtin(_) => {}
        EngineConfig::Worker(worker) => commands.push(("engine.command".to_owned(), &worker.command)),
        EngineConfig::OpenAi(server) => {
            commands.extend(server.launch.iter().map(|it| ("engine.launch.command".to_owned(), &it.command)));
        }
        EngineConfig::Command(command) => commands.push(("engine.command".to_owned(), &command.command)),
    }
    if let Some(needs) = &project.needs {
        let known = needs.preprocessing.iter();
        commands.extend(known.map(|known| ("needs.preprocessing.command".to_owned(), &known.command)));
    }
    commands
}

/// Paths of the commands: relative to the project, and existing.
pub(super) fn entry(root: &Path, project: &Project) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (key, command) in commands(project) {
        for (at, argument) in command.iter().enumerate() {
            // `--config=src/x.json` names a path as well as `src/x.json` does.
            let path = argument.rsplit_once('=').map_or(argument.as_str(), |(_, path)| path);
            if path.contains('{') || path.contains("://") || path.starts_with('-') {
                continue;
            }
            let about = |finding: Finding| finding.with("key", &key).with("path", path);
            if path.starts_with('/') || is_drive(path) {
                if !OF_EVERY_SYSTEM.iter().any(|start| path.starts_with(start)) {
                    findings.push(about(Finding::fault("path-absolute")));
                }
                continue;
            }
            if leaves(path) {
                findings.push(about(Finding::fault("path-outside")));
                continue;
            }
            // An environment is made anew on each machine; whether it is there is the interpreter's rung.
            let in_environment = ["venv/", ".venv/", "env/"]
                .iter()
                .any(|start| path.trim_start_matches("./").starts_with(start));
            let is_path = (at == 0 && path.contains('/'))
                || FILE_ENDINGS.iter().any(|ending| path.to_lowercase().ends_with(ending));
            if is_path && !in_environment && !root.join(path).exists() {
                findings.push(about(Finding::fault("entry-missing")));
            }
        }
        if findings.is_empty() {
            findings.push(Finding::seen("entry").with("command", command.join(" ")));
        }
    }
    if let Some(needs) = &project.needs {
        let checks = needs.extensions.iter().filter_map(|extension| extension.check.as_ref());
        let missing = checks.filter(|check| !root.join(check).is_file());
        findings.extend(missing.map(|check| {
            Finding::fault("entry-missing").with("key", "needs.extensions").with("path", check)
        }));
    }
    findings
}

fn is_drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'/' | b'\\')
}

fn leaves(path: &str) -> bool {
    let mut depth = 0_i32;
    path.split('/').any(|part| {
        match part {
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
        depth < 0
    })
}

/// Kinds of files that run or configure something; prose may speak of any path.
const CODE_ENDINGS: [&str; 14] = [
    ".py", ".sh", ".bash", ".json", ".toml", ".yaml", ".yml", ".ipynb", ".cfg", ".ini", ".txt", ".env",
    ".js", ".rs",
];

/// Paths into somebody's home, in code and configuration: the next machine has no such person.
pub(super) fn homes(folder: &Folder) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_code = |path: &str| {
        !path.starts_with("data/") && CODE_ENDINGS.iter().any(|ending| path.to_lowercase().ends_with(ending))
    };
    for (path, bytes) in folder.files.iter().filter(|(path, _)| is_code(path)) {
        let Ok(text) = folder.text(path, *bytes) else { continue };
        for (number, line) in text.lines().enumerate() {
            if let Some(home) = home_in(line) {
                let place = format!("{path}:{}", number + 1);
                findings.push(Finding::fault("path-home").with("place", place).with("path", home));
                break;
            }
        }
    }
    findings
}

/// The first path into a home directory on a line, cut after the person's name.
fn home_in(line: &str) -> Option<String> {
    for start in ["/home/", "/Users/", "/root/", ":\\Users\\", ":\\\\Users\\\\", ":/Users/"] {
        for (at, _) in line.match_indices(start) {
            let before = line[..at].chars().next_back();
            // Part of a longer path or an address, unless a drive's letter stands before it.
            if !start.starts_with(':')
                && before.is_some_and(|c| {
                    c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '$' | '}' | '>')
                })
            {
                continue;
            }
            let rest = &line[at + start.len()..];
            let name: String =
                rest.chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.')).collect();
            if !name.is_empty() {
                return Some(format!("{start}{name}"));
            }
        }
    }
    None
}

/// A step that only a notebook holds is run by hand, in an order that nothing keeps.
pub(super) fn notebooks(folder: &Folder, project: &Project) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (key, command) in commands(project) {
        let runs_one = command.iter().any(|word| {
            let name = word.rsplit('/').next().unwrap_or(word);
            NOTEBOOK_PROGRAMS.contains(&name) || word.to_lowercase().ends_with(".ipynb")
        });
        if runs_one {
            findings
                .push(Finding::fault("notebook-entry").with("key", key).with("command", command.join(" ")));
        }
    }
    let has_script = |stem: &str| {
        folder.files.iter().any(|(path, _)| {
            let name = path.rsplit('/').next().unwrap_or(path);
            name.strip_suffix(".py") == Some(stem)
        })
    };
    for (path, _) in &folder.files {
        let name = path.rsplit('/').next().unwrap_or(path);
        if let Some(stem) = name.strip_suffix(".ipynb")
            && !has_script(stem)
        {
            findings.push(Finding::note("notebook-alone").with("path", path));
        }
    }
    findings
}

/// A variable that chooses cards, set after the library that reads it was imported: it changes nothing any more.
pub(super) fn late_variables(folder: &Folder) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, bytes) in folder.files.iter().filter(|(path, _)| path.ends_with(".py")) {
        let Ok(text) = folder.text(path, *bytes) else { continue };
        let mut imported = false;
        for (number, line) in text.lines().enumerate() {
            let code = line.trim_start();
            imported |= ["import torch", "from torch", "import vllm", "from vllm"]
                .iter()
                .any(|start| code.starts_with(start));
            let sets = code.starts_with("os.environ[")
                && ["CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"].iter().any(|name| code.contains(name))
                && code.contains("] =");
            if imported && sets {
                findings.push(Finding::fault("visible-late").with("place", format!("{path}:{}", number + 1)));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_into_a_home_is_found_and_an_address_is_not() {
        let home = ["/ho", "me/ada"].concat();
        assert_eq!(home_in(&format!("model = \"{home}/model\"")), Some(home.clone()));
        assert_eq!(
            home_in(&format!("C{}\\x", [":\\Us", "ers\\ada"].concat())),
            Some([":\\Us", "ers\\ada"].concat())
        );
        assert_eq!(home_in("see https://example.org/home/page"), None);
        assert_eq!(home_in(&format!("$ROOT{home}")), None);
        assert_eq!(home_in("cd /home/"), None);
    }

    #[test]
    fn a_relative_path_may_turn_back_and_not_leave() {
        assert!(!leaves("src/../data/x") && leaves("../x") && leaves("src/../../x"));
    }
}
