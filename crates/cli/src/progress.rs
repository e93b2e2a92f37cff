//! Progress on standard error: a drawn line on a terminal, one whole line a minute in a log, nothing when quiet.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pilote_spec::Clock;

use crate::printer::{Printer, write_line};

/// How often a log gets a line.
const LOG_EVERY: Duration = Duration::from_secs(60);
/// Shorter work shows nothing.
const QUIET_FOR: Duration = Duration::from_secs(1);

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
