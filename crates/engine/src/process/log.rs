//! What a child prints, kept within bounds and without secrets.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// Lines kept from the end.
const LINES_MAX: usize = 200;
/// Bytes kept of one line, from its start.
const LINE_BYTES_MAX: usize = 4_096;

/// A value that must not be seen, and the name that stands for it.
#[derive(Clone)]
pub struct Secret {
    /// The name of the environment variable.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secret({})", self.name)
    }
}

/// The log of a child: its first error line and its last lines.
#[derive(Debug, Clone, Default)]
pub struct Log(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    first_error: Option<String>,
    last: VecDeque<String>,
}

impl Log {
    /// Reads `stream` to its end and keeps what is worth keeping; for a thread of its own.
    pub fn drain(&self, stream: impl Read, secrets: &[Secret]) {
        let mut reader = BufReader::new(stream);
        let longest = secrets.iter().map(|secret| secret.value.len()).max().unwrap_or(0);
        let limit = LINE_BYTES_MAX + longest;
        let mut line = Vec::new();
        loop {
            line.clear();
            let limit_bytes = u64::try_from(limit).unwrap_or(u64::MAX);
            if !matches!((&mut reader).take(limit_bytes).read_until(b'\n', &mut line), Ok(1..)) {
                return;
            }
            let cut = line.len() == limit && line.last() != Some(&b'\n');
            let mut text = redacted(&String::from_utf8_lossy(&line), secrets);
            if cut {
                // The last bytes may be the beginning of a secret whose end was not read.
                text.truncate(
                    text.floor_char_boundary(text.len().saturating_sub(longest).min(LINE_BYTES_MAX)),
                );
            }
            self.keep(&text);
            if cut && reader.skip_until(b'\n').is_err() {
                return;
            }
        }
    }

    fn keep(&self, line: &str) {
        let line = line.trim_end();
        if line.is_empty() {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.first_error.is_none() && is_error(line) {
            kept.first_error = Some(line.to_owned());
        }
        if kept.last.len() == LINES_MAX {
            kept.last.pop_front();
        }
        kept.last.push_back(line.to_owned());
    }

    /// The first line that names an error, else the last line; none when nothing was printed.
    #[must_use]
    pub fn first_error(&self) -> Option<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.first_error.clone().or_else(|| kept.last.back().cloned())
    }

    /// The last lines, at most 200 of at most 4 KiB.
    #[must_use]
    pub fn last_lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last.iter().cloned().collect()
    }
}

/// `line` with every secret's value replaced by its name.
pub(crate) fn redacted(line: &str, secrets: &[Secret]) -> String {
    secrets
        .iter()
        .filter(|secret| !secret.value.is_empty())
        .fold(line.to_owned(), |line, secret| line.replace(&secret.value, &format!("[{}]", secret.name)))
}

/// Whether a line names an error as interpreters, compilers and shells write them. A traceback's heading is not
/// one: what it ends with is.
fn is_error(line: &str) -> bool {
    let line = line.trim_start();
    let lower = line.to_ascii_lowercase();
    let first_word = line.split([':', ' ']).next().unwrap_or_default();
    ["Error", "Exception", "Interrupt"].iter().any(|end| first_word.ends_with(end))
        || ["error", "fatal", "pilote guard:", "segmentation fault"]
            .iter()
            .any(|start| lower.starts_with(start))
        || [" error: ", "] error", " panicked at ", "cuda error", "out of memory", "command not found"]
            .iter()
            .any(|part| lower.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_of(text: &str) -> Log {
        let log = Log::default();
        log.drain(text.as_bytes(), &[Secret { name: "HF_TOKEN".into(), value: "hf_sesame".into() }]);
        log
    }

    #[test]
    fn the_first_error_of_a_traceback_is_its_last_line() {
        let log = log_of(
            "loading\nTraceback (most recent call last):\n  File \"w.py\", line 3\nValueError: no such layer\nbye\n",
        );
        assert_eq!(log.first_error().as_deref(), Some("ValueError: no such layer"));
    }

    #[test]
    fn without_an_error_the_last_line_speaks() {
        assert_eq!(log_of("one\ntwo\n\n").first_error().as_deref(), Some("two"));
        assert_eq!(log_of("").first_error(), None);
    }

    #[test]
    fn a_secret_is_replaced_by_its_name() {
        let log = log_of("error: token hf_sesame was rejected\n");
        assert_eq!(log.first_error().as_deref(), Some("error: token [HF_TOKEN] was rejected"));
    }

    #[test]
    fn a_secret_across_the_end_of_what_is_kept_of_a_line_shows_nothing_of_itself() {
        for before in LINE_BYTES_MAX - 20..LINE_BYTES_MAX + 20 {
            let log = log_of(&format!("{}hf_sesame{}\nnext\n", "x".repeat(before), "y".repeat(100)));
            let lines = log.last_lines();
            assert_eq!(lines.len(), 2);
            assert!(!lines[0].contains("hf_s") && lines[0].len() <= LINE_BYTES_MAX + 20, "{before}");
        }
    }

    #[test]
    fn an_endless_log_keeps_its_first_error_and_its_end() {
        let text = std::iter::once("error: first\n".to_owned())
            .chain((0..10_000).map(|n| format!("line {n}\n")))
            .collect::<String>();
        let log = log_of(&text);
        assert_eq!(log.first_error().as_deref(), Some("error: first"));
        assert_eq!(log.last_lines().len(), LINES_MAX);
        assert_eq!(log.last_lines().last().map(String::as_str), Some("line 9999"));
    }
}
