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

#[cfg(test)]
mod tests {
    use pilote_size::Said;
    use pilote_text::Lang;

    use super::*;

    fn in_three(error: &SizeError) -> [String; 3] {
        [Lang::En, Lang::Fr, Lang::Ja].map(|lang| words(error, &Texts::new(lang)))
    }

    fn lots(text: &str) -> SizeError {
        pilote_size::plan::Lots::parse(text).unwrap_err()
    }

    #[test]
    fn lots_that_are_none_are_refused_in_three_languages() {
        for wrong in ["0", "11", "1.5"] {
            let [en, fr, ja] = in_three(&lots(wrong));
            assert_eq!(en, format!("lots: {wrong} is not allowed. Allowed: a whole number from 1 to 10."));
            assert_eq!(
                fr,
                format!("lots\u{a0}: {wrong} n’est pas permis. Permis\u{a0}: un nombre entier de 1 à 10.")
            );
            assert_eq!(ja, format!("lots：{wrong} は使えません。使えるもの：1～10 の整数。"));
        }
    }

    #[test]
    fn a_price_in_another_currency_is_refused_in_three_languages() {
        let [file, card, found, wanted] = ["prices.toml", "H200", "EUR", "USD"].map(str::to_owned);
        let [en, fr, ja] = in_three(&SizeError::Currency { file, card, found, wanted });
        assert!(en.contains("the price of H200 is in EUR") && en.contains("Nothing is converted"), "{en}");
        assert!(fr.contains("le prix de H200 est en EUR") && fr.contains("Rien n’est converti"), "{fr}");
        assert!(ja.contains("H200 の価格は EUR") && ja.contains("換算しません"), "{ja}");
    }

    #[test]
    fn a_header_that_is_cut_short_is_told_in_three_languages() {
        let error =
            SizeError::Truncated { file: "m.safetensors".into(), bytes: 812_345, what: "its header".into() };
        let [en, fr, ja] = in_three(&error);
        assert!(en.contains("m.safetensors ends at byte 812,345, inside its header"), "{en}");
        assert!(fr.contains("m.safetensors s’arrête à l’octet") && fr.contains("incomplet"), "{fr}");
        assert!(ja.contains("812,345 バイト目") && ja.contains("不完全"), "{ja}");
    }

    #[test]
    fn an_impossible_value_is_told_in_three_languages_with_its_field() {
        let error = pilote_size::model::architecture::from_config(
            "config.json",
            br#"{"model_type": "llama", "num_hidden_layers": -3}"#,
        );
        let [en, fr, ja] = in_three(&error.unwrap_err());
        assert!(en.contains("num_hidden_layers is -3, which is impossible: a whole number from 0"), "{en}");
        assert!(
            fr.contains("num_hidden_layers vaut -3") && fr.contains("nombre entier à partir de 0"),
            "{fr}"
        );
        assert!(ja.contains("num_hidden_layers が -3") && ja.contains("0 以上の整数"), "{ja}");
    }

    #[test]
    fn every_error_has_words_in_three_languages() {
        let text = || "x".to_owned();
        let why = Box::new(Said { text: text(), phrase: None });
        let errors = [
            SizeError::Io { file: text(), source: std::io::Error::other("x") },
            SizeError::NoModel { place: text(), looked_for: text() },
            SizeError::Http { address: text(), problem: text() },
            SizeError::Malformed { file: text(), format: "GGUF", problem: text() },
            SizeError::Impossible { file: text(), field: text(), value: text(), why },
            SizeError::Missing { file: text(), field: text() },
            SizeError::DoesNotDivide { what: "number of heads", count: 7, cards: 2 },
            SizeError::Table { file: text(), problem: text() },
        ];
        for error in errors {
            for words in in_three(&error) {
                assert!(!words.starts_with("size-error"), "{words}");
            }
        }
    }
}
