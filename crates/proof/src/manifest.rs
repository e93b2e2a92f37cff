//! `manifest-sha256.txt` as the bundle of a closing and copies of the first version bear it: every file with its digest, in the form that
//! `sha256sum -c` reads. Copies are bags now, whose lists `bag` reads.

use std::collections::BTreeMap;

use pilote_spec::Digest;

/// Name of the manifest inside a copy.
pub const MANIFEST: &str = "manifest-sha256.txt";

/// Files with their digests, by path relative to the copy, `/` between components.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Manifest(pub BTreeMap<String, Digest>);

/// Why a manifest cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ManifestError {
    #[error("line {line} is not `<64 hexadecimal digits>  <path>`")]
    Line { line: usize },
    #[error("line {line} names `{path}`, which leads out of the copy")]
    Outside { line: usize, path: String },
    #[error("line {line} names `{path}` a second time")]
    Twice { line: usize, path: String },
    #[error("the last line has no line end, so the file was cut short")]
    Cut,
}

impl Manifest {
    /// The text, in the order of the paths' bytes.
    pub(crate) fn encode(&self) -> String {
        self.0.iter().map(|(path, digest)| format!("{digest}  {path}\n")).collect()
    }

    /// Reads a manifest. Paths that lead out of the copy are refused, since a reader opens what is named.
    pub(crate) fn decode(text: &str) -> Result<Self, ManifestError> {
        if !text.is_empty() && !text.ends_with('\n') {
            return Err(ManifestError::Cut);
        }
        let mut files = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            // `sha256sum` marks binary mode with `*` in place of the second space.
            let (digest, path) = line
                .split_once("  ")
                .or_else(|| line.split_once(" *"))
                .ok_or(ManifestError::Line { line: number })?;
            let digest = digest.parse().map_err(|_| ManifestError::Line { line: number })?;
            if !is_inside(path) {
                return Err(ManifestError::Outside { line: number, path: path.to_owned() });
            }
            if files.insert(path.to_owned(), digest).is_some() {
                return Err(ManifestError::Twice { line: number, path: path.to_owned() });
            }
        }
        Ok(Self(files))
    }
}

/// Whether a relative path stays below the directory it starts from, on every system that may read it.
pub(crate) fn is_inside(path: &str) -> bool {
    !path.contains(['\\', ':', '\0'])
        && path.split('/').all(|component| !matches!(component, "" | "." | ".."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_the_first_version_is_read() {
        let digest = Digest::of(b"a");
        let listed =
            BTreeMap::from([("balance.json".to_owned(), digest), ("parts/000001/000001".to_owned(), digest)]);
        let text = format!("{digest}  balance.json\n{digest} *parts/000001/000001\n");
        assert_eq!(Manifest::decode(&text), Ok(Manifest(listed)));
    }

    #[test]
    fn a_path_that_leads_out_of_the_copy_is_refused() {
        let digest = Digest::of(b"");
        for path in ["../evil", "/etc/passwd", "a/../../b", "C:\\x", "a//b", "./a"] {
            let error = Manifest::decode(&format!("{digest}  {path}\n")).unwrap_err();
            assert_eq!(error, ManifestError::Outside { line: 1, path: path.to_owned() });
        }
    }

    #[test]
    fn a_manifest_that_was_cut_short_says_so() {
        let text = format!("{}  balance.js", Digest::of(b""));
        assert_eq!(Manifest::decode(&text), Err(ManifestError::Cut));
        assert_eq!(Manifest::decode("no digest here\n"), Err(ManifestError::Line { line: 1 }));
    }

    #[test]
    fn a_path_named_twice_is_refused() {
        let line = format!("{}  a\n", Digest::of(b""));
        let error = Manifest::decode(&line.repeat(2)).unwrap_err();
        assert_eq!(error.to_string(), "line 2 names `a` a second time");
    }
}
