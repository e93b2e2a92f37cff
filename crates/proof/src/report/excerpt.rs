//! The start of an input's text, as a reader wants to see it.

use std::path::Path;

use pilote_corpus::{ReadError, Source};
use pilote_spec::{Item, Trial, TrialKind};

/// Characters of an input that are shown.
const SHOWN_CHARS: usize = 360;

/// How far from its end an excerpt looks back for the end of a word.
const WORD_CHARS: usize = 24;

/// The start of an input, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Excerpt {
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
pub(super) struct Excerpts {
    source: Option<Source>,
}

impl Excerpts {
    /// Of the inputs that `trial` declares, in the project's directory if that is known.
    pub(super) fn new(project: Option<&Path>, trial: &Trial) -> Self {
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
    pub(super) fn of(&self, item: &Item) -> Excerpt {
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

/// The first characters of a text on one line, cut at the end of a word where one is near.
fn start(text: &str) -> String {
    let mut shown = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        let gap = usize::from(!shown.is_empty());
        if count + gap + length <= SHOWN_CHARS {
            if gap == 1 {
                shown.push(' ');
            }
            shown.push_str(word);
            count += gap + length;
            continue;
        }
        // A script without spaces, or a very long word, is cut where the room ends.
        if SHOWN_CHARS - count > WORD_CHARS {
            if gap == 1 {
                shown.push(' ');
            }
            shown.extend(word.chars().take(SHOWN_CHARS - count - gap));
        }
        shown.push('…');
        break;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_shown_whole_on_one_line() {
        assert_eq!(start("  Dear Sir,\n\n  thank you.\n"), "Dear Sir, thank you.");
    }

    #[test]
    fn a_long_text_ends_with_a_word_and_an_ellipsis() {
        let shown = start(&"word ".repeat(200));
        assert!(shown.ends_with("word…"), "{shown}");
        assert!(shown.chars().count() <= SHOWN_CHARS + 1);
    }

    #[test]
    fn a_text_without_spaces_is_cut_where_the_room_ends() {
        assert_eq!(start(&"文".repeat(1_000)).chars().count(), SHOWN_CHARS + 1);
    }
}
