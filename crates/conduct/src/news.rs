//! What a trial tells while it runs, and how it ended.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pilote_engine::EngineFault;
use pilote_machine::DeviceHolder;
use pilote_spec::{EngineFacts, Since};

use crate::error::ConductError;
use crate::reducer::{Counts, StopReason};

/// Something that whoever watches a trial may want to show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum News<'a> {
    /// Inputs are being indexed; so many were seen so far.
    Indexing {
        /// Items seen.
        items: u64,
    },
    /// The trial's directory exists.
    Opened {
        /// Where.
        trial: &'a Path,
    },
    /// An earlier trial is taken up.
    TakenUp {
        /// Accepted items that are carried over.
        accepted: u64,
        /// Refused items that are carried over.
        refused: u64,
        /// Items that are still to be done.
        pending: u64,
    },
    /// A trial over a corpus that grew: what it takes over from an earlier one.
    Since {
        /// What is taken over, asked, changed and gone.
        since: &'a Since,
    },
    /// A process still holds a device that an engine may need.
    DeviceHeld {
        /// Which process, and what it holds.
        holder: &'a DeviceHolder,
    },
    /// The engine is being started.
    EngineStarting,
    /// The engine is ready.
    EngineReady {
        /// What it is.
        facts: &'a EngineFacts,
    },
    /// What was launched is written down; nothing was asked yet.
    Launched {
        /// The trial's directory.
        trial: &'a Path,
    },
    /// So many outcomes are durable; what is told here is never lost.
    Durable {
        /// Accepted items, those of earlier starts included.
        accepted: u64,
        /// Refused items, those of earlier starts included.
        refused: u64,
        /// Items of the index.
        declared: u64,
    },
    /// A part is finished.
    Sealed {
        /// Which.
        part: u32,
    },
    /// The engine failed; the items concerned stay pending.
    EngineFailed {
        /// The failure.
        fault: &'a EngineFault,
        /// How many there were in a row.
        in_a_row: u32,
    },
    /// The engine is started again after this time.
    EngineAgain {
        /// The time.
        after: Duration,
    },
    /// An orderly stop was asked for: what is in hand is finished.
    Interrupted,
}

/// Is told what happens, as it happens.
pub trait Progress {
    /// Takes one piece of news.
    fn report(&mut self, news: News<'_>);
}

/// Shows nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn report(&mut self, _news: News<'_>) {}
}

/// Why a trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// Every item has an outcome and every part is sealed.
    Done,
    /// Somebody asked for it.
    Interrupted,
    /// The engine failed too often in a row.
    Breaker,
    /// More refusals than the campaign bears.
    RefusedMax,
    /// A guard found answers that contradict what is known, or one another.
    Guard,
    /// Something of the machine failed: an input could not be read, or the engine is another one than before.
    Fault,
    /// The engine did not start at all; nothing was computed.
    EngineStart,
    /// Outcomes could not be made durable.
    WriteError,
}

impl EndReason {
    /// The stable word, as an event records it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Interrupted => "interrupted",
            Self::Breaker => "breaker",
            Self::RefusedMax => "refused-max",
            Self::Guard => "guard",
            Self::Fault => "fault",
            Self::EngineStart => "engine-start",
            Self::WriteError => "write-error",
        }
    }
}

impl From<StopReason> for EndReason {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::Interrupted => Self::Interrupted,
            StopReason::Breaker => Self::Breaker,
            StopReason::RefusedMax => Self::RefusedMax,
            StopReason::Guard => Self::Guard,
        }
    }
}

/// How a trial ended. Everything counted here is durable.
#[derive(Debug)]
pub struct RunEnd {
    /// The trial's directory.
    pub trial: PathBuf,
    /// Why it ended.
    pub why: EndReason,
    /// Items of the index.
    pub declared: u64,
    /// What was counted.
    pub counts: Counts,
    /// The first failure of the engine, where there was one.
    pub first_fault: Option<EngineFault>,
    /// What stopped it, for [`EndReason::Fault`] and [`EndReason::WriteError`].
    pub error: Option<Box<ConductError>>,
}

impl RunEnd {
    /// Items without an outcome.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.declared.saturating_sub(self.counts.accepted + self.counts.refused)
    }

    /// The exit status: 0 when the work is done (the balance may still fail a criterion), 3 when the engine did not
    /// start, 4 when the trial can be taken up again.
    #[must_use]
    pub fn exit(&self) -> u8 {
        match self.why {
            EndReason::Done => 0,
            EndReason::EngineStart => 3,
            _ => 4,
        }
    }
}
