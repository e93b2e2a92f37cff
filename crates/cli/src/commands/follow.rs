//! `pilote follow`: watches a trial that works in another terminal or in none, until it ends.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use pilote_ledger::Standing;
use pilote_proof::{Together, TrialState, WriterNews};
use pilote_spec::Clock as _;

use super::status;
use super::writer;
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
    let exit = status::show(&trial, surroundings, printer)?;
    let state = pilote_proof::summary(&trial).state;
    Ok(if state == TrialState::Collected { exit } else { Exit::Stopped })
}

/// True when nobody works any more, false when an interrupt ended the watching.
fn watch(trial: &Path, surroundings: &Surroundings, printer: &Printer) -> Result<bool, Failure> {
    let meter = Meter::new(printer, surroundings.clock.clone());
    let (mut told_elsewhere, mut errors_told) = (false, BTreeSet::new());
    loop {
        let found = writer::all(trial, surroundings)?;
        // An earlier one that cannot be seen was followed by another, or works beside one that can be.
        let unseen = match found.last().map(|writer| &writer.standing) {
            Some(Standing::Unknown(why)) => Some(why.clone()),
            _ => None,
        };
        let alive = found.iter().filter(|writer| writer.standing == Standing::Alive).count();
        if alive == 0 && unseen.is_none() {
            return Ok(true);
        }
        if let Some(why) = unseen.filter(|_| !told_elsewhere) {
            told_elsewhere = true;
            printer.say(&printer.texts.get("follow-elsewhere", &[("why", &why)]));
        }
        let at_work = found.iter().filter(|writer| !matches!(writer.standing, Standing::Dead(_)));
        for writer in at_work {
            if let Some(error) = &writer.news.first_error
                && errors_told.insert((writer.news.began, error.clone()))
            {
                printer.say(&format!("engine: {error}"));
            }
        }
        let collects = found
            .iter()
            .all(|writer| matches!(writer.standing, Standing::Dead(_)) || writer.news.ended.is_some());
        let news: Vec<WriterNews> = found.into_iter().map(|writer| writer.news).collect();
        let Together { carried_over, done, refused, progress } = pilote_proof::together(&news);
        let declared = pilote_proof::declared(trial).unwrap_or(0);
        let mut pace = Pace::from(carried_over, Duration::ZERO);
        for (at, done) in progress {
            pace.add(at, done);
        }
        let what = printer.texts.get(if collects { "follow-collecting" } else { "run-progress" }, &[]);
        let mut figures = pace.figures(&printer.texts, declared, refused);
        if alive > 1 {
            let workers = printer.texts.get("crew-workers", &[("workers", &alive.to_string())]);
            figures = format!("{workers} · {figures}");
        }
        meter.show(&what, done, declared, &figures);
        let mut waited = Duration::ZERO;
        while waited < LOOK_EVERY {
            if surroundings.interrupt.load(Ordering::Relaxed) {
                return Ok(false);
            }
            surroundings.clock.wait(HEAR_EVERY);
            waited += HEAR_EVERY;
        }
    }
}
