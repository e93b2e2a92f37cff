//! A climb as a page for people: one file, no script, nothing from elsewhere.

use std::fmt::Write as _;
use std::path::Path;

use pilote_machine::record::{self, Check};
use pilote_machine::verdict::RungVerdict;
use pilote_proof::{Ladder, LadderRung};
use pilote_text::Texts;

use super::show::{ending, told};
use crate::printer::Printer;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1c1c1c;background:#fff}\
h1{font-size:1.4rem}li{margin:.6rem 0}ol{padding-left:1.5rem}.passed strong{color:#0a6132}.failed strong{color:#a11515}\
.fault{border-left:4px solid #a11515;padding:.2rem .8rem;margin:.5rem 0}.note{border-left:4px solid #8a6d00;padding:.2rem .8rem;margin:.5rem 0}\
pre{white-space:pre-wrap;background:#f3f3f3;padding:.5rem;font-size:.85rem}p{margin:.2rem 0}.seen{color:#444}\
@media(prefers-color-scheme:dark){body{background:#161616;color:#eee}.seen{color:#bbb}pre{background:#262626}.passed strong{color:#7fd6a2}.failed strong{color:#ff9c9c}}";

/// The page of a climb for the project `name`.
pub(super) fn page(name: &str, check: &Check, printer: &Printer) -> String {
    let texts = &printer.texts;
    let title = texts.get("check-title", &[]);
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"{}\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{1} · {2}</title><style>{STYLE}</style></head><body>\n\
         <h1>{1} · {2}</h1>\n<p>{3}</p>\n<ol>\n",
        texts.lang().code(),
        escaped(&title),
        escaped(name),
        escaped(&ending(check, texts)),
    );
    let label = |key: &str| escaped(&texts.get(&format!("check-line-{key}"), &[]));
    for report in &check.rungs {
        let told = told(report, texts);
        let class = match report.verdict {
            RungVerdict::Passed => "passed",
            RungVerdict::Failed => "failed",
            _ => "other",
        };
        let _ = writeln!(
            html,
            "<li class=\"{class}\"><strong>{} · {}</strong>",
            escaped(&told.name),
            escaped(&told.verdict)
        );
        for seen in &told.seen {
            let _ = writeln!(html, "<p class=\"seen\">{}</p>", escaped(seen));
        }
        for finding in &told.findings {
            let class = if finding.fails { "fault" } else { "note" };
            let _ = writeln!(html, "<div class=\"{class}\"><p>{}</p>", escaped(&finding.seen));
            let lines = [("why", &finding.why), ("cause", &finding.cause), ("next", &finding.next)];
            for (key, text) in lines {
                if let Some(text) = text {
                    let _ = writeln!(html, "<p>{}: {}</p>", label(key), escaped(text));
                }
            }
            if !finding.words.is_empty() {
                let words: Vec<_> = finding.words.iter().map(|word| pilote_text::printable(word)).collect();
                let _ = writeln!(html, "<pre>{}</pre>", escaped(&words.join("\n")));
            }
            html.push_str("</div>\n");
        }
        html.push_str("</li>\n");
    }
    html.push_str("</ol>\n</body></html>\n");
    html
}

/// The ladder that was climbed before the trial in `trial`, for its report; none where the project keeps no climb from
/// before it, or what was launched cannot be read.
pub(crate) fn before(root: &Path, trial: &Path, texts: &Texts) -> Option<Ladder> {
    let check = record::before(root, pilote_proof::summary(trial).started?)?;
    let rungs = check.rungs.iter().map(|report| {
        let told = told(report, texts);
        let mut lines = told.seen;
        for finding in told.findings {
            lines.push(finding.seen);
            lines.extend([finding.why, finding.cause, finding.next].into_iter().flatten());
        }
        let passed = match report.verdict {
            RungVerdict::Passed => Some(true),
            RungVerdict::Failed => Some(false),
            _ => None,
        };
        // Why a rung was not looked at is a sentence and stands below it; the other verdicts are a word.
        let mut verdict = told.verdict;
        if passed.is_none() {
            lines.insert(0, std::mem::take(&mut verdict));
        }
        LadderRung { name: told.name, passed, verdict, lines }
    });
    Some(Ladder {
        title: texts.get("check-before-trial", &[]),
        ending: format!("{} · {}", pilote_proof::calendar(check.checked), ending(&check, texts)),
        rungs: rungs.collect(),
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
