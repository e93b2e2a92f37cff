//! What a reply means for the item, for the endpoint and for the trial; pure, so every case is a test.

use std::time::Duration;

use jiff::fmt::rfc2822::DateTimeParser;
use pilote_spec::Stamp;

/// The longest wait that a server can ask for; beyond it we ask again anyway.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(120);
/// The first wait of a retry; each one after doubles it.
const WAIT_FIRST: Duration = Duration::from_millis(500);

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// The server answered.
    Http {
        /// The status.
        status: u16,
        /// The `Retry-After` header, as it came.
        retry_after: Option<String>,
        /// The body, bounded.
        body: Vec<u8>,
    },
    /// No connection could be made: the request was never seen.
    NotReached(String),
    /// The connection broke or time ran out after the request was sent.
    Broken(String),
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// The body is an answer.
    Read,
    /// The endpoint asks for slower requests; costs the item nothing.
    SlowDown {
        /// How long nobody is to ask.
        asked: Duration,
        /// When this request is made again, spread so that not all of them start together.
        spread: Duration,
    },
    /// The endpoint is down; costs the item nothing.
    EndpointDown(String),
    /// Something failed on the way of this request; costs the item an attempt.
    AttemptFailed(String),
    /// The server will not do this item, in its own words.
    RefuseItem(String),
    /// Nobody will be served before a person acts: access, payment, a wrong model name.
    Pause(String),
}

/// What to do after `reply`; `now` is the wall clock, `chance` lies in 0..1 and spreads what starts again.
pub(super) fn next(reply: &Reply, now: Stamp, chance: f64) -> Next {
    match reply {
        Reply::NotReached(why) => Next::EndpointDown(why.clone()),
        Reply::Broken(why) => Next::AttemptFailed(why.clone()),
        Reply::Http { status, retry_after, body } => {
            let said = || format!("status {status}: {}", words(body));
            match status {
                200..=299 => Next::Read,
                429 => slow_down(retry_after.as_deref(), now, chance),
                503 if retry_after.is_some() => slow_down(retry_after.as_deref(), now, chance),
                400 | 413 | 422 => Next::RefuseItem(said()),
                401..=405 => Next::Pause(said()),
                502..=504 => Next::EndpointDown(said()),
                _ => Next::AttemptFailed(said()),
            }
        }
    }
}

/// How long a `Retry-After` asks us to wait, never above [`WAIT_MAX`], and the same spread by up to a quarter. One
/// that is absent, negative or no number and no date asks for the first wait of a retry.
fn slow_down(retry_after: Option<&str>, now: Stamp, chance: f64) -> Next {
    let asked = retry_after.map(str::trim).and_then(|text| match text.parse::<u64>() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => until(text, now),
    });
    let asked = asked.unwrap_or(WAIT_FIRST).min(WAIT_MAX);
    Next::SlowDown { asked, spread: spread(asked, chance) }
}

/// The time from `now` to an HTTP date (RFC 9110, 5.6.7); none for a date in the past.
fn until(date: &str, now: Stamp) -> Option<Duration> {
    let then = DateTimeParser::new().parse_timestamp(date).ok()?.as_millisecond();
    u64::try_from(then).ok()?.checked_sub(now.0).map(Duration::from_millis)
}

/// The wait before attempt `attempt` (from 1) of something that failed.
pub(super) fn backoff(attempt: u32, chance: f64) -> Duration {
    let doubled = WAIT_FIRST.saturating_mul(1 << attempt.saturating_sub(1).min(10));
    spread(doubled.min(WAIT_MAX / 2), chance)
}

fn spread(wait: Duration, chance: f64) -> Duration {
    wait.mul_f64(1.0 + chance.clamp(0.0, 1.0) / 4.0)
}

/// What a server says of an error: its `error.message` where there is one, else the start of the body.
pub(super) fn words(body: &[u8]) -> String {
    let message = serde_json::from_slice::<serde_json::Value>(body).ok().and_then(|value| {
        let error = value.get("error").unwrap_or(&value);
        error.get("message").unwrap_or(error).as_str().map(str::to_owned)
    });
    let text = message.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned());
    text.chars().take(500).collect()
}

/// Numbers in 0..1 from a seed (splitmix64), for spreading waits.
#[derive(Debug, Clone)]
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        f64::from(u32::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap_or(0)) / f64::from(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Stamp = Stamp(1_764_504_000_000); // 2025-11-30T12:00:00Z

    fn http(status: u16, retry_after: Option<&str>) -> Reply {
        Reply::Http { status, retry_after: retry_after.map(str::to_owned), body: b"no".to_vec() }
    }

    #[test]
    fn a_retry_after_is_kept_to_in_seconds_and_as_a_date_and_never_above_the_cap() {
        let asked = |text| next(&http(429, Some(text)), NOON, 0.0);
        let slow = |asked| Next::SlowDown { asked, spread: asked };
        assert_eq!(asked("7"), slow(Duration::from_secs(7)));
        assert_eq!(asked("Sun, 30 Nov 2025 12:00:09 GMT"), slow(Duration::from_secs(9)));
        assert_eq!(asked("1000000000"), slow(WAIT_MAX));
        for nonsense in ["-4", "soon", "", "Sun, 30 Nov 2025 11:00:00 GMT"] {
            assert_eq!(asked(nonsense), slow(WAIT_FIRST), "{nonsense}");
        }
    }

    #[test]
    fn twenty_throttled_requests_do_not_start_again_together() {
        let mut chance = Chance(1);
        let mut waits: Vec<_> = (0..20)
            .map(|_| match slow_down(Some("10"), NOON, chance.draw()) {
                Next::SlowDown { spread, .. } => spread,
                other => panic!("{other:?}"),
            })
            .collect();
        waits.sort();
        waits.dedup();
        assert_eq!(waits.len(), 20);
        assert!(waits.iter().all(|wait| (10.0..=12.5).contains(&wait.as_secs_f64())));
    }

    #[test]
    fn access_and_payment_pause_the_trial_and_a_bad_request_refuses_its_item() {
        for status in [401, 402, 403, 404] {
            assert!(matches!(next(&http(status, None), NOON, 0.0), Next::Pause(_)), "{status}");
        }
        for status in [400, 413, 422] {
            assert!(matches!(next(&http(status, None), NOON, 0.0), Next::RefuseItem(_)), "{status}");
        }
        for status in [502, 503, 504] {
            assert!(matches!(next(&http(status, None), NOON, 0.0), Next::EndpointDown(_)), "{status}");
        }
        assert!(matches!(next(&http(500, None), NOON, 0.0), Next::AttemptFailed(_)));
        assert!(matches!(next(&Reply::Broken("reset".into()), NOON, 0.0), Next::AttemptFailed(_)));
        assert!(matches!(next(&Reply::NotReached("refused".into()), NOON, 0.0), Next::EndpointDown(_)));
    }

    #[test]
    fn a_retry_waits_longer_each_time_and_within_bounds() {
        assert_eq!(backoff(1, 0.0), Duration::from_millis(500));
        assert_eq!(backoff(3, 0.0), Duration::from_secs(2));
        assert!(backoff(40, 1.0) <= WAIT_MAX);
    }

    #[test]
    fn a_servers_words_are_found_in_its_json() {
        assert_eq!(words(br#"{"error":{"message":"too long","type":"x"}}"#), "too long");
        assert_eq!(words(br#"{"error":"nope"}"#), "nope");
        assert_eq!(words(b"<html>"), "<html>");
    }
}
