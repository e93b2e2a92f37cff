//! The lines that a writer leaves beside the outcomes: `events/W.jsonl` and `measures/W.jsonl`, `W` being the writer's
//! nonce. Events are rare and durable at once; measures are made durable with the next event.

use std::sync::Arc;
use std::time::Duration;

use pilote_engine::EngineFault;
use pilote_ledger::{Append, Nonce, Store, StoreError};
use pilote_machine::causes;
use pilote_spec::{EventLine, MeasureLine, TrialEvent};
use serde::Serialize;

use crate::indexing::create_new;

/// Both files of one writer.
pub(crate) struct Journal {
    events: LineFile,
    measures: LineFile,
    origin: Duration,
}

impl Journal {
    /// The journal of the writer `nonce`, whose times count from `origin` on its monotonic clock. Nothing is created
    /// before the first line.
    pub(crate) fn new(store: &Arc<dyn Store>, nonce: Nonce, origin: Duration) -> Self {
        let file = |kind: &str| LineFile {
            store: Arc::clone(store),
            name: format!("{kind}/{nonce}"),
            pending: Vec::new(),
            appender: None,
            pieces: 0,
        };
        Self { events: file("events"), measures: file("measures"), origin }
    }

    /// Notes an event at time `at`, durable on return.
    pub(crate) fn event(&mut self, at: Duration, event: TrialEvent) -> Result<(), StoreError> {
        let line = EventLine { at_us: self.since(at), event };
        self.events.push(&line)?;
        self.measures.flush()?;
        self.events.flush()
    }

    /// Notes a measure; its own time is set here.
    pub(crate) fn measure(&mut self, at: Duration, mut line: MeasureLine) -> Result<(), StoreError> {
        line.at_us = self.since(at);
        self.measures.push(&line)
    }

    fn since(&self, at: Duration) -> u64 {
        u64::try_from(at.saturating_sub(self.origin).as_micros()).unwrap_or(u64::MAX)
    }
}

/// The event of an engine's fault: its own words, the cause where they are recognised, and the rung of the ladder of
/// checks that looks at it.
pub(crate) fn failed(fault: EngineFault) -> TrialEvent {
    let EngineFault { step, first_error, advice, .. } = fault;
    let cause = causes::recognise(&first_error);
    let rung = cause.map_or_else(|| causes::rung_of_step(&step), causes::rung_of);
    TrialEvent::Failed {
        step,
        first_error,
        rung: Some(rung.code().to_owned()),
        cause: cause.map(str::to_owned),
        advice,
    }
}

/// Lines of JSON under one name: one file where the store appends, else pieces `NAME-000001.jsonl` and so on.
struct LineFile {
    store: Arc<dyn Store>,
    name: String,
    pending: Vec<u8>,
    appender: Option<Box<dyn Append>>,
    pieces: u32,
}

impl LineFile {
    fn push(&mut self, line: &impl Serialize) -> Result<(), StoreError> {
        serde_json::to_writer(&mut self.pending, line)
            .map_err(|error| StoreError::io("write", &self.name, error.into()))?;
        self.pending.push(b'\n');
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.pending);
        if !self.store.appends() {
            self.pieces += 1;
            return create_new(&*self.store, &format!("{}-{:06}.jsonl", self.name, self.pieces), &bytes);
        }
        if self.appender.is_none() {
            let key = format!("{}.jsonl", self.name);
            create_new(&*self.store, &key, b"")?;
            self.appender = self.store.appender(&key)?;
        }
        let Some(appender) = &mut self.appender else { return Ok(()) };
        appender.append(&bytes)?;
        appender.sync()
    }
}
