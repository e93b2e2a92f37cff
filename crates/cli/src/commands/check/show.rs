//! A climb for people: each rung as it is judged, what was seen, why it matters, the one thing to do next.

use std::path::Path;

use pilote_machine::Facts;
use pilote_machine::record::Check;
use pilote_machine::verdict::{Finding, RungCode, RungReport, RungVerdict, Weight};
use pilote_text::Texts;

use super::trial::FirstError;
use crate::printer::Printer;

/// Facts of a rung that passed; more are in `--json`.
const SEEN_MAX: usize = 8;

/// Notes and faults of one rung that are told; more are in `--json`.
const TOLD_MAX: usize = 12;

/// A rung in sentences.
pub(super) struct Told {
    /// The rung's name.
    pub name: String,
    /// Its verdict.
    pub verdict: String,
    /// What was seen and is as it should be.
    pub seen: Vec<String>,
    /// Faults and notes.
    pub findings: Vec<ToldFinding>,
    /// Findings beyond those that are told.
    pub more: usize,
}

/// A finding in sentences.
pub(super) struct ToldFinding {
    /// Whether it makes the rung fail.
    pub fails: bool,
    /// What was seen.
    pub seen: String,
    /// Why it matters; for faults.
    pub why: Option<String>,
    /// The recognised cause.
    pub cause: Option<String>,
    /// The one thing to do next.
    pub next: Option<String>,
    /// The words of a program, as they came.
    pub words: Vec<String>,
    /// Whether those words were not recognised.
    pub unrecognised: bool,
}

/// A rung's name.
pub(crate) fn rung_name(rung: RungCode, texts: &Texts) -> String {
    texts.get(&format!("rung-{}", rung.code()), &[])
}

/// A rung in sentences.
pub(super) fn told(report: &RungReport, texts: &Texts) -> Told {
    let verdict = match &report.verdict {
        RungVerdict::Passed => texts.get("check-passed", &[]),
        RungVerdict::Failed => texts.get("check-failed", &[]),
        RungVerdict::Skipped { by } => texts.get("check-skipped", &[("by", &rung_name(*by, texts))]),
        RungVerdict::NotApplicable { why } => {
            texts.get("check-not-applicable", &[("why", &texts.get(&format!("na-{why}"), &[]))])
        }
        RungVerdict::NotSeen => texts.get("check-not-seen", &[]),
    };
    let (seen, rest): (Vec<&Finding>, Vec<&Finding>) =
        report.findings.iter().partition(|finding| finding.weight == Weight::Seen);
    Told {
        name: rung_name(report.rung, texts),
        verdict,
        seen: seen.iter().take(SEEN_MAX).map(|finding| sentence(finding, texts)).collect(),
        more: rest.len().saturating_sub(TOLD_MAX),
        findings: rest.into_iter().take(TOLD_MAX).map(|it| told_finding(it, report.rung, texts)).collect(),
    }
}

fn args(finding: &Finding) -> Vec<(&str, &str)> {
    finding.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn sentence(finding: &Finding, texts: &Texts) -> String {
    texts.get(&format!("check-{}", finding.code), &args(finding))
}

fn told_finding(finding: &Finding, rung: RungCode, texts: &Texts) -> ToldFinding {
    let fails = finding.weight == Weight::Fault;
    let own = |attribute: &str| texts.find(&format!("check-{}.{attribute}", finding.code), &args(finding));
    let of_cause = |end: &str| texts.find(&format!("cause-{}{end}", finding.cause.as_ref()?), &[]);
    // The advice of a wheel names the index that fits what was found.
    let index = finding.values.get("index").map(|name| texts.get("check-index-named", &[("index", name)]));
    let next = of_cause(".next").or_else(|| own("next"));
    let why = own("why").or_else(|| texts.find(&format!("rung-{}.why", rung.code()), &[]));
    ToldFinding {
        fails,
        seen: sentence(finding, texts),
        why: why.filter(|_| fails),
        cause: of_cause(""),
        // One thing to do: that of the cause, where it is recognised.
        next: next.map(|next| index.map_or(next.clone(), |index| format!("{next} {index}"))),
        words: finding.words.clone(),
        unrecognised: fails && finding.cause.is_none() && !finding.words.is_empty(),
    }
}

/// The line above the ladder.
pub(super) fn title(facts: &Facts, from_file: bool, printer: &Printer) {
    let texts = &printer.texts;
    printer.line(&if from_file {
        texts.get("check-title-facts", &[("by", &facts.by)])
    } else {
        texts.get("check-title", &[])
    });
    printer.line("");
}

/// One rung.
pub(super) fn rung(report: &RungReport, printer: &Printer) {
    let texts = &printer.texts;
    if matches!(report.verdict, RungVerdict::Skipped { .. }) {
        // Told together at the end: what was not looked at is one sentence, not a page.
        return;
    }
    let told = told(report, texts);
    let mark = match report.verdict {
        RungVerdict::Passed => "✓",
        RungVerdict::Failed => "✗",
        RungVerdict::Skipped { .. } => "·",
        RungVerdict::NotApplicable { .. } => "-",
        RungVerdict::NotSeen => "?",
    };
    printer.line(&format!("{mark} {} — {}", told.name, told.verdict));
    for seen in &told.seen {
        printer.line(&format!("    {seen}"));
    }
    for finding in &told.findings {
        self::finding(finding, printer);
    }
    if told.more > 0 {
        printer.line(&format!("    + {}", told.more));
    }
}

fn finding(finding: &ToldFinding, printer: &Printer) {
    let texts = &printer.texts;
    let label = |key: &str| texts.get(&format!("check-line-{key}"), &[]);
    if finding.fails {
        printer.line(&format!("  ✗ {}", finding.seen));
    } else {
        printer.line(&format!("  ! {}: {}", label("note"), finding.seen));
    }
    let line = |key: &str, text: &Option<String>| {
        if let Some(text) = text {
            printer.line(&format!("      {}: {text}", label(key)));
        }
    };
    line("why", &finding.why);
    if finding.unrecognised {
        printer.line(&format!("      {}", texts.get("check-unrecognised", &[])));
    }
    for word in &finding.words {
        printer.line(&format!("      | {}", pilote_text::printable(word)));
    }
    line("cause", &finding.cause);
    line("next", &finding.next);
}

/// What a trial kept of its first error, and the rung that the ladder begins with.
pub(super) fn after(first: &FirstError, printer: &Printer) {
    let texts = &printer.texts;
    let trial = ("trial", first.trial.as_str());
    let (Some(rung), Some(kept)) = (first.rung, &first.kept) else {
        printer.line(&texts.get("check-after-none", &[trial]));
        printer.line("");
        return;
    };
    let error = pilote_text::printable(&kept.first_error);
    printer.line(&texts.get("check-after", &[trial, ("step", &kept.step), ("error", &error)]));
    for line in cause_lines(kept.cause.as_deref(), texts) {
        printer.line(&format!("  {line}"));
    }
    if kept.cause.is_none() {
        printer.line(&format!("  {}", texts.get("check-unrecognised", &[])));
        if let Some(advice) = &kept.advice {
            printer.line(&format!("  {}: {advice}", texts.get("check-line-next", &[])));
        }
    }
    printer.line(&texts.get("check-after-order", &[]));
    printer.line(&texts.get("check-after-rung", &[("rung", &rung_name(rung, texts))]));
    printer.line("");
}

/// A recognised cause and the one thing to do about it, a line each.
pub(crate) fn cause_lines(cause: Option<&str>, texts: &Texts) -> Vec<String> {
    let Some(cause) = cause else { return Vec::new() };
    let line = |label: &str, end: &str| {
        let said = texts.find(&format!("cause-{cause}{end}"), &[])?;
        Some(format!("{}: {said}", texts.get(&format!("check-line-{label}"), &[])))
    };
    [line("cause", ""), line("next", ".next")].into_iter().flatten().collect()
}

/// What the climb came to.
pub(super) fn end(check: &Check, record: Option<&Path>, printer: &Printer) {
    skipped(check, printer);
    printer.line("");
    printer.line(&ending(check, &printer.texts));
    if let Some(path) = record {
        printer.say(&printer.texts.get("check-recorded", &[("path", &path.display().to_string())]));
    }
}

/// The rungs that were not looked at, by the rung that stands in the way.
fn skipped(check: &Check, printer: &Printer) {
    let texts = &printer.texts;
    let mut by: std::collections::BTreeMap<RungCode, Vec<String>> = Default::default();
    for report in &check.rungs {
        if let RungVerdict::Skipped { by: rung } = report.verdict {
            by.entry(rung).or_default().push(rung_name(report.rung, texts));
        }
    }
    for (rung, names) in by {
        let said = texts.get("check-skipped", &[("by", &rung_name(rung, texts))]);
        printer.line(&format!("· {said} — {}", texts.list(names.iter().map(String::as_str))));
    }
}

/// The climb in one sentence.
pub(super) fn ending(check: &Check, texts: &Texts) -> String {
    if let Some(failed) = check.failed() {
        return texts.get("check-stopped", &[("rung", &rung_name(failed.rung, texts))]);
    }
    match (check.passed, check.from, check.to) {
        (true, None, None) => texts.get("check-all-passed", &[]),
        (true, None, Some(to)) => texts.get("check-passed-to", &[("rung", &rung_name(to, texts))]),
        (true, Some(from), _) => texts.get("check-passed-from", &[("rung", &rung_name(from, texts))]),
        (false, ..) => texts.get("check-unseen", &[]),
    }
}
