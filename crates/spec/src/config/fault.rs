//! What can be wrong with a configuration, and how it is said.

use std::fmt;

use crate::json::{Mark, SyntaxFault};

/// The stable codes of configuration faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConfigCode {
    /// The bytes are no UTF-8.
    Encoding,
    /// The text is no JSON.
    Syntax,
    /// The format is absent or of another version.
    Format,
    /// A key stands twice in one object.
    DuplicateKey,
    /// A key that does not exist at this place.
    UnknownKey,
    /// A key that is needed and absent.
    MissingKey,
    /// A value of another type.
    WrongType,
    /// A value of the right type that cannot be.
    WrongValue,
}

/// One fault of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ConfigError {
    /// The stable code.
    pub code: ConfigCode,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The key with those around it (`pilot.inputs.directory`, `secrets[2]`); empty for the file as a whole.
    pub key: String,
    /// What is wrong. A text of the file is not repeated unless it is a word out of a fixed list, a number, a path or
    /// an identifier: it may be a secret in the wrong place.
    pub problem: String,
    /// What to do.
    pub advice: String,
}

/// All faults of a configuration, in the order of the file; never empty. Displayed one a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConfigErrors {
    /// The file's name as it was given.
    pub file: String,
    /// The faults.
    pub errors: Vec<ConfigError>,
}

impl ConfigError {
    pub(crate) fn new(
        code: ConfigCode,
        at: Mark,
        key: &str,
        problem: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let Mark { line, column } = at;
        Self { code, line, column, key: key.to_owned(), problem: problem.into(), advice: advice.into() }
    }
}

impl From<SyntaxFault> for ConfigError {
    fn from(fault: SyntaxFault) -> Self {
        Self::new(ConfigCode::Syntax, fault.at, &fault.path, fault.problem, fault.advice)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        write!(f, "{}; {}", self.problem, self.advice)
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.errors.iter().enumerate() {
            if at > 0 {
                writeln!(f)?;
            }
            write!(f, "{}:{error}", self.file)?;
        }
        Ok(())
    }
}
