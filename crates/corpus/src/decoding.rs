//! Bytes to text: a byte order mark, else the declared encoding, and never a replacement character.

use std::borrow::Cow;

use encoding_rs::{DecoderResult, Encoding as Charset};
use pilote_spec::{Encoding, FaultCode, ItemFault};

use crate::source::fault;

/// A text and whether a byte order mark was removed from it.
#[derive(Debug)]
pub(crate) struct Decoded<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) bom: bool,
}

/// The charset of a declared encoding.
pub(crate) fn charset(encoding: Encoding) -> &'static Charset {
    match encoding {
        Encoding::Utf8 => encoding_rs::UTF_8,
        Encoding::ShiftJis => encoding_rs::SHIFT_JIS,
        Encoding::EucJp => encoding_rs::EUC_JP,
        Encoding::Windows1252 => encoding_rs::WINDOWS_1252,
    }
}

/// Decodes under the byte order mark (UTF-8 and UTF-16 have one), else as `declared`.
pub(crate) fn decode<'a>(bytes: &'a [u8], declared: &'static Charset) -> Result<Decoded<'a>, ItemFault> {
    let (charset, mark) = Charset::for_bom(bytes).unwrap_or((declared, 0));
    match decode_as(&bytes[mark..], charset) {
        Ok(text) => Ok(Decoded { text, bom: mark > 0 }),
        Err(at) => Err(malformed(charset, mark + at)),
    }
}

/// The fault of bytes that are no text.
pub(crate) fn malformed(charset: &'static Charset, at: usize) -> ItemFault {
    fault(FaultCode::Encoding, format!("no {} at byte {at}", charset.name()))
}

/// Decodes all of `bytes`, or gives the offset of the first byte that is not part of a character.
pub(crate) fn decode_as<'a>(bytes: &'a [u8], charset: &'static Charset) -> Result<Cow<'a, str>, usize> {
    if charset == encoding_rs::UTF_8 {
        return std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| error.valid_up_to());
    }
    let mut decoder = charset.new_decoder_without_bom_handling();
    let capacity = decoder.max_utf8_buffer_length_without_replacement(bytes.len()).unwrap_or(0);
    let mut text = String::with_capacity(capacity);
    let (result, read) = decoder.decode_to_string_without_replacement(bytes, &mut text, true);
    match result {
        DecoderResult::InputEmpty => {}
        DecoderResult::Malformed(wrong, consumed_after) => {
            return Err(read.saturating_sub(usize::from(wrong) + usize::from(consumed_after)));
        }
        DecoderResult::OutputFull => return Err(read),
    }
    // Browsers map the five unassigned bytes of Windows-1252 to invisible control characters; here they are what
    // tells that the declaration is wrong. Every byte is one character, so counting characters gives the offset.
    if charset == encoding_rs::WINDOWS_1252
        && let Some(at) = text.chars().position(|c| ('\u{80}'..='\u{9f}').contains(&c))
    {
        return Err(at);
    }
    Ok(Cow::Owned(text))
}
