//! The two threads that speak with a worker, and what keeps secrets out of what it says.

use std::borrow::Cow;
use std::io::{BufRead as _, BufReader, BufWriter, Read, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::protocol::FromWorker;
use crate::process::{Secret, redacted};

/// Lines that go from the reader to the conductor together, at the most.
const LINES_TOGETHER_MAX: usize = 256;
/// Handfuls of lines that wait for the conductor; beyond, the worker waits.
const HANDFULS_QUEUED_MAX: usize = 16;
/// Bytes read at once.
const READ_BYTES: usize = 1 << 16;
/// Characters of a line that is not understood which its report shows.
const SHOWN_CHARS: usize = 120;

/// What the reader saw.
pub(super) enum Line {
    /// A message.
    Said(FromWorker),
    /// A line that is none, and why; nothing is read after it.
    Unreadable { why: String },
    /// The worker's end of the channel is closed.
    Ended,
}

/// The ends of the queues to the writer and from the reader.
pub(super) type Queues = (SyncSender<Vec<u8>>, Receiver<Vec<Line>>);

/// Starts the threads that write and read. The queues between are bounded, so a worker that reads nothing holds up
/// the conductor and nothing grows.
pub(super) fn threads(
    to: ChildStdin,
    from: ChildStdout,
    batches_queued_max: usize,
    line_bytes_max: usize,
    secrets: Vec<Secret>,
) -> std::io::Result<Queues> {
    let (to_writer, lines) = sync_channel::<Vec<u8>>(batches_queued_max);
    let (said, from_reader) = sync_channel(HANDFULS_QUEUED_MAX);
    std::thread::Builder::new().name("worker writer".to_owned()).spawn(move || {
        let mut to = BufWriter::new(to);
        for line in lines {
            if to.write_all(&line).and_then(|()| to.flush()).is_err() {
                return;
            }
        }
    })?;
    std::thread::Builder::new()
        .name("worker reader".to_owned())
        .spawn(move || read_lines(from, line_bytes_max, &secrets, &said))?;
    Ok((to_writer, from_reader))
}

/// Reads lines until the channel ends or one of them cannot be understood. Lines that are there together are handed
/// on together, since waking the conductor costs more than reading a line.
fn read_lines(from: impl Read, line_bytes_max: usize, secrets: &[Secret], said: &SyncSender<Vec<Line>>) {
    let mut reader = BufReader::with_capacity(READ_BYTES, from);
    let limit = u64::try_from(line_bytes_max).unwrap_or(u64::MAX);
    let (mut line, mut together) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        let read = (&mut reader).take(limit).read_until(b'\n', &mut line);
        let next = match read {
            Ok(0) | Err(_) => Line::Ended,
            Ok(_) if line.last() != Some(&b'\n') => Line::Unreadable {
                why: format!(
                    "the worker wrote a line of more than {line_bytes_max} bytes, or ended inside one"
                ),
            },
            Ok(_) => understood(&without_secrets(&line, secrets)),
        };
        let last = !matches!(next, Line::Said(_));
        together.push(next);
        let waits = last || together.len() == LINES_TOGETHER_MAX || !reader.buffer().contains(&b'\n');
        if waits && (said.send(std::mem::take(&mut together)).is_err() || last) {
            return;
        }
    }
}

fn understood(line: &[u8]) -> Line {
    FromWorker::read(line).map_or_else(
        |error| {
            let shown: String = String::from_utf8_lossy(line).trim_end().chars().take(SHOWN_CHARS).collect();
            Line::Unreadable {
                why: format!("the worker wrote a line that is none of the protocol: {error}: {shown}"),
            }
        },
        Line::Said,
    )
}

/// The line with the values of secrets replaced by their names, so that they reach no record, whatever the worker
/// says. A value is found in the texts as they are meant, escapes undone; one that stands outside of them breaks the
/// line, which is reported without it.
fn without_secrets<'l>(line: &'l [u8], secrets: &[Secret]) -> Cow<'l, [u8]> {
    if secrets.is_empty() {
        return Cow::Borrowed(line);
    }
    let text = String::from_utf8_lossy(line);
    let mut out = String::with_capacity(text.len());
    let mut rest: &str = &text;
    while let Some(start) = rest.find('"') {
        let (before, from) = rest.split_at(start);
        out.push_str(&redacted(before, secrets));
        let end = end_of_text(from);
        let (token, after) = from.split_at(end);
        out.push_str(&redacted_text(token, secrets));
        rest = after;
    }
    out.push_str(&redacted(rest, secrets));
    Cow::Owned(out.into_bytes())
}

/// Where the text that opens with the first byte of `from` ends, its closing quote included.
fn end_of_text(from: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in from.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    from.len()
}

/// A text between its quotes without secrets.
fn redacted_text<'t>(token: &'t str, secrets: &[Secret]) -> Cow<'t, str> {
    let holds = |text: &str| {
        secrets.iter().any(|secret| !secret.value.is_empty() && text.contains(secret.value.as_str()))
    };
    match serde_json::from_str::<Cow<'_, str>>(token) {
        Ok(text) if holds(&text) => Cow::Owned(serde_json::Value::from(redacted(&text, secrets)).to_string()),
        Ok(_) => Cow::Borrowed(token),
        // No text of JSON: the line is refused as a whole, and its report shows nothing of the secret.
        Err(_) => Cow::Owned(redacted(token, secrets)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Vec<Secret> {
        let secret = |name: &str, value: &str| Secret { name: name.into(), value: value.into() };
        vec![secret("TOKEN", "hf_sésame"), secret("KEY", "a\"b\\c\nd"), secret("PIN", "271828")]
    }

    fn cleaned(line: &str) -> String {
        String::from_utf8(without_secrets(line.as_bytes(), &secrets()).into_owned()).unwrap()
    }

    #[test]
    fn a_secret_is_found_however_its_characters_are_escaped() {
        assert_eq!(cleaned(r#"{"a":"x hf_sésame y"}"#), r#"{"a":"x [TOKEN] y"}"#);
        assert_eq!(cleaned(r#"{"a":"hf_s\u00e9same"}"#), r#"{"a":"[TOKEN]"}"#);
        assert_eq!(cleaned(r#"{"hf_s\u00E9same":["a\"b\\c\nd"]}"#), r#"{"[TOKEN]":["[KEY]"]}"#);
    }

    #[test]
    fn what_holds_no_secret_stays_byte_for_byte() {
        let line = r#"{"a":"\u00e9 \"x\"", "n": 123456789012345678901, "e":1E5}"#;
        assert_eq!(cleaned(line), line);
    }

    #[test]
    fn a_secret_among_numbers_breaks_the_line_and_is_not_shown() {
        let line = cleaned(r#"{"type":"answer","wire":"w1","output":{"json":271828}}"#);
        let Line::Unreadable { why } = understood(line.as_bytes()) else { panic!("{line}") };
        assert!(why.contains("[PIN]") && !why.contains("271828"), "{why}");
    }

    #[test]
    fn lines_that_are_there_together_are_handed_on_together() {
        let (said, lines) = sync_channel(8);
        let text = "{\"type\":\"done\",\"batch\":\"b1\"}\n".repeat(3);
        read_lines(text.as_bytes(), 4_096, &[], &said);
        let handfuls: Vec<usize> = lines.try_iter().map(|handful| handful.len()).collect();
        assert_eq!(handfuls, [3, 1], "three lines, then the end");
    }

    #[test]
    fn a_line_at_the_limit_is_read_and_one_beyond_is_not() {
        let line =
            |bytes: usize| format!("{{\"type\":\"setting-up\",\"note\":\"{}\"}}\n", "x".repeat(bytes - 32));
        for (bytes, fits) in [(4_096, true), (4_097, false)] {
            let (said, lines) = sync_channel(8);
            assert_eq!(line(bytes).len(), bytes);
            read_lines(line(bytes).as_bytes(), 4_096, &[], &said);
            let first = lines.recv().unwrap().remove(0);
            assert_eq!(matches!(first, Line::Said(_)), fits, "{bytes}");
        }
    }
}
