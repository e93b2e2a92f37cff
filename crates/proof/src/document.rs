//! JSON documents that carry their own digest: `balance.json`, `verification.json`, the notes under `copies/`.
//!
//! The text is indented JSON whose last member, on a line of its own, is `sha256`: the digest of every byte
//! before that line. So `sed '/^  "sha256": /,$d' FILE | sha256sum` recomputes it without this program.

use std::path::Path;

use pilote_spec::Digest;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ProofError;

/// The start of the line that carries the digest. Members inside are indented further and never match.
const DIGEST_LINE: &str = "  \"sha256\": \"";

/// Why bytes are no such document.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The digest line is absent: cut short, or another file.
    #[error(
        "the line with the document's own digest is missing, so the file was cut short or is another one"
    )]
    NoDigest,
    /// The bytes changed after they were written.
    #[error("the content has the digest {seen} and says {stated}, so it was changed after it was written")]
    Differs {
        /// Digest that the document states.
        stated: Digest,
        /// Digest of what is there.
        seen: Digest,
    },
    /// It is whole and holds something else than expected.
    #[error("the document is whole and cannot be read as `{format}`")]
    Shape {
        /// The expected format.
        format: &'static str,
        /// Where and why.
        #[source]
        source: serde_json::Error,
    },
    /// A later version of the format.
    #[error(
        "the document has the format `{seen}`, this program reads `{format}`; use a newer pilote to read it"
    )]
    Format {
        /// The expected format.
        format: &'static str,
        /// The one that is there.
        seen: String,
    },
}

/// A value that is kept as such a document.
pub(crate) trait Document: Serialize + DeserializeOwned {
    /// The format's name and version, held in the member `format`.
    const FORMAT: &'static str;
}

/// The document's bytes; the same value always gives the same bytes.
///
/// # Errors
/// When the value has no JSON form.
pub(crate) fn encode<D: Document>(value: &D) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(value)?;
    // Indented JSON of an object ends in a line of its own with the brace; the digest goes before it.
    text.truncate(text.len().saturating_sub("\n}".len()));
    text.push_str(",\n");
    let digest = Digest::of(text.as_bytes());
    text.push_str(DIGEST_LINE);
    text.push_str(&digest.to_string());
    text.push_str("\"\n}\n");
    Ok(text.into_bytes())
}

/// [`encode`], its error named with the file that was to be written.
pub(crate) fn bytes<D: Document>(path: &Path, value: &D) -> Result<Vec<u8>, ProofError> {
    encode(value).map_err(|source| ProofError::Document {
        path: path.to_owned(),
        source: DocumentError::Shape { format: D::FORMAT, source },
    })
}

/// Reads a document back, its digest and format checked.
///
/// # Errors
/// See [`DocumentError`].
pub(crate) fn decode<D: Document>(bytes: &[u8]) -> Result<D, DocumentError> {
    let text = std::str::from_utf8(bytes).map_err(|_| DocumentError::NoDigest)?;
    let (body, last) = text.rsplit_once(DIGEST_LINE).ok_or(DocumentError::NoDigest)?;
    let stated: Digest =
        last.strip_suffix("\"\n}\n").and_then(|digest| digest.parse().ok()).ok_or(DocumentError::NoDigest)?;
    let seen = Digest::of(body.as_bytes());
    if seen != stated {
        return Err(DocumentError::Differs { stated, seen });
    }
    #[derive(serde::Deserialize)]
    struct Named {
        format: String,
    }
    let shape = |source| DocumentError::Shape { format: D::FORMAT, source };
    let named: Named = serde_json::from_slice(bytes).map_err(shape)?;
    if named.format != D::FORMAT {
        return Err(DocumentError::Format { format: D::FORMAT, seen: named.format });
    }
    serde_json::from_slice(bytes).map_err(shape)
}
