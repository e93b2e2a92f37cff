use std::io::Read;

use proptest::prelude::*;

use super::*;

/// Gives its bytes in pieces of changing sizes, as a pipe or a network file system may.
struct Pieces<'a> {
    rest: &'a [u8],
    sizes: std::iter::Cycle<std::slice::Iter<'a, usize>>,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes.next().copied().unwrap_or(1).min(self.rest.len()).min(buffer.len());
        let (piece, rest) = self.rest.split_at(size);
        buffer[..size].copy_from_slice(piece);
        self.rest = rest;
        Ok(size)
    }
}

fn lines(bytes: &[u8], sizes: &[usize], limit: u64) -> Vec<Line> {
    let mut reader = Lines::new(Pieces { rest: bytes, sizes: sizes.iter().cycle() }, limit, None).unwrap();
    let mut lines = Vec::new();
    while let Some(line) = reader.next().unwrap() {
        lines.push(line);
    }
    lines
}

fn kept(line: &Line) -> Vec<u8> {
    match &line.content {
        LineContent::Kept(kept) => kept.clone(),
        LineContent::Passed(digest) => panic!("{digest} was not kept"),
    }
}

/// The lines of a text by the plain rule: cut at each line feed, one carriage return before it removed.
fn expected(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let last = lines.pop().unwrap();
    for line in &mut lines {
        if line.ends_with('\r') {
            line.pop();
        }
    }
    if !last.is_empty() {
        lines.push(last);
    }
    lines
}

#[test]
fn a_line_end_that_falls_between_two_pieces_is_a_line_end() {
    let lines = lines(b"abcd\r\ne\r\n\r\n", &[1], 100);
    let kept: Vec<_> = lines.iter().map(kept).collect();
    assert_eq!(kept, [&b"abcd"[..], b"e", b""]);
    assert_eq!(lines.iter().map(|line| line.offset).collect::<Vec<_>>(), [0, 6, 9]);
}

#[test]
fn a_return_that_is_not_before_a_feed_belongs_to_the_line() {
    let lines = lines(b"a\rb\n\r\r\nc\r", &[2], 100);
    let kept: Vec<_> = lines.iter().map(kept).collect();
    assert_eq!(kept, [&b"a\rb"[..], b"\r", b"c\r"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lines_are_the_same_in_every_unit_and_in_pieces_of_any_size(
        text in "[ab\r\n\u{a0a}\u{d0a}\u{a0d}é🦀]{0,40}",
        sizes in prop::collection::vec(1_usize..7, 1..5),
        form in 0..4,
        limit in 0_u64..20,
    ) {
        let bytes: Vec<u8> = match form {
            0 => text.clone().into_bytes(),
            1 => format!("\u{feff}{text}").into_bytes(),
            2 => format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect(),
            _ => format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_be_bytes).collect(),
        };
        let decode = |bytes: &[u8]| match form {
            0 | 1 => String::from_utf8(bytes.to_vec()).unwrap(),
            2 => encoding_rs::UTF_16LE.decode_without_bom_handling(bytes).0.into_owned(),
            _ => encoding_rs::UTF_16BE.decode_without_bom_handling(bytes).0.into_owned(),
        };
        let lines = lines(&bytes, &sizes, limit);
        let stored: Vec<_> = lines
            .iter()
            .map(|line| {
                let start = usize::try_from(line.offset).unwrap();
                &bytes[start..start + usize::try_from(line.bytes).unwrap()]
            })
            .collect();
        let texts: Vec<_> = stored.iter().map(|bytes| decode(bytes)).collect();
        prop_assert_eq!(texts, expected(&text));
        for (line, bytes) in lines.iter().zip(&stored) {
            match &line.content {
                LineContent::Kept(kept) => prop_assert!(line.bytes <= limit && kept == bytes),
                LineContent::Passed(digest) => {
                    prop_assert!(line.bytes > limit && *digest == Digest::of(bytes));
                }
            }
        }
        let numbers: Vec<_> = lines.iter().map(|line| line.number).collect();
        prop_assert_eq!(numbers, (1..=lines.len() as u64).collect::<Vec<_>>());
    }
}
