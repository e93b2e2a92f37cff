//! Running other programs, in the open: each command is printed before it starts, as it could be typed.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

/// Says something to the person who runs the task.
#[expect(
    clippy::print_stderr,
    reason = "the one place where tasks speak; standard output stays free for data"
)]
pub fn say(text: &str) {
    eprintln!("{text}");
}

/// Runs a command with the terminal's own output and fails unless it succeeds.
///
/// # Errors
/// When it cannot start or ends with another status than 0.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    let line = shown(command);
    say(&format!("\n$ {line}"));
    let status = command.status().with_context(|| format!("`{line}` did not start"))?;
    if status.success() {
        return Ok(());
    }
    bail!("`{line}` failed: {status}")
}

/// Runs a command and returns what it printed on standard output; its standard error goes to the terminal.
///
/// # Errors
/// When it cannot start, ends with another status than 0, or prints no UTF-8.
pub fn capture(command: &mut Command) -> anyhow::Result<String> {
    let line = shown(command);
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("`{line}` did not start"))?;
    if !output.status.success() {
        bail!("`{line}` failed: {}", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` printed something that is not UTF-8"))
}

/// Whether a command can be run and succeeds; nothing is printed.
#[must_use]
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success())
}

/// The command as a person would type it, with the variables that it sets.
fn shown(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        value.map(|value| format!("{}={}", name.to_string_lossy(), quoted(value)))
    });
    let words = std::iter::once(command.get_program()).chain(command.get_args()).map(quoted);
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_could_be_typed() {
        let mut command = Command::new("cargo");
        command.env("RUSTDOCFLAGS", "-D warnings").args(["doc", "it's"]);
        assert_eq!(shown(&command), r"RUSTDOCFLAGS='-D warnings' cargo doc 'it'\''s'");
    }

    #[test]
    fn a_failing_command_is_named_with_its_status() {
        let error = run(Command::new("false").arg("x")).unwrap_err().to_string();
        assert!(error.starts_with("`false x` failed"), "{error}");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = capture(&mut Command::new("no-such-program-here")).unwrap_err();
        assert_eq!(error.to_string(), "`no-such-program-here` did not start");
    }
}
