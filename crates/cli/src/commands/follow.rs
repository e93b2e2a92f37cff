//! `pilote follow`: watches a trial that works in another terminal or in none, until it ends.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pilote_ledger::Standing;
use pilote_proof::TrialState;
use pilote_spec::Clock as _;

use super::status;
use super::writer::{self, Found};
use crate::args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place;
use crate::printer::Printer;
use crate::progress::{Meter, Pace};
use crate::surroundings::Surroundings;

/// How often the events are read again.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long an interrupt may go unheard.
const HEAR_EVERY: Duration = Duration::from_millis(100);

/// Shows how far a trial is until nobody works on it any more, then how it stands.
///
/// # Errors
/// When the trial cannot be read.
pub(crate) fn follow(
    args: &args::Follow,
    surroundings: &Surroundings,
    printer: &Printer,
) -> Result<Exit, Failure> {
    let trial = place::trial(surroundings, &args.run)?;
    surroundings.heed_interrupts()?;
    if !watch(&trial, surroundings, printer)? {
        printer.say(&printer.texts.get("follow-left", &[("trial", &trial.display().to_string())]));
        return Ok(Exit::Stopped);
    }
    let exit = status::show(&trial, printer)?;
    let state = pilote_proof::summary(&trial).state;
    Ok(if state == TrialState::Collected { exit } else { Exit::Stopped })
}

/// True when nobody works any more, false when an interrupt ended the watching.
fn watch(trial: &Path, surroundings: &Surroundings, printer: &Printer) -> Result<bool, Failure> {
    let meter = Meter::new(printer, surroundings.clock.clone());
    let (mut told_elsewhere, mut error_told) = (false, false);
    while let Some(Found { news, standing }) = writer::last(trial, surroundings)? {
        match standing {
            Standing::Dead(_) => return Ok(true),
            Standing::Unknown(why) if !told_elsewhere => {
                told_elsewhere = true;
                printer.say(&printer.texts.get("follow-elsewhere", &[("why", &why)]));
            }
            Standing::Unknown(_) | Standing::Alive => {}
        }
        if let Some(error) = news.first_error.as_ref().filter(|_| !error_told) {
            error_told = true;
            printer.say(&format!("engine: {error}"));
        }
        let declared = pilote_proof::declared(trial).unwrap_or(0);
        let mut pace = Pace::from(news.carried_over, Duration::ZERO);
        for (at, done) in &news.progress {
            pace.add(*at, *done);
        }
        let done = news.progress.last().map_or(news.carried_over, |(_, done)| *done);
        let what = if news.ended.is_some() { "follow-collecting" } else { "run-progress" };
        meter.show(
            &printer.texts.get(what, &[]),
            done,
            declared,
            &pace.figures(&printer.texts, declared, news.refused),
        );
        let mut waited = Duration::ZERO;
        while waited < LOOK_EVERY {
            if surroundings.interrupt.load(Ordering::Relaxed) {
                return Ok(false);
            }
            surroundings.clock.wait(HEAR_EVERY);
            waited += HEAR_EVERY;
        }
    }
    Ok(true)
}
