//! The start of an input's text, as a reader wants to see it.

use std::path::Path;

use pilote_corpus::{ReadError, Source};
use pilote_spec::{Item, Trial, TrialKind};

/// Characters of an input that are shown.
const SHOWN_CHARS: usize = 360;

/// Lines of an input that are shown.
const SHOWN_LINES: usize = 7;

/// How far from its end an excerpt looks back for the end of a word.
const WORD_CHARS: usize = 24;

/// The start of an input, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Excerpt {
    /// The start of its text.
    Text(String),
    /// The input is not here.
    Absent,
    /// It is no longer the input that was worked on.
    Changed,
    /// It is here and cannot be read.
    Unreadable,
}

/// Reads the inputs of a trial.
pub(crate) struct Excerpts {
    source: Option<Source>,
}

impl Excerpts {
    /// Of the inputs that `trial` declares, in the project's directory if that is known.
    pub(crate) fn new(project: Option<&Path>, trial: &Trial) -> Self {
        let declared = match trial.kind {
            TrialKind::Pilot => Some(&trial.project.pilot.inputs),
            TrialKind::Campaign => trial.project.campaign.as_ref().map(|campaign| &campaign.inputs),
        };
        let source = project.zip(declared).map(|(project, inputs)| {
            Source::new(project, inputs, &trial.project.limits, trial.project.duplicates)
        });
        Self { source }
    }

    /// The start of an item's text.
    pub(crate) fn of(&self, item: &Item) -> Excerpt {
        let Some(source) = &self.source else { return Excerpt::Absent };
        match pilote_corpus::read(source, item) {
            Ok(text) => Excerpt::Text(start(&text)),
            Err(ReadError::Changed { seen: None, .. }) => Excerpt::Absent,
            Err(ReadError::Changed { .. }) => Excerpt::Changed,
            Err(ReadError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                Excerpt::Absent
            }
            Err(_) => Excerpt::Unreadable,
        }
    }
}

/// The start of the text of an item of the trial in `dir`, whose inputs are below `project`; none where it cannot be
/// read, or is no longer what was worked on.
#[must_use]
pub fn input_start(dir: &Path, project: Option<&Path>, item: &Item) -> Option<String> {
    let trial = crate::trial_dir::TrialDir::open(dir).ok()?;
    match Excerpts::new(project, &trial.trial).of(item) {
        Excerpt::Text(text) => Some(text),
        Excerpt::Absent | Excerpt::Changed | Excerpt::Unreadable => None,
    }
}

/// The first lines of a text, white space evened out and blank lines left out, cut at the end of a word where one
/// is near.
pub(crate) fn start(text: &str) -> String {
    let mut shown = String::new();
    let mut room = SHOWN_CHARS;
    let lines = text.lines().map(str::split_whitespace).filter(|line| line.clone().next().is_some());
    for (number, line) in lines.enumerate() {
        if number == SHOWN_LINES {
            cut(&mut shown);
            break;
        }
        for (at, word) in line.enumerate() {
            let gap = match (number, at) {
                (0, 0) => "",
                (_, 0) => "\n",
                _ => " ",
            };
            let length = word.chars().count() + gap.len();
            if length > room {
                // A script without spaces, or a very long word, is cut where the room ends.
                if room > WORD_CHARS {
                    shown.push_str(gap);
                    shown.extend(word.chars().take(room - gap.len()));
                }
                cut(&mut shown);
                return shown;
            }
            shown.push_str(gap);
            shown.push_str(word);
            room -= length;
        }
    }
    shown
}

/// Marks that a text goes on, apart from the end of a sentence.
fn cut(shown: &mut String) {
    shown.push_str(if shown.ends_with(char::is_alphanumeric) { "…" } else { " …" });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_shown_whole_line_by_line() {
        assert_eq!(start("  Dear  Sir,\r\n\n \n  thank you.\n"), "Dear Sir,\nthank you.");
    }

    #[test]
    fn a_long_text_ends_with_a_word_and_an_ellipsis() {
        let shown = start(&"word ".repeat(200));
        assert!(shown.ends_with("word…"), "{shown}");
        assert!(shown.chars().count() <= SHOWN_CHARS + 1);
    }

    #[test]
    fn a_text_of_many_short_lines_ends_after_a_few() {
        let shown = start(&"line\n".repeat(50));
        assert_eq!((shown.lines().count(), shown.ends_with("line…")), (SHOWN_LINES, true));
    }

    #[test]
    fn a_text_without_spaces_is_cut_where_the_room_ends() {
        assert_eq!(start(&"文".repeat(1_000)).chars().count(), SHOWN_CHARS + 1);
    }
}
