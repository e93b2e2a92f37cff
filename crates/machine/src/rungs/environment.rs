//! The declared environment against the installed one: packages, programs, licences; preprocessing's known output.

use std::collections::BTreeSet;

use pilote_spec::{Digest, NeededProgram};

use super::version::meets;
use super::with_words;
use crate::demands::{Demands, Pinned};
use crate::facts::{Facts, Package};
use crate::ladder::Judgement;
use crate::verdict::Finding;

pub(super) fn judge(facts: &Facts, demands: &Demands) -> Judgement {
    let needs = &demands.needs;
    let asks = !demands.pinned.is_empty() || !needs.programs.is_empty() || !needs.licences.is_empty();
    if !asks && demands.interpreter.is_none() {
        return Judgement::NotApplicable("nothing-declared");
    }
    let mut findings = Vec::new();
    if demands.interpreter.is_some() {
        if facts.interpreter.is_none() {
            return Judgement::NotSeen;
        }
        findings.extend(packages(facts, demands));
        findings.extend(cuda_majors(facts));
    }
    for (kind, programs) in [("program", &needs.programs), ("licence", &needs.licences)] {
        findings.extend(programs.iter().filter_map(|program| asked(facts, kind, program)));
    }
    Judgement::Judged(findings)
}

fn packages(facts: &Facts, demands: &Demands) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut agreeing = 0_usize;
    for pinned in &demands.pinned {
        match facts.packages.iter().find(|package| package.name == pinned.name) {
            None => findings.push(absent(pinned)),
            Some(package) if !meets(&package.version, &pinned.version) => findings.push(
                Finding::fault("package-version")
                    .with("package", &pinned.name)
                    .with("wanted", &pinned.version)
                    .with("seen", &package.version)
                    .with("place", &pinned.place),
            ),
            Some(package) => {
                agreeing += 1;
                findings.extend(altered(package));
            }
        }
    }
    for package in facts.packages.iter().filter(|package| !package.also.is_empty()) {
        let also: Vec<String> =
            package.also.iter().map(|other| format!("{} ({})", other.version, other.place)).collect();
        findings.push(
            Finding::note("package-twice")
                .with("package", &package.name)
                .with("used", format!("{} ({})", package.version, package.place))
                .with("hidden", also.join(", ")),
        );
    }
    let checked: u64 = facts.packages.iter().filter_map(|package| package.checked_bytes).sum();
    findings.push(
        Finding::seen("packages")
            .with("installed", facts.packages.len())
            .with("agreeing", agreeing)
            .with("declared", demands.pinned.len())
            .with("checked_mb", checked / 1_000_000),
    );
    findings
}

/// A package that a marker limits may rightly be absent; which markers apply is for pip to say.
fn absent(pinned: &Pinned) -> Finding {
    let finding = if pinned.limited { Finding::note } else { Finding::fault };
    finding("package-missing")
        .with("package", &pinned.name)
        .with("wanted", &pinned.version)
        .with("place", &pinned.place)
}

fn altered(package: &Package) -> Option<Finding> {
    (!package.changed.is_empty()).then(|| {
        Finding::fault("package-altered")
            .with("package", &package.name)
            .with("files", package.changed.join(", "))
    })
}

/// Runtime libraries of two major versions of CUDA beside each other: which one is loaded is chance.
fn cuda_majors(facts: &Facts) -> Option<Finding> {
    let mut majors: BTreeSet<&str> = BTreeSet::new();
    let mut names = Vec::new();
    for package in &facts.packages {
        let Some((_, major)) =
            package.name.rsplit_once("-cu").filter(|_| package.name.starts_with("nvidia-"))
        else {
            continue;
        };
        if major.bytes().all(|byte| byte.is_ascii_digit()) && majors.insert(major) {
            names.push(package.name.clone());
        }
    }
    (majors.len() > 1).then(|| Finding::fault("cuda-majors").with("names", names.join(", ")))
}

fn asked(facts: &Facts, kind: &str, program: &NeededProgram) -> Option<Finding> {
    let said = facts.programs.get(&format!("{kind}:{}", program.name))?;
    let finding = |code: &str| {
        let finding = Finding::fault(code).with("name", &program.name);
        with_words(finding.with("command", program.command.join(" ")), &said.words())
    };
    if said.missing {
        return Some(finding(if kind == "licence" { "licence-no-command" } else { "program-missing" }));
    }
    if said.status != Some(0) {
        return Some(finding(if kind == "licence" { "licence-absent" } else { "program-failed" }));
    }
    match &program.says {
        Some(wanted) if !said.words().contains(wanted.as_str()) => {
            Some(finding("program-other").with("wanted", wanted))
        }
        _ => Some(Finding::seen(kind).with("name", &program.name)),
    }
}

/// The step before the engine, on an input whose outcome is known.
pub(super) fn preprocessing(facts: &Facts, demands: &Demands) -> Judgement {
    let Some(known) = &demands.needs.preprocessing else {
        return Judgement::NotApplicable("no-preprocessing");
    };
    let Some(said) = facts.programs.get("preprocessing:") else { return Judgement::NotSeen };
    let finding = |code: &str| Finding::fault(code).with("command", known.command.join(" "));
    let Some(out) = said.good() else {
        return Judgement::Judged(vec![with_words(finding("preprocessing-failed"), &said.words())]);
    };
    let seen = Digest::of(out.as_bytes());
    if seen != known.sha256 {
        let differs = finding("preprocessing-differs").with("wanted", known.sha256).with("seen", seen);
        return Judgement::Judged(vec![differs.saying(out)]);
    }
    Judgement::Judged(vec![Finding::seen("preprocessing").with("sha256", seen)])
}
