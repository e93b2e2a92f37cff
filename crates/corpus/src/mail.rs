//! A stored message to text: subject, sender, date and the message's own words.
//!
//! The parser finds the parts; their bytes are decoded here, since a parser that replaces what it cannot decode
//! would let damaged text pass for whole text.

use std::borrow::Cow;

use encoding_rs::Encoding as Charset;
use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Encoding, Message, MessageParser, MessagePart, MimeHeaders as _, PartType};
use pilote_spec::{FaultCode, ItemFault};

use crate::decoding::{decode_as, malformed};
use crate::notes::Seen;
use crate::page;
use crate::source::fault;

/// The text of a message stored in `bytes`; `declared` is the charset of what names none.
pub(crate) fn text_of(bytes: &[u8], declared: &'static Charset) -> Result<(String, Seen), ItemFault> {
    let no_message = || fault(FaultCode::UnsupportedKind, "mail-without-headers");
    let (bytes, bom) = match bytes.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => (rest, true),
        None => (bytes, false),
    };
    // The parser counts in 32 bits.
    if u32::try_from(bytes.len()).is_err() {
        return Err(fault(
            FaultCode::TooLarge,
            format!("{} bytes, a message has 4 GiB at most", bytes.len()),
        ));
    }
    let bytes = headers_decoded(bytes, declared)?;
    let message = MessageParser::default().parse(&*bytes).ok_or_else(no_message)?;
    if message.from().is_none() && message.subject().is_none() && message.date().is_none() {
        return Err(no_message());
    }
    let mut text = headers(&message)?;
    let mut empty = message.subject().is_none_or(|subject| subject.trim().is_empty());
    for part in message.text_bodies() {
        let words = words(&message, part, declared)?;
        if !words.trim().is_empty() {
            text.push('\n');
            text.push_str(&words);
            empty = false;
        }
    }
    if empty {
        return Err(fault(FaultCode::Empty, "no subject and no text"));
    }
    let attachments = message.attachment_count() as u64;
    Ok((text, Seen { bom, attachments, page_charset: false }))
}

/// Headers are ASCII by the standard and UTF-8 by its extension; old programs wrote them in the local encoding. Such
/// a header block is decoded as declared, and the body stays as it is.
fn headers_decoded<'a>(bytes: &'a [u8], declared: &'static Charset) -> Result<Cow<'a, [u8]>, ItemFault> {
    let crlf = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let lf = bytes.windows(2).position(|window| window == b"\n\n");
    let end = crlf.into_iter().chain(lf).min().unwrap_or(bytes.len());
    let (head, body) = bytes.split_at(end);
    if std::str::from_utf8(head).is_ok() {
        return Ok(Cow::Borrowed(bytes));
    }
    let head = decode_as(head, declared).map_err(|at| malformed(declared, at))?;
    Ok(Cow::Owned([head.as_bytes(), body].concat()))
}

fn headers(message: &Message<'_>) -> Result<String, ItemFault> {
    let sender =
        message.from().and_then(|from| from.first()).map(|from| match (from.name(), from.address()) {
            (Some(name), Some(address)) => format!("{name} <{address}>"),
            (name, address) => name.or(address).unwrap_or_default().to_owned(),
        });
    let lines = [
        ("Subject", message.subject().map(str::to_owned)),
        ("From", sender),
        ("Date", message.date().filter(|date| date.is_valid()).map(mail_parser::DateTime::to_rfc3339)),
    ];
    let mut text = String::new();
    for (name, value) in lines {
        let Some(value) = value.filter(|value| !value.trim().is_empty()) else { continue };
        // Encoded words are decoded by the parser, and what it cannot decode it replaces.
        if value.contains(char::REPLACEMENT_CHARACTER) {
            return Err(fault(FaultCode::Encoding, format!("the header `{name}` cannot be decoded")));
        }
        text.push_str(&format!("{name}: {value}\n"));
    }
    Ok(text)
}

/// The words of one body part, HTML converted.
fn words(
    message: &Message<'_>,
    part: &MessagePart<'_>,
    declared: &'static Charset,
) -> Result<String, ItemFault> {
    let is_html = match &part.body {
        PartType::Html(_) => true,
        PartType::Text(_) => false,
        _ => return Ok(String::new()),
    };
    let at = part.offset_body as usize;
    let raw = message.raw_message.get(at..part.offset_end as usize).unwrap_or_default();
    let bytes = match part.encoding {
        Encoding::None => Some(Cow::Borrowed(raw)),
        Encoding::QuotedPrintable => quoted_printable_decode(raw).map(Cow::Owned),
        Encoding::Base64 => base64_decode(raw).map(Cow::Owned),
    };
    let transfer =
        || fault(FaultCode::Encoding, format!("the transfer encoding of the part at byte {at} is damaged"));
    let bytes = bytes.ok_or_else(transfer)?;
    let charset = charset_of(part, declared)?;
    if is_html && charset.is_none() {
        return page::text_of(&bytes, declared).map(|(text, _)| text);
    }
    let charset = charset.unwrap_or(declared);
    let text = decode_as(&bytes, charset).map_err(|wrong| {
        let fault_at = if part.encoding == Encoding::None { at + wrong } else { at };
        fault(FaultCode::Encoding, format!("no {} in the part at byte {fault_at}", charset.name()))
    })?;
    Ok(if is_html { page::visible(&text) } else { text.into_owned() })
}

/// The charset that a part names; none where it names none, or only ASCII, of which every other is an extension.
fn charset_of(
    part: &MessagePart<'_>,
    declared: &'static Charset,
) -> Result<Option<&'static Charset>, ItemFault> {
    let Some(label) = part.content_type().and_then(|kind| kind.attribute("charset")) else { return Ok(None) };
    if label.eq_ignore_ascii_case("us-ascii") {
        return Ok(Some(declared));
    }
    Charset::for_label(label.trim().as_bytes())
        .map(Some)
        .ok_or_else(|| fault(FaultCode::Encoding, "a part names a charset that is not known"))
}
