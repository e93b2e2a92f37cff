//! Identifiers that people take for each other: equal after Unicode normalisation or without regard to case.

use unicode_normalization::UnicodeNormalization as _;

/// The form under which confusable identifiers are equal. Never used as an identifier.
pub(crate) fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let composed: String = text.nfc().collect();
    composed.to_lowercase().nfc().collect()
}
