//! `--until`: a time at which a trial is to have stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pilote_spec::{Clock, Stamp};

use crate::failure::Failure;

/// The stop begins so long before the time, for the batch in hand and for writing everything down.
const AHEAD: Duration = Duration::from_secs(60);
/// A wall clock that is set meanwhile is noticed within this time.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The time that was meant: `2026-12-01T18:00Z`, with another offset, or from now as in `90m`, `2h30m`, `3d`.
///
/// # Errors
/// When the text is neither, or the time is past.
pub(crate) fn parse(text: &str, now: Stamp) -> Result<Stamp, Failure> {
    let wrong = |what: &str| {
        Failure::request("until", anyhow::anyhow!("--until {text}: {what}"))
            .hint("write a time with its offset, as 2026-12-01T18:00Z, or one from now, as 90m, 2h30m or 3d")
    };
    let at = match from_now(text) {
        Some(time) => u64::try_from(time.as_millis()).ok().and_then(|millis| now.0.checked_add(millis)),
        None => with_seconds(text)
            .parse::<jiff::Timestamp>()
            .ok()
            .and_then(|time| u64::try_from(time.as_millisecond()).ok()),
    };
    let at = Stamp(at.ok_or_else(|| wrong("this is no time"))?);
    if at <= now { Err(wrong("this time is past")) } else { Ok(at) }
}

/// Sets `interrupt` when the time is near.
pub(crate) fn watch(at: Stamp, clock: Arc<dyn Clock>, interrupt: Arc<AtomicBool>) {
    let begin = Stamp(at.0.saturating_sub(u64::try_from(AHEAD.as_millis()).unwrap_or(u64::MAX)));
    std::thread::spawn(move || {
        while clock.wall() < begin {
            let left = Duration::from_millis(begin.0.saturating_sub(clock.wall().0));
            clock.wait(left.min(LOOK_EVERY));
        }
        interrupt.store(true, Ordering::Relaxed);
    });
}

/// `2h30m` as a duration; none where the text is no such list of numbers with units.
fn from_now(text: &str) -> Option<Duration> {
    let mut seconds = 0_u64;
    let mut number = String::new();
    for letter in text.chars() {
        if letter.is_ascii_digit() {
            number.push(letter);
            continue;
        }
        let unit = match letter {
            's' => 1,
            'm' => 60,
            'h' => 3_600,
            'd' => 86_400,
            _ => return None,
        };
        seconds = seconds.checked_add(std::mem::take(&mut number).parse::<u64>().ok()?.checked_mul(unit)?)?;
    }
    (number.is_empty() && !text.is_empty()).then(|| Duration::from_secs(seconds))
}

/// `2026-12-01T18:00Z` with the seconds that the reader of times asks for.
fn with_seconds(text: &str) -> String {
    match text.split_at_checked("2026-12-01T18:00".len()) {
        Some((minutes, offset)) if !offset.starts_with(':') => format!("{minutes}:00{offset}"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Stamp = Stamp(1_796_062_500_000);

    #[test]
    fn a_time_is_meant_from_now_or_on_the_calendar() {
        assert_eq!(parse("90m", NOW).unwrap(), Stamp(NOW.0 + 5_400_000));
        assert_eq!(parse("2h30m", NOW).unwrap(), Stamp(NOW.0 + 9_000_000));
        let noon = parse("2026-12-01T12:00Z", NOW).unwrap();
        assert_eq!(parse("2026-12-01T12:00:00+00:00", NOW).unwrap(), noon);
        assert_eq!(parse("2026-12-01T21:00+09:00", NOW).unwrap(), noon);
    }

    #[test]
    fn what_is_no_time_and_a_time_that_is_past_are_refused() {
        for text in ["", "soon", "18:00", "2h30", "m", "2026-12-01T18:00", "99999999999999999999d"] {
            let failure = parse(text, NOW).unwrap_err();
            assert!(failure.for_people().contains("this is no time"), "{text}: {}", failure.for_people());
        }
        assert!(parse("2020-01-01T00:00Z", NOW).unwrap_err().for_people().contains("this time is past"));
        assert!(parse("0m", NOW).unwrap_err().for_people().contains("this time is past"));
    }
}
