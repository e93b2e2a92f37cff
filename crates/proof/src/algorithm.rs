//! The digests that a bag may list its files by. Pilote writes SHA-256, and SHA-512 where asked; the older ones are
//! read, since bags of others bear them.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{Read, Write};

use sha2::Digest as _;

/// An algorithm that a manifest may be named after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Algorithm {
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

impl Algorithm {
    const ALL: [Self; 6] = [Self::Md5, Self::Sha1, Self::Sha224, Self::Sha256, Self::Sha384, Self::Sha512];

    /// The name as it stands in names of manifests.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Md5 => "md5",
            Self::Sha1 => "sha1",
            Self::Sha224 => "sha224",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    /// The algorithm of a name; case and hyphens do not matter, as the RFC wants names normalised.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let plain: String = name.chars().filter(|c| *c != '-').flat_map(char::to_lowercase).collect();
        Self::ALL.into_iter().find(|one| one.name() == plain)
    }

    /// Hexadecimal digits of a digest.
    pub(crate) fn digits(self) -> usize {
        match self {
            Self::Md5 => 32,
            Self::Sha1 => 40,
            Self::Sha224 => 56,
            Self::Sha256 => 64,
            Self::Sha384 => 96,
            Self::Sha512 => 128,
        }
    }

    /// The digest of bytes in memory.
    pub(crate) fn of(self, bytes: &[u8]) -> String {
        let mut hashers = Hashers::new(&[self]);
        hashers.update(bytes);
        hashers.finish().remove(&self).unwrap_or_default()
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Digests of one file, in lower-case hexadecimal digits.
pub(crate) type Digests = BTreeMap<Algorithm, String>;

enum Hasher {
    Md5(md5::Md5),
    Sha1(sha1::Sha1),
    Sha224(sha2::Sha224),
    Sha256(sha2::Sha256),
    Sha384(sha2::Sha384),
    Sha512(sha2::Sha512),
}

/// Several digests of one stream.
pub(crate) struct Hashers(Vec<(Algorithm, Hasher)>);

impl Hashers {
    /// For these algorithms.
    pub(crate) fn new(algorithms: &[Algorithm]) -> Self {
        let hasher = |algorithm: Algorithm| match algorithm {
            Algorithm::Md5 => Hasher::Md5(md5::Md5::new()),
            Algorithm::Sha1 => Hasher::Sha1(sha1::Sha1::new()),
            Algorithm::Sha224 => Hasher::Sha224(sha2::Sha224::new()),
            Algorithm::Sha256 => Hasher::Sha256(sha2::Sha256::new()),
            Algorithm::Sha384 => Hasher::Sha384(sha2::Sha384::new()),
            Algorithm::Sha512 => Hasher::Sha512(sha2::Sha512::new()),
        };
        Self(algorithms.iter().map(|algorithm| (*algorithm, hasher(*algorithm))).collect())
    }

    /// Takes the next bytes.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        for (_, hasher) in &mut self.0 {
            match hasher {
                Hasher::Md5(hasher) => hasher.update(bytes),
                Hasher::Sha1(hasher) => hasher.update(bytes),
                Hasher::Sha224(hasher) => hasher.update(bytes),
                Hasher::Sha256(hasher) => hasher.update(bytes),
                Hasher::Sha384(hasher) => hasher.update(bytes),
                Hasher::Sha512(hasher) => hasher.update(bytes),
            }
        }
    }

    /// The digests of everything that was seen.
    pub(crate) fn finish(self) -> Digests {
        let finish = |hasher| match hasher {
            Hasher::Md5(hasher) => digits(&hasher.finalize()),
            Hasher::Sha1(hasher) => digits(&hasher.finalize()),
            Hasher::Sha224(hasher) => digits(&hasher.finalize()),
            Hasher::Sha256(hasher) => digits(&hasher.finalize()),
            Hasher::Sha384(hasher) => digits(&hasher.finalize()),
            Hasher::Sha512(hasher) => digits(&hasher.finalize()),
        };
        self.0.into_iter().map(|(algorithm, hasher)| (algorithm, finish(hasher))).collect()
    }
}

fn digits(bytes: &[u8]) -> String {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| char::from(HEX[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

/// Reads a stream to its end, in pieces, and gives its digests and length.
pub(crate) fn digests_of(from: &mut dyn Read, algorithms: &[Algorithm]) -> std::io::Result<(Digests, u64)> {
    pass(from, &mut std::io::sink(), algorithms)
}

/// Moves a stream to `to` through a buffer that suits disks; gives digests and length of what was moved.
pub(crate) fn pass(
    from: &mut dyn Read,
    to: &mut dyn Write,
    algorithms: &[Algorithm],
) -> std::io::Result<(Digests, u64)> {
    let mut hashers = Hashers::new(algorithms);
    let (mut buffer, mut bytes) = (vec![0; 1 << 17], 0);
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok((hashers.finish(), bytes)),
            Ok(read) => {
                hashers.update(&buffer[..read]);
                to.write_all(&buffer[..read])?;
                bytes += read as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_gives_the_known_digest_of_nothing() {
        let known = [
            (Algorithm::Md5, "d41d8cd98f00b204e9800998ecf8427e"),
            (Algorithm::Sha1, "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            (Algorithm::Sha224, "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f"),
            (Algorithm::Sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ];
        for (algorithm, digest) in known {
            assert_eq!(algorithm.of(b""), digest);
        }
        assert!(Algorithm::Sha384.of(b"").starts_with("38b060a751ac96384cd9"));
        assert!(Algorithm::Sha512.of(b"").starts_with("cf83e1357eefb8bdf154"));
        assert!(Algorithm::ALL.iter().all(|one| one.of(b"x").len() == one.digits()));
    }

    #[test]
    fn names_of_algorithms_are_normalised() {
        assert_eq!(Algorithm::named("SHA-256"), Some(Algorithm::Sha256));
        assert_eq!(Algorithm::named("md5"), Some(Algorithm::Md5));
        assert_eq!(Algorithm::named("blake2b"), None);
    }
}
