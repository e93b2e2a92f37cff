//! Standard output is data, standard error is conversation; one printer decides what is said.

use std::io::Write as _;
use std::sync::OnceLock;

use pilote_text::{Lang, Texts};
use serde::Serialize;

use crate::args::Speech;
use crate::failure::Failure;
use crate::surroundings::Surroundings;

/// Says things, in the user's language and on the right stream.
pub(crate) struct Printer {
    /// What people read, in their language.
    pub texts: Texts,
    json: bool,
    quiet: bool,
    terminal: bool,
    /// The first error of writing data. Everything after it is lost as well, so one is enough.
    lost: OnceLock<std::io::Error>,
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
            lost: OnceLock::new(),
        }
    }

    /// Whether progress may be drawn, `None` when nothing of it is to be said at all.
    #[must_use]
    pub(crate) fn draws_progress(&self) -> Option<bool> {
        (!self.quiet && !self.json).then_some(self.terminal)
    }

    /// Whether the one JSON object is asked for.
    #[must_use]
    pub(crate) fn wants_object(&self) -> bool {
        self.json
    }

    /// A line of data for people; nothing under `--json`.
    pub(crate) fn line(&self, text: &str) {
        if !self.json {
            self.data(text);
        }
    }

    fn data(&self, text: &str) {
        if let Err(error) = write_data(text) {
            // Only the first one is told; a second finds the place taken.
            let _ = self.lost.set(error);
        }
    }

    /// Whether everything that was printed as data arrived.
    ///
    /// # Errors
    /// With the first error of writing: what was to be read is not there, whatever else went well.
    pub(crate) fn arrived(self) -> Result<(), Failure> {
        self.lost.into_inner().map_or(Ok(()), |error| Err(not_written(error)))
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
            self.data(&text);
        }
    }
}

/// The failure of a program whose output nobody can read.
pub(crate) fn not_written(error: std::io::Error) -> Failure {
    let error =
        anyhow::Error::new(error).context("standard output cannot be written, so what was printed is lost");
    Failure::machine("output", error).hint("free the disk or name another file, then give the command again")
}

/// Writes a line of data. A reader that went away is no failure of ours.
///
/// # Errors
/// With whatever else keeps the line from being written.
pub(crate) fn write_data(text: &str) -> std::io::Result<()> {
    let mut stream = std::io::stdout();
    match writeln!(stream, "{text}").and_then(|()| stream.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Writes a line of conversation; where nobody listens, nobody misses it.
pub(crate) fn write_line(stream: &mut impl std::io::Write, text: &str) {
    let _ = writeln!(stream, "{text}").and_then(|()| stream.flush());
}
