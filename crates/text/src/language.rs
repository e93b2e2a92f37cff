//! The language of what people read, chosen once at the start.

use std::str::FromStr;

/// A language that every message is written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// French.
    Fr,
    /// Japanese.
    Ja,
}

/// A language that was asked for and has no messages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there are no messages in the language `{asked}`; give en, fr or ja")]
pub struct UnknownLanguage {
    asked: String,
}

impl Lang {
    /// Every language, in alphabetical order of the code.
    pub const ALL: [Self; 3] = [Self::En, Self::Fr, Self::Ja];

    /// The two-letter code, as `--lang` takes it and HTML's `lang` attribute bears it.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Fr => "fr",
            Self::Ja => "ja",
        }
    }

    /// The language that was asked for, else that of the locale, else English.
    ///
    /// `locale` holds the values of `LC_ALL`, `LC_MESSAGES` and `LANG`, in this order: the first that is set and
    /// not empty decides, as POSIX says, even where it names a language without messages.
    ///
    /// # Errors
    /// When the flag names a language without messages; a locale that does so gives English.
    pub fn choose(flag: Option<&str>, locale: [Option<&str>; 3]) -> Result<Self, UnknownLanguage> {
        if let Some(asked) = flag {
            return asked.parse();
        }
        let decisive = locale.into_iter().flatten().find(|value| !value.is_empty());
        Ok(decisive.and_then(|value| value.parse().ok()).unwrap_or_default())
    }
}

impl FromStr for Lang {
    type Err = UnknownLanguage;

    /// Reads a code (`fr`), a language tag (`fr-CA`) or a locale's name (`fr_FR.UTF-8`).
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let language = text.split(['_', '-', '.', '@']).next().unwrap_or_default().to_ascii_lowercase();
        Self::ALL
            .into_iter()
            .find(|known| known.code() == language)
            .ok_or_else(|| UnknownLanguage { asked: crate::printable(text).chars().take(40).collect() })
    }
}
