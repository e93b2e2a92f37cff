//! Standard output is data, standard error is conversation; one printer decides what is said.

use pilote_text::{Lang, Texts};
use serde::Serialize;

use crate::args::Speech;
use crate::surroundings::Surroundings;

/// Says things, in the user's language and on the right stream.
pub(crate) struct Printer {
    /// What people read, in their language.
    pub texts: Texts,
    json: bool,
    quiet: bool,
    terminal: bool,
}

impl Printer {
    /// A printer for this command line on this terminal.
    #[must_use]
    pub(crate) fn new(speech: &Speech, lang: Lang, surroundings: &Surroundings) -> Self {
        Self {
            texts: Texts::new(lang),
            json: speech.json,
            quiet: speech.quiet,
            terminal: surroundings.stderr_is_terminal,
        }
    }

    /// Whether progress may be drawn, `None` when nothing of it is to be said at all.
    #[must_use]
    pub(crate) fn draws_progress(&self) -> Option<bool> {
        (!self.quiet && !self.json).then_some(self.terminal)
    }

    /// A line of data for people; nothing under `--json`.
    pub(crate) fn line(&self, text: &str) {
        if !self.json {
            write_line(&mut std::io::stdout(), text);
        }
    }

    /// A line of conversation.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet && !self.json {
            write_line(&mut std::io::stderr(), text);
        }
    }

    /// The one JSON object; nothing without `--json`.
    pub(crate) fn object(&self, value: &impl Serialize) {
        if self.json {
            let text = serde_json::to_string(value)
                .unwrap_or_else(|error| format!("{{\"format\":\"pilote.error/1\",\"message\":\"{error}\"}}"));
            write_line(&mut std::io::stdout(), &text);
        }
    }
}

/// A reader that went away is no failure of ours.
pub(crate) fn write_line(stream: &mut impl std::io::Write, text: &str) {
    let _ = writeln!(stream, "{text}").and_then(|()| stream.flush());
}
