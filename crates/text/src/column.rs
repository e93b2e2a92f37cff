//! Columns of a terminal: how wide a text is, filling it up, and making it safe to print.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr;

/// Columns that a text takes on a terminal; a Japanese character takes two.
#[must_use]
pub fn width(text: &str) -> usize {
    text.width()
}

/// The text with spaces after it, up to `columns`. A wider text stays as it is.
#[must_use]
pub fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text with spaces before it, up to `columns`, as figures are set. A wider text stays as it is.
#[must_use]
pub fn pad_start(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text where it fits into `columns`, else as much of its start as fits with an ellipsis.
#[must_use]
pub fn fit(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let room = columns.saturating_sub(1);
    // Whole prefixes are measured, since the width of joined characters is not the sum of their widths.
    let ends = text.char_indices().map(|(end, _)| end);
    let end = ends.take_while(|end| width(&text[..*end]) <= room).last().unwrap_or(0);
    Cow::Owned(if columns == 0 { String::new() } else { format!("{}…", &text[..end]) })
}

/// The text with every character replaced that could steer a terminal or turn its reading order.
///
/// Control characters become their pictures (`␛` for escape), the others `\u{...}`. Whatever comes from outside
/// goes through here before it is printed: identifiers, paths, an engine's own words.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\u{0}'..='\u{1f}' => shown.extend(char::from_u32(0x2400 + u32::from(c))),
            '\u{7f}' => shown.push('␡'),
            c if steers(c) => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Control characters, line and paragraph separators, marks and overrides of direction, and invisible fillers.
/// The joiners U+200C and U+200D stay: scripts and emoji need them.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
