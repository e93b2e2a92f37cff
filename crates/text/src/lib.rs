//! Every word that people read, in English, French and Japanese.
//!
//! Messages lie in `locales/LANGUAGE/AREA.ftl` and are compiled in. To add some, write them in the three files of
//! an area; to add an area, name it once in `texts`. Tests compare the three languages with each other and with
//! `docs/glossary.md`. Machine-readable output never comes from here.

mod account;
mod column;
mod language;
mod quantity;
mod texts;
mod wording;

pub use column::{fit, pad, pad_start, printable, width};
pub use language::{Lang, UnknownLanguage};
pub use texts::Texts;
