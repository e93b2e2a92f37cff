//! What can be wrong with a model's files, a request, a catalogue or a table.

use crate::Said;

/// Something that cannot be sized or planned as asked. The texts name the file, the field and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum SizeError {
    /// A file could not be read.
    #[error("{file}: cannot be read")]
    Io {
        /// The file as it was named.
        file: String,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A file that is needed is not there.
    #[error(
        "{place}: holds no model that can be read: none of {looked_for} is there; name the folder or the file of a model"
    )]
    NoModel {
        /// The folder or address.
        place: String,
        /// The names looked for.
        looked_for: String,
    },
    /// A server gave an answer that is of no use.
    #[error("{address}: {problem}")]
    Http {
        /// The address asked, without query.
        address: String,
        /// What it answered, and what to do.
        problem: String,
    },
    /// A file ends before what its header announces.
    #[error("{file}: ends at byte {bytes} inside {what}: the file is incomplete; fetch it again")]
    Truncated {
        /// The file.
        file: String,
        /// Its length.
        bytes: u64,
        /// What was being read.
        what: String,
    },
    /// A file that is not of the format its name says.
    #[error("{file}: is no {format} file: {problem}")]
    Malformed {
        /// The file.
        file: String,
        /// The format expected.
        format: &'static str,
        /// What was seen.
        problem: String,
    },
    /// A number that no such thing can have.
    #[error("{file}: `{field}` is {value}, which is impossible: {why}")]
    Impossible {
        /// The file, or the part of the request.
        file: String,
        /// The field.
        field: String,
        /// What it says.
        value: String,
        /// Why that cannot be.
        why: Box<Said>,
    },
    /// A field that is needed is absent.
    #[error("{file}: the field `{field}` is missing; what depends on it stays unknown")]
    Missing {
        /// The file.
        file: String,
        /// The field.
        field: String,
    },
    /// Something does not divide over the cards.
    #[error("{what} ({count}) does not divide over {cards} cards; take a number of cards that divides it")]
    DoesNotDivide {
        /// What is to be divided.
        what: &'static str,
        /// How many there are.
        count: u64,
        /// Over how many cards.
        cards: u32,
    },
    /// A request that cannot be planned.
    #[error("{field}: `{value}` is not allowed: {allowed}")]
    NotAllowed {
        /// The option.
        field: &'static str,
        /// What was asked.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// A price in another currency than asked.
    #[error(
        "{file}: the price of {card} is in {found}, and totals are made in {wanted}; nothing is converted here: give a catalogue in {wanted}"
    )]
    Currency {
        /// The catalogue.
        file: String,
        /// Whose price.
        card: String,
        /// The currency found.
        found: String,
        /// The currency wanted.
        wanted: String,
    },
    /// A table of data (cards, catalogue, libraries) that cannot be used.
    #[error("{file}: {problem}")]
    Table {
        /// The file.
        file: String,
        /// What is wrong, with the line where known.
        problem: String,
    },
}

impl SizeError {
    /// The stable code of the error, for machine-readable output.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "unreadable",
            Self::NoModel { .. } => "no-model",
            Self::Http { .. } => "http",
            Self::Truncated { .. } => "truncated",
            Self::Malformed { .. } => "malformed",
            Self::Impossible { .. } => "impossible-value",
            Self::Missing { .. } => "missing-field",
            Self::DoesNotDivide { .. } => "does-not-divide",
            Self::NotAllowed { .. } => "not-allowed",
            Self::Currency { .. } => "wrong-currency",
            Self::Table { .. } => "bad-table",
        }
    }
}
