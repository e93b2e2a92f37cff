//! From the bytes of one file to its text.

use pilote_spec::{Encoding, FaultCode, ItemFault};

use crate::decoding::{charset, decode};
use crate::kind::{Kind, is_binary, kind};
use crate::notes::Seen;
use crate::source::fault;
use crate::{mail, page};

/// The text of a file with this name, and what was noticed on the way.
pub(crate) fn text_of(name: &str, bytes: &[u8], declared: Encoding) -> Result<(String, Seen), ItemFault> {
    if bytes.is_empty() {
        return Err(fault(FaultCode::Empty, "0 bytes"));
    }
    let charset = charset(declared);
    let (text, seen) = match kind(name, bytes) {
        Kind::Unsupported(kind) => return Err(fault(FaultCode::UnsupportedKind, kind)),
        Kind::Undeclared if is_binary(bytes) => return Err(fault(FaultCode::UnsupportedKind, "binary")),
        Kind::Text | Kind::Undeclared => {
            let decoded = decode(bytes, charset)?;
            (decoded.text.into_owned(), Seen { bom: decoded.bom, ..Seen::default() })
        }
        Kind::Page => page::text_of(bytes, charset)?,
        Kind::Mail => mail::text_of(bytes, charset)?,
    };
    check(&text)?;
    Ok((text, seen))
}

/// Refuses a text that no engine can make sense of.
pub(crate) fn check(text: &str) -> Result<(), ItemFault> {
    if let Some(at) = text.chars().position(|c| c == '\0') {
        return Err(fault(FaultCode::Nul, format!("character {at} of the text")));
    }
    if text.trim().is_empty() {
        return Err(fault(FaultCode::Empty, "nothing but white space"));
    }
    Ok(())
}

/// Characters of a text, the unit of [`pilote_spec::Item::chars`].
pub(crate) fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}
