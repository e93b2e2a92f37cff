//! What an engine is asked before the first item: every canary, and whether it cuts inputs in silence.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pilote_engine::{
    Answer, Batch, BatchId, Content, DISAGREES, Engine, EngineFault, Event, Request, Stop, WireId,
};
use pilote_spec::{Beyond, Clock, Guards, Output, OutputSpec, Project};

use super::{Tally, known_answer};

/// How often an interrupt is looked for meanwhile.
const HEED: Duration = Duration::from_millis(100);
/// Words of the probe where neither the project nor the engine declares a limit: beyond what most encoders take.
const WORDS_UNDECLARED: u32 = 600;
/// Words of the probe at the most: a limit beyond is not tried, since computing so much takes too long.
const WORDS_MAX: u32 = 8_192;
/// Words of each of the two ends that differ.
const END_WORDS: usize = 16;
/// Vectors whose components differ by no more than this share of the largest are taken for the same.
const SAME: f32 = 1e-6;
/// The step of an interrupt before the first item.
pub(crate) const INTERRUPTED: &str = "interrupted";

/// What is around an engine that was just started.
pub(crate) struct Around<'a> {
    pub(crate) project: &'a Project,
    pub(crate) tally: &'a Tally,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) interrupt: &'a AtomicBool,
    /// How long a batch may go without any answer.
    pub(crate) stall: Option<Duration>,
}

/// Asks an engine that was just started; gives what was seen, for the record.
///
/// # Errors
/// When a canary is not answered as declared, inputs are cut in silence, or the engine fails meanwhile.
pub(crate) fn probe(engine: &mut dyn Engine, around: &Around<'_>) -> Result<Vec<String>, EngineFault> {
    let mut seen = Vec::new();
    let Guards { canaries, .. } = &around.project.guards;
    if !canaries.is_empty() {
        let texts: Vec<String> = canaries.iter().map(|canary| canary.text.clone()).collect();
        for (number, answer) in ask(engine, around, &texts)?.into_iter().enumerate() {
            let answer = answer.ok_or_else(|| {
                super::disagrees(&format!("canary {number} (from 0) got no answer before the first item"))
            })?;
            known_answer(&around.project.guards, number, &answer).map_err(|why| super::disagrees(&why))?;
        }
        seen.push(format!("{} canaries were answered as declared", canaries.len()));
    }
    if let (OutputSpec::Vector { .. }, Beyond::Refuse) =
        (&around.project.output, around.project.limits.beyond)
    {
        seen.push(truncation(engine, around)?);
    }
    Ok(seen)
}

/// Two texts that are equal up to the limit and differ after it.
fn truncation(engine: &mut dyn Engine, around: &Around<'_>) -> Result<String, EngineFault> {
    let declared = [around.project.limits.tokens, engine.facts().longest_tokens].into_iter().flatten().min();
    let limit = declared.unwrap_or(WORDS_UNDECLARED).min(WORDS_MAX);
    // Each word is a token or more, so that both texts are the same for the first `limit` tokens and beyond.
    let begin = "one and the same ".repeat(usize::try_from(limit.div_ceil(4)).unwrap_or(0) + 4);
    let texts =
        ["river ", "mathematics "].map(|word| format!("{begin}{}", word.repeat(END_WORDS).trim_end()));
    let said = |what: &str| format!("two texts that differ only after {limit} words {what}");
    let answers = ask(engine, around, &texts)?;
    let [Some(Answer::Output(one)), Some(Answer::Output(other))] = &answers[..] else {
        return Ok(said("are refused"));
    };
    let (Output::Vector { values, cut_at_tokens }, Output::Vector { values: again, .. }) = (one, other)
    else {
        return Ok(said("give no vectors"));
    };
    if let Some(tokens) = cut_at_tokens {
        return Err(cut(&format!("{} and are cut at {tokens} tokens", said("give vectors"))));
    }
    let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let same = values.len() == again.len()
        && values.iter().zip(again).all(|(one, other)| (one - other).abs() <= SAME * largest);
    if same { Err(cut(&said("give the same vector"))) } else { Ok(said("give different vectors")) }
}

fn cut(evidence: &str) -> EngineFault {
    EngineFault {
        step: DISAGREES.to_owned(),
        first_error: evidence.to_owned(),
        advice: Some(
            "the engine cuts its inputs and does not say so: have it refuse what is too long, declare a smaller \
             `limits.tokens`, or declare `limits.beyond` as `truncate`"
                .to_owned(),
        ),
        ended: true,
    }
}

/// The answers to `texts`, asked as one batch; none for what got no answer.
fn ask(
    engine: &mut dyn Engine,
    around: &Around<'_>,
    texts: &[String],
) -> Result<Vec<Option<Answer>>, EngineFault> {
    let wires: Vec<WireId> = texts.iter().map(|_| WireId(around.tally.name())).collect();
    let requests =
        wires.iter().zip(texts).map(|(wire, text)| Request::new(*wire, Content::Text(text.clone())));
    let id = BatchId(around.tally.name());
    engine.submit(Batch { id, requests: requests.collect() })?;
    let mut answers = BTreeMap::new();
    let mut last_sign = around.clock.monotonic();
    loop {
        let events = engine.poll(HEED)?;
        if !events.is_empty() {
            last_sign = around.clock.monotonic();
        }
        for event in events {
            match event {
                Event::Answer { wire, answer } => {
                    answers.entry(wire).or_insert(answer);
                }
                Event::Finished { .. } => {
                    return Ok(wires.iter().map(|wire| answers.remove(wire)).collect());
                }
                Event::Failed { fault, .. } => return Err(fault),
                // Counted where it matters: as soon as items are asked.
                Event::Stray { .. } => {}
            }
        }
        let silent = around.clock.monotonic().saturating_sub(last_sign);
        let stalled = around.stall.is_some_and(|stall| silent >= stall);
        if stalled || around.interrupt.load(Ordering::Relaxed) {
            let _ = engine.stop(Stop::Now);
            let (step, said) = if stalled {
                ("compute", format!("no answer for {} s to the first questions", silent.as_secs()))
            } else {
                (INTERRUPTED, "an end was asked for before the first item".to_owned())
            };
            return Err(EngineFault { step: step.to_owned(), first_error: said, advice: None, ended: true });
        }
    }
}
