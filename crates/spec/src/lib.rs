//! The deliverable: from a configuration to a validated project; items, outcomes, criteria and balance.
//!
//! Everything here is plain data and pure functions: no file is opened, no clock is read, nothing is
//! asynchronous. The other crates meet on these types, so a word has one meaning across the program
//! (see `docs/glossary.md`).

mod acceptance;
mod balance;
mod blank;
mod clock;
mod columns;
mod config;
mod criteria;
mod digest;
mod engines;
mod evidence;
mod exact;
mod guards;
mod item;
mod json;
mod likeness;
mod needs;
mod outcome;
mod project;
mod quality;
mod schema;
mod trial;

pub use acceptance::{SchemaFault, accept, schema_fault};
pub use balance::{Balance, Tally};
pub use blank::is_blank;
pub use clock::{Clock, Stamp};
pub use columns::{Columns, ExactJson};
pub use config::{ConfigCode, ConfigError, ConfigErrors, ModelRef, ModelRefError, PROJECT_FORMAT, Parsed};
pub use criteria::{Criterion, CriterionCode, Verdict};
pub use digest::{Digest, DigestError, Hasher};
pub use engines::{CommandPerItem, Message, OpenAi, ServerLaunch, ServerTask, Worker};
pub use evidence::{
    CONCERNED_MAX, CopyState, Evidence, FixedDigests, ResultsRead, SeenRefusal, holds, judge,
};
pub use exact::JsonFault;
pub use guards::{Canary, Guards};
pub use item::{FaultCode, Item, ItemFault, ItemId, Location, Position};
pub use likeness::{COMPONENT_TOLERANCE, Likeness, OutcomeChange};
pub use needs::{
    KnownOutput, NeededAdapter, NeededBackend, NeededExtension, NeededProgram, NeededSystem, Needs,
    Reference, ReferenceKind,
};
pub use outcome::{Outcome, Output, Reason, Refusal, UnknownReason, WorkReason};
pub use project::{
    Beyond, Builtin, Campaign, Category, Duplicates, Encoding, EngineConfig, ExpectedRefusal, FileDecode,
    Inputs, Limits, Mode, NumberRange, OneColour, OutputSpec, Paths, Pilot, Project, Task,
};
pub use quality::{
    BarError, Quality, QualityBar, QualityFigures, QualityLine, QualityMeasure, judge_quality, quality_holds,
};
pub use schema::{SCHEMA, schema_json};
pub use trial::{
    BatchMeasures, CardFacts, EngineFacts, EnvironmentFacts, EventLine, MachineFacts, MeasureLine,
    ModelFacts, Names, ProgramFacts, RefusedLine, ResultLine, Retries, Since, TRIAL_FORMAT, Trial,
    TrialEvent, TrialKind, WriterProcess,
};
