//! The proof: collection, balance, verification, export, status and report. Reads what a trial left, and never
//! links the conductor.
//!
//! Every figure is counted from the index, the records and the payloads as they lie in a directory, by one piece
//! of code ([`account`]) for the trial in its place and for a copy of it. [`collect`] writes the results files and
//! `balance.json` once; [`verify`] counts again and says everything that is wrong; [`export`] copies, reads the
//! copy again and leaves a verdict; [`report()`] shows the same facts to people.
//!
//! | module | what it holds |
//! |---|---|
//! | `shelf`, `spot` | where files lie and are put: a folder, an object store, an archive |
//! | `trial_dir`, `journal`, `outputs`, `pins` | reading: what was launched, items with records, events, payloads, fixed digests |
//! | `account`, `counting` | evidence gathered part by part, judged by the deliverable's criteria |
//! | `collection`, `results`, `lookup` | results files, balance, the way from an identifier to its position |
//! | `comparison` | two trials: factors that differ, results that differ, the cause and the quality |
//! | `decision`, `receipt` | decisions on a trial, and the word of another machine that it verified a copy |
//! | `history`, `gate` | a project's trials and decisions in order; what a campaign needs before it starts |
//! | `verification`, `listed`, `bag`, `manifest`, `finding` | what must be there, and everything that is wrong, graded |
//! | `export`, `contents`, `making`, `description` | copies: what they carry, how they are made, how they are described |
//! | `archive`, `algorithm`, `files`, `document` | copies in one file; digests; placing files whole; JSON that bears its own digest |
//! | `status`, `writers` | one identifier, one trial, all trials; who works on a trial |
//! | [`mod@report`] | `report.html` |

mod account;
mod algorithm;
mod archive;
mod bag;
mod closing;
mod collection;
mod comparison;
mod contents;
mod counting;
mod decision;
mod description;
mod document;
mod error;
mod excerpt;
mod export;
mod files;
mod finding;
mod gate;
mod history;
mod journal;
mod listed;
mod lookup;
mod making;
mod manifest;
mod outputs;
mod pins;
mod receipt;
pub mod report;
mod results;
mod shelf;
mod spot;
mod status;
mod tables;
mod trial_dir;
mod verification;
mod writers;

pub use account::{Account, account};
pub use archive::ARCHIVE;
pub use closing::{ClosedTrial, Closing, Loss, LossCode, close, closing};
pub use collection::{BalanceFile, Collected, FileFacts, collect};
pub use comparison::{
    Cause, ChangedItem, Comparison, Factor, FactorCode, FactorState, FieldChange, ItemsCompared, LabelError,
    Labels, Question, ResultsCompared, Side, compare, factors,
};
pub use decision::{
    Choice, Condition, DecideError, Decision, EXAMINED_MIN, Examined, Kept, Proposal, Tie, candidates,
    decisions, keep, tie, weigh,
};
pub use document::DocumentError;
pub use error::ProofError;
pub use excerpt::input_start;
pub use export::{CopyNote, Export, Exported, export, export_as};
pub use finding::{FINDINGS_MAX, Finding, FindingCode, Findings, Grade};
pub use gate::{Gate, Here, Requirement, RequirementCode, engine_differences, gate, pilot};
pub use history::{HistoryEntry, Resolution, ResolutionState, history, resolution_of};
pub use manifest::MANIFEST;
pub use pins::keep_pins;
pub use receipt::{Reader, Receipt, ReceiptError, take_receipt, write_receipt};
pub use report::{
    Ladder, LadderRung, MeasuresData, RefusalData, ReportData, SampleData, calendar, report, report_data,
    report_markdown, write_report,
};
pub use spot::Destination;
pub use status::{FirstError, Found, TrialState, TrialSummary, find, first_error, latest, runs, summary};
pub use tables::{TableFile, TableFormat, write_table};
pub use verification::{
    Check, Sample, Subject, Thoroughness, Unchecked, Verification, Why, verify, verify_as, verify_bucket,
};
pub use writers::{Parts, Sealed, Together, WriterNews, declared, parts, together, writers};
