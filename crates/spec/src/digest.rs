//! SHA-256, the one digest of the project: a reader can check any figure with `sha256sum`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::Digest as _;

/// A SHA-256 digest; written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Digest([u8; 32]);

/// What makes a text no digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no sha256 digest: 64 hexadecimal digits are expected")]
pub struct DigestError {
    text: String,
}

/// The two digits of each byte: a record bears 32 of them.
const HEX: [[u8; 2]; 256] = {
    let digits = b"0123456789abcdef";
    let mut hex = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        hex[byte] = [digits[byte >> 4], digits[byte & 0xf]];
        byte += 1;
    }
    hex
};

impl Digest {
    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// The 32 bytes of the digest.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The 64 digits, all of them ASCII.
    fn digits(&self) -> [u8; 64] {
        let mut digits = [0; 64];
        let (pairs, _) = digits.as_chunks_mut::<2>();
        for (pair, byte) in pairs.iter_mut().zip(self.0) {
            *pair = HEX[usize::from(byte)];
        }
        digits
    }

    /// The first twelve hexadecimal digits, for people; never for comparing.
    #[must_use]
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Every record bears a digest, so that its digits go straight to where they are written.
        serializer.serialize_str(std::str::from_utf8(&self.digits()).unwrap_or_default())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{self}")
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || DigestError { text: text.chars().take(80).collect() };
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        if pairs.len() != 32 || !rest.is_empty() {
            return Err(error());
        }
        let mut bytes = [0; 32];
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = nibble(*high).zip(nibble(*low)).map(|(high, low)| high << 4 | low).ok_or_else(error)?;
        }
        Ok(Self(bytes))
    }
}

/// The value of a hexadecimal digit of either case.
fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

impl TryFrom<String> for Digest {
    type Error = DigestError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

/// Takes bytes as they come and gives their digest.
#[derive(Clone, Default)]
pub struct Hasher(sha2::Sha256);

impl Hasher {
    /// A hasher that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `bytes` to what was seen.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of everything seen.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl std::io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_written_as_sha256sum_writes_it_and_read_in_either_case() {
        let text = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_string(), text);
        assert_eq!(text.to_uppercase().parse(), Ok(Digest::of(b"")));
    }

    #[test]
    fn anything_but_64_hexadecimal_digits_is_no_digest() {
        let long = "0".repeat(65);
        let accented = format!("{}é", "0".repeat(62));
        for text in ["", "0", &long, &long[..63], &format!("{}g", &long[..63]), &accented] {
            let error = text.parse::<Digest>().unwrap_err();
            assert!(error.to_string().contains("is no sha256 digest"), "{error}");
        }
    }
}
