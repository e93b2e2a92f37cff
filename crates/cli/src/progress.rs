//! Progress on standard error: a drawn line on a terminal, one whole line a minute in a log, nothing when quiet.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pilote_spec::Clock;
use pilote_text::Texts;

use crate::printer::{Printer, write_line};

/// How often a log gets a line.
const LOG_EVERY: Duration = Duration::from_secs(60);
/// Shorter work shows nothing.
const QUIET_FOR: Duration = Duration::from_secs(1);

/// How far back the rate is taken from.
const PACE_OVER: Duration = Duration::from_secs(600);
/// From fewer items, and in less time, no estimate is made.
const PACE_ITEMS_MIN: u64 = 20;
const PACE_TIME_MIN: Duration = Duration::from_secs(5);

/// How fast outcomes come, from what was seen of late.
pub(crate) struct Pace {
    seen: VecDeque<(Duration, u64)>,
}

/// A rate and what follows from it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Estimate {
    /// Items in a second.
    rate: f64,
    /// Until the rest is done, at that rate.
    left: Duration,
    /// The items that the rate comes from.
    items: u64,
    /// The time in which they came.
    over: Duration,
}

impl Pace {
    /// Begins with `done` items at time `at`.
    pub(crate) fn from(done: u64, at: Duration) -> Self {
        Self { seen: VecDeque::from([(at, done)]) }
    }

    /// `done` items at time `at`, which never goes back.
    pub(crate) fn add(&mut self, at: Duration, done: u64) {
        self.seen.push_back((at, done));
        // The oldest one kept is the last that is old enough, so that the span is whole.
        while self.seen.get(1).is_some_and(|(second, _)| at.saturating_sub(*second) >= PACE_OVER) {
            self.seen.pop_front();
        }
    }

    /// Refused items, and where enough was seen the rate, the time left and what both rest on.
    pub(crate) fn figures(&self, texts: &Texts, total: u64, refused: u64) -> String {
        let refused = texts.get("run-refused-so-far", &[("refused", &texts.number(refused))]);
        let Some(estimate) = self.estimate(total) else { return refused };
        let args = [
            ("rate", &*texts.decimal(estimate.rate, usize::from(estimate.rate < 100.0))),
            ("left", &*texts.duration(whole_seconds(estimate.left))),
            ("items", &*texts.number(estimate.items)),
            ("over", &*texts.duration(whole_seconds(estimate.over))),
        ];
        format!("{refused} · {}", texts.get("run-estimate", &args))
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate for people, of counts far below 2^52")]
    fn estimate(&self, total: u64) -> Option<Estimate> {
        let ((begun, before), (now, done)) = (*self.seen.front()?, *self.seen.back()?);
        let (items, over) = (done.saturating_sub(before), now.saturating_sub(begun));
        if items < PACE_ITEMS_MIN || over < PACE_TIME_MIN {
            return None;
        }
        let rate = items as f64 / over.as_secs_f64();
        let left = Duration::try_from_secs_f64(total.saturating_sub(done) as f64 / rate).ok()?;
        Some(Estimate { rate, left, items, over })
    }
}

fn whole_seconds(time: Duration) -> Duration {
    Duration::from_secs(time.as_secs())
}

/// One thing that goes on, in figures.
pub(crate) struct Meter {
    clock: Arc<dyn Clock>,
    way: Way,
    state: Mutex<State>,
}

enum Way {
    Silent,
    Log,
    Terminal(ProgressBar),
}

struct State {
    started: Duration,
    last_line: Duration,
}

impl Meter {
    /// A meter that speaks as the printer may.
    #[must_use]
    pub(crate) fn new(printer: &Printer, clock: Arc<dyn Clock>) -> Self {
        let way = match printer.draws_progress() {
            None => Way::Silent,
            Some(false) => Way::Log,
            Some(true) => {
                let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
                Way::Terminal(bar.with_style(style()))
            }
        };
        let now = clock.monotonic();
        Self { clock, way, state: Mutex::new(State { started: now, last_line: now }) }
    }

    /// Says how far it is; `total` 0 is unknown. `figures` stands behind the share done.
    pub(crate) fn show(&self, what: &str, done: u64, total: u64, figures: &str) {
        let now = self.clock.monotonic();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &self.way {
            Way::Silent => {}
            Way::Log => {
                if now.saturating_sub(state.last_line) >= LOG_EVERY {
                    state.last_line = now;
                    write_line(&mut std::io::stderr(), &log_line(what, done, total, figures));
                }
            }
            Way::Terminal(bar) => {
                if bar.is_hidden() && now.saturating_sub(state.started) >= QUIET_FOR {
                    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
                }
                bar.set_length(total);
                bar.set_position(done);
                bar.set_prefix(what.to_owned());
                bar.set_message(figures.to_owned());
            }
        }
    }

    /// Takes the drawn line away.
    pub(crate) fn clear(&self) {
        if let Way::Terminal(bar) = &self.way {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.clear();
    }
}

fn log_line(what: &str, done: u64, total: u64, figures: &str) -> String {
    match (done * 100).checked_div(total) {
        Some(percent) => format!("{what}: {done}/{total} ({percent} %) {figures}"),
        None => format!("{what}: {done} {figures}"),
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{prefix} {bar:24} {pos}/{len} ({percent} %) {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    use pilote_text::Lang;

    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn an_estimate_rests_on_what_came_since_the_start_and_not_on_what_was_carried_over() {
        let mut pace = Pace::from(900, seconds(0));
        pace.add(seconds(10), 950);
        let estimate = pace.estimate(1_000).unwrap();
        assert_eq!((estimate.items, estimate.left, estimate.over), (50, seconds(10), seconds(10)));
        assert!((estimate.rate - 5.0).abs() < 1e-9);
    }

    #[test]
    fn an_estimate_follows_what_came_of_late() {
        let mut pace = Pace::from(0, seconds(0));
        for minute in 1..=60 {
            // Ten times slower after half an hour.
            pace.add(
                seconds(60 * minute),
                if minute <= 30 { minute * 600 } else { 18_000 + (minute - 30) * 60 },
            );
        }
        assert!((pace.estimate(100_000).unwrap().rate - 1.0).abs() < 1e-9);
    }

    #[test]
    fn no_estimate_is_made_from_a_handful_of_items_or_a_moment() {
        let mut pace = Pace::from(0, seconds(0));
        pace.add(seconds(60), 12);
        assert_eq!(pace.estimate(1_000_000), None);
        let mut pace = Pace::from(0, seconds(0));
        pace.add(seconds(1), 4_096);
        assert_eq!(pace.estimate(1_000_000), None);
        assert_eq!(pace.figures(&Texts::new(Lang::En), 1_000_000, 3), "3 refused");
    }
}
