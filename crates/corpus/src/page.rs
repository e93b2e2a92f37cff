//! HTML to text: what a reader of the page sees, in the order of the file.
//!
//! The tokens come from a tokenizer that follows the WHATWG standard, so entities, comments and unclosed tags are
//! read as a browser reads them. No tree is built: text in file order needs none, and a page with a million nested
//! tags costs nothing.

use encoding_rs::Encoding as Charset;
use html5gum::emitters::default::DefaultEmitter;
use html5gum::{StartTag, Token, Tokenizer};
use pilote_spec::ItemFault;

use crate::decoding::{decode, decode_as, malformed};
use crate::notes::Seen;

/// A page says its charset within this many bytes, by the standard.
const PRESCAN: usize = 1024;

/// Elements whose content no reader sees.
const HIDDEN: &[&[u8]] = &[b"script", b"style", b"template", b"noscript", b"iframe", b"noembed", b"noframes"];

/// Elements that stand on lines of their own.
const BLOCKS: &[&[u8]] = &[
    b"address",
    b"article",
    b"aside",
    b"br",
    b"caption",
    b"dd",
    b"details",
    b"div",
    b"dl",
    b"dt",
    b"fieldset",
    b"figcaption",
    b"figure",
    b"footer",
    b"form",
    b"header",
    b"hr",
    b"legend",
    b"li",
    b"main",
    b"nav",
    b"ol",
    b"option",
    b"section",
    b"summary",
    b"table",
    b"tr",
    b"ul",
];

/// Elements that are set off by an empty line.
const PARAGRAPHS: &[&[u8]] =
    &[b"blockquote", b"body", b"h1", b"h2", b"h3", b"h4", b"h5", b"h6", b"p", b"pre", b"title"];

/// The text of a page stored in `bytes`.
pub(crate) fn text_of(bytes: &[u8], declared: &'static Charset) -> Result<(String, Seen), ItemFault> {
    let own = own_charset(bytes).filter(|own| *own != declared);
    if let Some(own) =
        own.filter(|_| Charset::for_bom(bytes).is_none() && !is_utf8_after_all(bytes, declared))
    {
        match decode_as(bytes, own) {
            Ok(html) => return Ok((visible(&html), Seen { page_charset: true, ..Seen::default() })),
            // The page may have been stored anew under the declared encoding, its old statement left standing.
            Err(at) => {
                return match decode_as(bytes, declared) {
                    Ok(html) => Ok((visible(&html), Seen::default())),
                    Err(_) => Err(malformed(own, at)),
                };
            }
        }
    }
    let decoded = decode(bytes, declared)?;
    Ok((visible(&decoded.text), Seen { bom: decoded.bom, ..Seen::default() }))
}

/// Bytes beyond ASCII that happen to be UTF-8 are UTF-8: text in an older encoding practically never is by chance,
/// while pages that were stored anew keep their old statement.
fn is_utf8_after_all(bytes: &[u8], declared: &'static Charset) -> bool {
    declared == encoding_rs::UTF_8 && !bytes.is_ascii() && std::str::from_utf8(bytes).is_ok()
}

/// The charset that the page names of itself, in `<meta>` or in an XML declaration.
fn own_charset(bytes: &[u8]) -> Option<&'static Charset> {
    let head = &bytes[..bytes.len().min(PRESCAN)];
    let label = Tokenizer::new(head).flatten().find_map(|token| match token {
        Token::StartTag(tag) if tag.name.as_slice() == b"meta" => meta_charset(&tag),
        Token::Comment(comment) if comment.starts_with(b"?xml") => after(&comment, b"encoding="),
        _ => None,
    })?;
    // A statement that can be read byte by byte was not stored in UTF-16, whatever it says.
    let wide = [encoding_rs::UTF_16LE, encoding_rs::UTF_16BE];
    Charset::for_label(&label).map(|found| if wide.contains(&found) { encoding_rs::UTF_8 } else { found })
}

fn meta_charset(tag: &StartTag<()>) -> Option<Vec<u8>> {
    let attribute = |name: &[u8]| tag.attributes.get(name).map(|value| value.value.to_ascii_lowercase());
    attribute(b"charset").or_else(|| {
        let is_content_type = attribute(b"http-equiv").is_some_and(|value| value == b"content-type");
        after(&attribute(b"content").filter(|_| is_content_type)?, b"charset=")
    })
}

/// The word that follows `key`, without quotation marks.
fn after(text: &[u8], key: &[u8]) -> Option<Vec<u8>> {
    let start = text.windows(key.len()).position(|window| window == key)? + key.len();
    let rest = &text[start..];
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let is_end = |byte: &u8| matches!(byte, b'"' | b'\'' | b';' | b'?') || byte.is_ascii_whitespace();
    let end = rest.iter().position(is_end).unwrap_or(rest.len());
    Some(rest[..end].to_vec())
}

/// What a reader of the page sees.
pub(crate) fn visible(html: &str) -> String {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut page = Page::default();
    // Reading from memory has no errors; parse errors are tokens of their own and change nothing.
    for token in Tokenizer::new_with_emitter(html, emitter).flatten() {
        match token {
            Token::StartTag(tag) => page.open(&tag.name, tag.self_closing),
            Token::EndTag(tag) => page.close(&tag.name),
            Token::String(text) => page.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    page.text.truncate(page.text.trim_end().len());
    page.text
}

/// Text as it grows, and what the next visible character must be set apart by.
#[derive(Debug, Default)]
struct Page {
    text: String,
    gap: Gap,
    /// The hidden element that is open, and how many of its name inside it.
    hidden: Option<(Vec<u8>, usize)>,
    preformatted: usize,
}

/// White space that is owed before the next visible character; the larger one wins.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
    Paragraph,
}

impl Page {
    fn open(&mut self, name: &[u8], self_closing: bool) {
        if let Some((open, depth)) = &mut self.hidden {
            *depth += usize::from(open == name);
            return;
        }
        if HIDDEN.contains(&name) && !self_closing {
            self.hidden = Some((name.to_vec(), 0));
        }
        self.preformatted += usize::from(name == b"pre");
        self.set_apart(name);
    }

    fn close(&mut self, name: &[u8]) {
        if let Some((open, depth)) = &mut self.hidden {
            if open == name {
                match depth.checked_sub(1) {
                    Some(less) => *depth = less,
                    None => self.hidden = None,
                }
            }
            return;
        }
        if name == b"pre" {
            self.preformatted = self.preformatted.saturating_sub(1);
        }
        self.set_apart(name);
    }

    fn set_apart(&mut self, name: &[u8]) {
        let gap = if PARAGRAPHS.contains(&name) {
            Gap::Paragraph
        } else if BLOCKS.contains(&name) {
            Gap::Line
        } else if matches!(name, b"td" | b"th") {
            Gap::Space
        } else {
            Gap::None
        };
        self.gap = self.gap.max(gap);
    }

    fn text(&mut self, text: &str) {
        if self.hidden.is_some() {
            return;
        }
        for c in text.chars() {
            if self.preformatted > 0 {
                self.fill_gap();
                self.text.push(c);
            } else if c.is_ascii_whitespace() {
                self.gap = self.gap.max(Gap::Space);
            } else {
                self.fill_gap();
                self.text.push(c);
            }
        }
    }

    fn fill_gap(&mut self) {
        if !self.text.is_empty() {
            self.text.push_str(match self.gap {
                Gap::None => "",
                Gap::Space => " ",
                Gap::Line => "\n",
                Gap::Paragraph => "\n\n",
            });
        }
        self.gap = Gap::None;
    }
}
