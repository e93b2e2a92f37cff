//! A picture of memory by part against each card, as SVG whose bytes depend on nothing but its input.

use std::fmt::Write as _;

use crate::Bytes;

/// One bar: its label and its pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// What stands before the bar.
    pub label: String,
    /// The pieces from left to right, each with a label and whether it is certain.
    pub pieces: Vec<Piece>,
    /// The memory that the pieces are held against, drawn as an outline; none for a bar that is held against nothing.
    pub room: Option<Bytes>,
    /// What stands behind the bar: the sum, written out.
    pub sum: String,
}

/// A piece of a bar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub label: String,
    /// How much it is.
    pub bytes: Bytes,
    /// Whether it was read, computed or measured; an estimate is drawn hatched.
    pub exact: bool,
}

/// The class of a piece by its place in its bar, `p0` to `p7`, for a page that colours a legend alike.
#[must_use]
pub fn class(at: usize) -> String {
    format!("p{}", at % COLOURS.len())
}

/// Colours that also differ in lightness, so that they are told apart without colour.
const COLOURS: [&str; 8] =
    ["#1b3a5c", "#3f7fb5", "#8fbfe0", "#c9622a", "#e8a87c", "#5b7f3a", "#a9c88a", "#8a8a8a"];

const WIDTH: u64 = 640;
const LEFT: u64 = 150;
const ROW: u64 = 34;

/// Draws bars over one scale, which ends at the longest of them. `title` is read out by screen readers.
#[must_use]
pub fn svg(title: &str, bars: &[Bar]) -> String {
    let sum = |bar: &Bar| bar.pieces.iter().map(|piece| piece.bytes).sum::<Bytes>().0;
    let span = WIDTH - LEFT - 110;
    let room = |bar: &Bar| bar.room.map_or(0, |room| room.0);
    let longest = bars.iter().map(|bar| sum(bar).max(room(bar))).max().unwrap_or(0).max(1);
    // Both ends are rounded from the start of the bar, so that pieces neither overlap nor leave gaps.
    let place = |bytes: u64| u128::from(bytes) * u128::from(span) / u128::from(longest);
    let height = bars.len() as u64 * ROW + 10;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"12\"><title>{}</title>\
         <defs><pattern id=\"h\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><rect width=\"3\" height=\"6\" fill=\"#fff\" fill-opacity=\"0.45\"/>\
         </pattern></defs>",
        escaped(title)
    );
    for (row, bar) in bars.iter().enumerate() {
        let top = row as u64 * ROW + 8;
        let middle = top + 15;
        let _ = write!(
            text,
            "<text x=\"{}\" y=\"{middle}\" text-anchor=\"end\">{}</text>",
            LEFT - 8,
            escaped(&bar.label)
        );
        let mut before = 0_u64;
        for (at, piece) in bar.pieces.iter().enumerate() {
            let (from, to) = (place(before), place(before.saturating_add(piece.bytes.0)));
            before = before.saturating_add(piece.bytes.0);
            let colour = COLOURS[at % COLOURS.len()];
            let shape = format!(
                "x=\"{}\" y=\"{top}\" width=\"{}\" height=\"22\"",
                u128::from(LEFT) + from,
                to - from
            );
            let label = escaped(&piece.label);
            let _ = write!(
                text,
                "<rect {shape} class=\"{}\" fill=\"{colour}\"><title>{label}: {}</title></rect>",
                class(at),
                piece.bytes
            );
            if !piece.exact {
                let _ = write!(text, "<rect {shape} fill=\"url(#h)\"/>");
            }
        }
        if let Some(room) = bar.room {
            let width = place(room.0);
            let _ = write!(
                text,
                "<rect class=\"room\" x=\"{LEFT}\" y=\"{top}\" width=\"{width}\" height=\"22\" fill=\"none\" \
                 stroke=\"#5b6570\"/>"
            );
        }
        let end = u128::from(LEFT) + place(before.max(room(bar))) + 6;
        let _ = write!(text, "<text x=\"{end}\" y=\"{middle}\">{}</text>", escaped(&bar.sum));
    }
    text.push_str("</svg>\n");
    text
}

/// A text inside of XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
