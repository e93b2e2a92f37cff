//! What a trial writes of its launch, as version 1 wrote it.

use pilote_spec::{EngineConfig, Inputs, TRIAL_FORMAT, Trial, TrialKind};
use serde_json::Value;

/// `trial.json` of a trial of the twelve documents, made by the first program that wrote the format.
const VERSION_1: &str = include_str!("fixtures/pilote.trial-1.json");

#[test]
fn a_trial_of_version_1_stays_readable() {
    let trial: Trial = serde_json::from_str(VERSION_1).unwrap();
    assert_eq!(trial.format, "pilote.trial/1");
    assert_eq!(trial.kind, TrialKind::Pilot);
    assert_eq!(trial.part_items, 16_384);
    assert!(matches!(trial.project.pilot.inputs, Inputs::Directory { .. }));
    assert!(matches!(trial.project.engine, EngineConfig::Builtin { .. }));
    assert_eq!(trial.machine.memory_bytes, Some(25_276_502_016));
    assert_eq!(trial.engine.model.unwrap().files.len(), 8);
}

#[test]
fn what_is_read_of_a_trial_of_version_1_is_written_again_word_for_word() {
    assert_eq!(TRIAL_FORMAT, "pilote.trial/1", "a new version needs a fixture of its own");
    let trial: Trial = serde_json::from_str(VERSION_1).unwrap();
    let again = serde_json::to_string_pretty(&trial).unwrap();
    assert_eq!(again, VERSION_1.trim_end());
}

#[test]
fn a_field_of_a_later_program_does_not_make_a_trial_unreadable() {
    let mut later: Value = serde_json::from_str(VERSION_1).unwrap();
    later["machine"]["humidity_percent"] = 40.into();
    let trial: Trial = serde_json::from_value(later).unwrap();
    assert_eq!(trial.machine.processors, Some(2));
}
