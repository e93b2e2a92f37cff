//! One line of an entry: `CRC JSON\n`, eight lower-case hexadecimal digits of the JSON's CRC-32 before it.

use serde::Serialize;

/// Bytes before the JSON: eight digits and a blank.
const PREFIX: usize = 9;

/// Adds `value` to `out` as a line.
///
/// # Errors
/// When the value has no JSON.
pub(crate) fn push(out: &mut Vec<u8>, value: &impl Serialize) -> Result<(), serde_json::Error> {
    let start = out.len();
    out.extend_from_slice(b"00000000 ");
    if let Err(error) = serde_json::to_writer(&mut *out, value) {
        out.truncate(start);
        return Err(error);
    }
    let crc = crc32fast::hash(&out[start + PREFIX..]);
    out[start..start + 8].copy_from_slice(&digits(crc));
    out.push(b'\n');
    Ok(())
}

/// The JSON of a line without its line end; none where the line is not whole.
pub(crate) fn whole(line: &[u8]) -> Option<&[u8]> {
    let (prefix, json) = line.split_at_checked(PREFIX)?;
    let whole = looks_like_start(line) && prefix[..8] == digits(crc32fast::hash(json));
    whole.then_some(json)
}

/// The JSON in the bytes of a whole line with its line end.
pub(crate) fn json(line: &[u8]) -> &[u8] {
    line.get(PREFIX..line.len().saturating_sub(1)).unwrap_or_default()
}

/// The first place from `from` on where a whole line begins inside `bytes`, which ends where that line would
/// end: what stands before it swallowed the line end between. At most 64 places are tried, so that bytes made to
/// mislead cost no more than that many passes.
pub(crate) fn whole_suffix(bytes: &[u8]) -> Option<usize> {
    let last = bytes.len().checked_sub(PREFIX + 1)?;
    (1..=last).filter(|at| looks_like_start(&bytes[*at..])).take(64).find(|at| whole(&bytes[*at..]).is_some())
}

fn looks_like_start(bytes: &[u8]) -> bool {
    bytes.len() > PREFIX
        && bytes[8] == b' '
        && bytes[9] == b'{'
        && bytes[..8].iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn digits(crc: u32) -> [u8; 8] {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let nibble = |shift: u32| HEX[((crc >> shift) & 0xf) as usize];
    [28, 24, 20, 16, 12, 8, 4, 0].map(nibble)
}
