//! What can be wrong with a sizing or a plan, in the reader's language. Programs read the English of `--json`.

use pilote_size::SizeError;
use pilote_text::Texts;

use crate::failure::Failure;
use crate::size_command::said;

/// A failure whose words for people are in the reader's language, while programs get those of the error itself.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub(crate) struct Spoken {
    #[source]
    error: SizeError,
    /// What people read.
    pub words: String,
}

/// The failure of an error, said in the language of `texts`.
pub(crate) fn failure(error: SizeError, texts: &Texts) -> Failure {
    let words = words(&error, texts);
    let mut failure = Failure::from(error);
    failure.error = match failure.error.downcast::<SizeError>() {
        Ok(error) => Spoken { error, words }.into(),
        Err(other) => other,
    };
    failure
}

/// An error in the language of `texts`. What a file's format says of a fault stays in that format's own terms.
pub(crate) fn words(error: &SizeError, texts: &Texts) -> String {
    let say = |values: &[(&str, &str)]| texts.get(&format!("size-error-{}", error.code()), values);
    match error {
        SizeError::Io { file, .. } => say(&[("file", file)]),
        SizeError::NoModel { place, looked_for } => say(&[("place", place), ("names", looked_for)]),
        SizeError::Http { address, problem } => say(&[("address", address), ("problem", problem)]),
        SizeError::Truncated { file, bytes, what } => {
            say(&[("file", file), ("bytes", &texts.number(*bytes)), ("what", what)])
        }
        SizeError::Malformed { file, format, problem } => {
            say(&[("file", file), ("format", format), ("problem", problem)])
        }
        SizeError::Impossible { file, field, value, why } => {
            let why = said(texts, why.phrase.as_ref(), &why.text);
            say(&[("file", file), ("field", field), ("value", value), ("why", &why)])
        }
        SizeError::Missing { file, field } => say(&[("file", file), ("field", field)]),
        SizeError::DoesNotDivide { what, count, cards } => {
            let what = texts.find(&format!("size-divided-{}", slug(what)), &[]).unwrap_or((*what).to_owned());
            say(&[("what", &what), ("count", &texts.number(*count)), ("cards", &cards.to_string())])
        }
        SizeError::NotAllowed { field, value, allowed } => {
            // Lists of names are the same in every language.
            let allowed =
                texts.find(&format!("size-allowed-{}", slug(field)), &[]).unwrap_or(allowed.clone());
            say(&[("field", field), ("value", value), ("allowed", &allowed)])
        }
        SizeError::Currency { file, card, found, wanted } => {
            say(&[("file", file), ("card", card), ("found", found), ("wanted", wanted)])
        }
        SizeError::Table { file, problem } => say(&[("file", file), ("problem", problem)]),
    }
}

/// A field's name as keys of messages are written.
fn slug(name: &str) -> String {
    let plain = name.trim_start_matches('-').to_lowercase();
    plain.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
