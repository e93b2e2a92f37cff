//! The messages of one language, and how they are looked up.

use std::borrow::Cow;
use std::fmt;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentError, FluentResource, FluentValue};
use unic_langid::LanguageIdentifier;

use crate::{Lang, printable};

/// The message files of every area in one language. An area is named here once and has a file in each language.
macro_rules! areas {
    ($language:literal) => {
        areas!(
            $language: "account", "check", "cli", "compare", "criteria", "decision", "refusals", "report", "size", "units", "words"
        )
    };
    ($language:literal: $($area:literal),+) => {
        [$(($area, include_str!(concat!("../locales/", $language, "/", $area, ".ftl")))),+]
    };
}

/// The messages of one language. Cheap to make, shared freely between threads.
pub struct Texts {
    lang: Lang,
    bundle: FluentBundle<FluentResource>,
    /// English, for a message that a language lacks; tests see to it that none does.
    fallback: Option<Box<Texts>>,
}

impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Texts").field("lang", &self.lang).finish_non_exhaustive()
    }
}

/// The areas of a language, each with the text of its message file.
pub(crate) fn areas(lang: Lang) -> impl IntoIterator<Item = (&'static str, &'static str)> {
    match lang {
        Lang::En => areas!("en"),
        Lang::Fr => areas!("fr"),
        Lang::Ja => areas!("ja"),
    }
}

impl Texts {
    /// The messages of `lang`.
    #[must_use]
    pub fn new(lang: Lang) -> Self {
        let fallback = (lang != Lang::En).then(|| Box::new(Self::new(Lang::En)));
        let mut bundle =
            FluentBundle::new_concurrent(lang.code().parse::<LanguageIdentifier>().into_iter().collect());
        // Terminals show the isolation marks of Fluent as boxes; the three languages run left to right.
        bundle.set_use_isolating(false);
        if lang == Lang::Fr {
            bundle.set_transform(Some(french_spaces));
        }
        for (_, source) in areas(lang) {
            // A file with a fault still gives its sound messages; tests refuse a fault or a message written twice.
            let resource = FluentResource::try_new(source.to_owned()).unwrap_or_else(|(sound, _)| sound);
            let _ = bundle.add_resource(resource);
        }
        Self { lang, bundle, fallback }
    }

    /// The language.
    #[must_use]
    pub fn lang(&self) -> Lang {
        self.lang
    }

    /// The sentence `key` (`message` or `message.attribute`) with `args` set in.
    ///
    /// Arguments are made [`printable`]; one that is a whole number in plain digits chooses the plural form and is
    /// shown with these very digits. A key that does not exist gives itself, a missing argument its name.
    #[must_use]
    pub fn get(&self, key: &str, args: &[(&str, &str)]) -> String {
        self.find(key, args).unwrap_or_else(|| key.to_owned())
    }

    /// The sentence `key`, or none where no language has it.
    #[must_use]
    pub fn find(&self, key: &str, args: &[(&str, &str)]) -> Option<String> {
        let (message, attribute) = match key.split_once('.') {
            Some((message, attribute)) => (message, Some(attribute)),
            None => (key, None),
        };
        let pattern = self.bundle.get_message(message).and_then(|message| match attribute {
            Some(attribute) => Some(message.get_attribute(attribute)?.value()),
            None => message.value(),
        });
        let Some(pattern) = pattern else {
            return self.fallback.as_ref().and_then(|english| english.find(key, args));
        };
        let args: FluentArgs<'_> = args.iter().map(|(name, value)| (*name, argument(value))).collect();
        let mut errors: Vec<FluentError> = Vec::new();
        Some(self.bundle.format_pattern(pattern, Some(&args), &mut errors).into_owned())
    }
}

/// A plain whole number chooses plural forms; everything else (`007`, `1e3`, an identifier) is text.
fn argument(value: &str) -> FluentValue<'_> {
    let plain = value.len() <= 15
        && value.bytes().all(|byte| byte.is_ascii_digit())
        && (value == "0" || !value.starts_with('0'));
    match value.parse::<u64>() {
        Ok(number) if plain => FluentValue::from(number),
        _ => FluentValue::from(printable(value)),
    }
}

/// French sets a space that does not break before high punctuation and inside quotation marks. Message files are
/// written with plain spaces, which an editor shows and nobody forgets; arguments are left as they are.
fn french_spaces(text: &str) -> Cow<'_, str> {
    if !text.contains([':', ';', '!', '?', '«', '»']) {
        return Cow::Borrowed(text);
    }
    let set = text.replace(" :", "\u{a0}:").replace("« ", "«\u{a0}").replace(" »", "\u{a0}»");
    let set = set.replace(" ;", "\u{202f};").replace(" !", "\u{202f}!").replace(" ?", "\u{202f}?");
    Cow::Owned(set)
}
