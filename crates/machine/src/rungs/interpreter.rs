//! The interpreter that is really used: its path, its environment, its pip, and what hides what.

use super::version::begins_with;
use super::with_words;
use crate::demands::Demands;
use crate::facts::{Facts, Interpreter};
use crate::ladder::Judgement;
use crate::verdict::Finding;

pub(super) fn judge(facts: &Facts, demands: &Demands) -> Judgement {
    let Some(program) = &demands.interpreter else { return Judgement::NotApplicable("no-python") };
    if let Some(said) = facts.ended.get("interpreter") {
        let code = match (said.missing, said.late) {
            (true, _) => "interpreter-missing",
            (_, true) => "interpreter-late",
            _ => "interpreter-broken",
        };
        return Judgement::Judged(vec![with_words(
            Finding::fault(code).with("program", program),
            &said.words(),
        )]);
    }
    let Some(interpreter) = &facts.interpreter else { return Judgement::NotSeen };
    let mut findings = vec![
        Finding::seen("interpreter")
            .with("version", &interpreter.version)
            .with("executable", &interpreter.executable)
            .with("prefix", &interpreter.prefix),
    ];
    findings.extend(version(interpreter, demands));
    findings.extend(shadows(facts));
    findings.extend(beside(facts, interpreter));
    Judgement::Judged(findings)
}

fn version(interpreter: &Interpreter, demands: &Demands) -> Option<Finding> {
    let wanted = demands.needs.python.as_ref()?;
    (!begins_with(&interpreter.version, wanted)).then(|| {
        Finding::fault("interpreter-version")
            .with("wanted", wanted)
            .with("seen", &interpreter.version)
            .with("executable", &interpreter.executable)
    })
}

/// A file of the project that hides a module of Python breaks imports in places that do not name it.
fn shadows(facts: &Facts) -> Vec<Finding> {
    facts
        .shadows
        .iter()
        .map(|shadow| {
            let code = if shadow.hides == "python" { "shadow-python" } else { "shadow-package" };
            Finding::fault(code).with("module", &shadow.module).with("file", &shadow.file)
        })
        .collect()
}

/// What leads people to install into another interpreter than the one that runs.
fn beside(facts: &Facts, interpreter: &Interpreter) -> Vec<Finding> {
    let mut findings = Vec::new();
    let variables = &facts.machine.variables;
    if !interpreter.is_virtual() && !interpreter.prefix.contains("conda") {
        findings.push(Finding::note("interpreter-shared").with("prefix", &interpreter.prefix));
    }
    if let Some(environment) = variables.get("VIRTUAL_ENV")
        && interpreter.prefix != *environment
    {
        findings.push(
            Finding::note("environment-other-active")
                .with("active", environment)
                .with("prefix", &interpreter.prefix),
        );
    }
    match (&interpreter.pip.own, &interpreter.pip.on_path) {
        (None, Some(other)) => findings
            .push(Finding::note("pip-none").with("pip", other).with("executable", &interpreter.executable)),
        (Some(_), Some(other)) if is_of_other(interpreter, other) => findings
            .push(Finding::note("pip-other").with("pip", other).with("executable", &interpreter.executable)),
        _ => {}
    }
    for name in ["PYTHONPATH", "PYTHONHOME"] {
        if let Some(value) = variables.get(name).filter(|value| !value.is_empty()) {
            findings.push(Finding::note("python-variable").with("name", name).with("value", value));
        }
    }
    if interpreter.user_packages && interpreter.path.iter().any(|path| path.contains("/.local/lib/")) {
        findings.push(Finding::note("packages-of-home"));
    }
    findings
}

/// Whether the word `pip` installs for another interpreter: its first line names neither this one nor one in the same
/// folder.
fn is_of_other(interpreter: &Interpreter, pip: &str) -> bool {
    let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
    let named = interpreter.pip.interpreter_of_path.as_deref().unwrap_or_default();
    let known = [&interpreter.executable, &interpreter.real];
    !known.iter().any(|own| *own == named || folder(own) == folder(named) || folder(own) == folder(pip))
}
