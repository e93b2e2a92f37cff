//! A program that is run once before the first item, to see that everything the items need is there.

use std::collections::BTreeMap;

use pilote_spec::{CommandPerItem, EngineFacts};
use serde_json::{Map, Value};

use super::fault;
use crate::EngineFault;
use crate::process::{Guarded, Surround};

/// What the check says of the engine goes into `facts`: `device`, `version` and `precision` have their places, and
/// anything else stands among the parameters.
///
/// # Errors
/// When the program cannot be started, does not end in time, or ends with another status than 0.
pub(super) fn run(
    config: &CommandPerItem,
    around: &Surround,
    facts: &mut EngineFacts,
) -> Result<(), EngineFault> {
    if config.check.is_empty() {
        return Ok(());
    }
    let launch = around.launch(&config.check, &config.environment, &config.pass, &config.devices);
    let (mut child, to, from) = Guarded::spawn(&around.guard, &launch)
        .map_err(|error| fault("check", &format!("the guard cannot be started: {error}"), true))?;
    child.hold_channel(to, from);
    let ended = child.wait(i64::from(config.seconds_max));
    let words = || child.log().first_error().unwrap_or_default();
    match ended {
        Ok(Some(status)) if status.success() => {}
        Ok(Some(status)) => return Err(fault("check", &format!("{} ({status})", words()), true)),
        Ok(None) => {
            let words = format!("{} (no end within {} s)", words(), config.seconds_max);
            return Err(fault("check", &words, true));
        }
        Err(error) => return Err(fault("check", &error.to_string(), true)),
    }
    let lines = child.log().last_lines();
    let said = lines.iter().rev().find_map(|line| serde_json::from_str::<Map<String, Value>>(line).ok());
    let command = Value::from(config.check.clone()).to_string();
    facts.parameters.insert("check".to_owned(), command);
    for (name, value) in said.unwrap_or_default() {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        note(facts, &name, value);
    }
    Ok(())
}

fn note(facts: &mut EngineFacts, name: &str, value: String) {
    let EngineFacts { device, version, precision, parameters, .. } = facts;
    let parameters: &mut BTreeMap<String, String> = parameters;
    match name {
        "device" => *device = value,
        "version" => *version = value,
        "precision" => *precision = value,
        _ => {
            parameters.insert(format!("check.{name}"), value);
        }
    }
}
