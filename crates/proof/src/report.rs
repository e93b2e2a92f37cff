//! `report.html`: one file, without scripts, in the reader's language; the same trial gives the same bytes.
//!
//! `facts` gathers what the page says, `page` puts it into words, `templates/report.html` lays it out. Every
//! text from outside passes through the template's escaping and never through a `safe` filter.

mod chart;
mod charts;
mod data;
mod facts;
mod markdown;
mod page;

use std::path::Path;

use askama::Template as _;
use pilote_spec::Stamp;
use pilote_text::Texts;

use crate::error::ProofError;
use crate::files;

pub use data::{MeasuresData, RefusalData, ReportData, SampleData};

/// The styles of the report, for other pages of the program that are to look alike: light and dark, screen and paper.
pub const STYLE: &str = include_str!("../templates/report.css");

/// The ladder of checks that was climbed before a trial, in the words of the report's language. Who knows the machine
/// gives it; a proof reads trials alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ladder {
    /// The heading.
    pub title: String,
    /// What the climb came to, and when.
    pub ending: String,
    /// Its rungs, in order.
    pub rungs: Vec<LadderRung>,
}

/// A rung and what it came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LadderRung {
    /// Its name.
    pub name: String,
    /// Whether it passed; none where it was not looked at.
    pub passed: Option<bool>,
    /// Its verdict, in a word or two.
    pub verdict: String,
    /// What was seen, why it matters, what to do next.
    pub lines: Vec<String>,
}

/// The report of the trial or copy in `dir`, with the ladder before it where one is known.
///
/// `project` is the project's directory, where the beginnings of the inputs are read; without it, or where an
/// input is gone or changed, the report says so instead of a text. The trial is verified on the way, so the
/// verdict is the one of this reading.
///
/// # Errors
/// When there is no trial, its index cannot be read, or the system refuses to read.
pub fn report(
    dir: &Path,
    project: Option<&Path>,
    ladder: Option<&Ladder>,
    texts: &Texts,
) -> Result<String, ProofError> {
    let facts = facts::Facts::gather(dir, project)?;
    let page = page::Page::new(&facts, texts).after(ladder);
    page.render().map_err(|error| ProofError::Report { why: error.to_string() })
}

/// The report of the trial or copy in `dir` as Markdown; see [`report()`].
///
/// # Errors
/// As [`report()`].
pub fn report_markdown(dir: &Path, project: Option<&Path>, texts: &Texts) -> Result<String, ProofError> {
    let facts = facts::Facts::gather(dir, project)?;
    Ok(markdown::markdown(&page::Page::new(&facts, texts)))
}

/// The facts of the report of the trial or copy in `dir`, for programs; see [`report()`].
///
/// # Errors
/// As [`report()`].
pub fn report_data(dir: &Path, project: Option<&Path>) -> Result<ReportData, ProofError> {
    facts::Facts::gather(dir, project).map(ReportData::new)
}

/// Writes a report in place of the one that may be there: it is a view, made anew at any time.
///
/// # Errors
/// When it cannot be written.
pub fn write_report(path: &Path, html: &str) -> Result<(), ProofError> {
    let path = if path.parent().is_some_and(|parent| parent.as_os_str().is_empty()) {
        Path::new(".").join(path)
    } else {
        path.to_owned()
    };
    files::replace(&path, html.as_bytes())
}

/// A wall-clock instant in the one form that reads the same in every language.
#[must_use]
pub fn calendar(stamp: Stamp) -> String {
    let instant = i64::try_from(stamp.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    instant
        .map_or_else(|| stamp.0.to_string(), |instant| instant.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}
