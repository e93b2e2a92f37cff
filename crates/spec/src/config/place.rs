//! Paths, destination and secrets: what may stand in a folder that travels.

use super::decoding::{Decoder, Field};

/// The longest name of a variable that is still taken for a name.
const VARIABLE_CHARS_MAX: usize = 64;

impl Decoder {
    /// A path inside the project, relative to its folder, as written. Whether it exists is a question for whoever
    /// opens it: here only its form is judged, so that the answer is the same on every machine.
    pub(super) fn inside(&mut self, field: &Field<'_>) -> Option<String> {
        let path = self.name(field)?;
        let relative = "write a path relative to the project's folder, such as data/pilote";
        if path.contains('\\') {
            return self.wrong(
                field,
                "a backslash stands in the path",
                "write `/` between folders on every system",
            );
        }
        if path.starts_with('/') || has_drive(&path) {
            return self.wrong(
                field,
                "the path is absolute, so it would not travel with the project",
                relative,
            );
        }
        if path.starts_with('~') {
            return self.wrong(field, "the path leads into a home directory", relative);
        }
        if path.split('/').any(|part| part == "..") {
            let advice = "put the files into the project's folder and take `..` out";
            return self.wrong(field, "the path leads out of the project", advice);
        }
        let mut parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
        match parts.next() {
            None => {
                self.wrong(field, "the path is the project's own folder", "name a folder or file inside it")
            }
            Some("runs") => {
                let advice = "keep inputs out of runs/, where trials are written";
                self.wrong(field, "the path lies among the trials", advice)
            }
            Some(_) => Some(path),
        }
    }

    /// A place in an object store, or a directory outside of the project and nobody's home. A copy inside the project would go down with it, and
    /// somebody's home directory is not there on the next machine.
    pub(super) fn destination(&mut self, field: &Field<'_>) -> Option<String> {
        let path = self.name(field)?;
        let outside = "write a directory outside of the project, such as ../copies, or leave the key out and name it at \
                       export";
        if path.contains("://") {
            let advice = "write s3://BUCKET/FOLDER or https://example.org/BUCKET/FOLDER; keys travel in variables only";
            return if is_bucket(&path) {
                Some(path)
            } else {
                // Not repeated: a password may stand in it.
                self.wrong(field, "the destination is no place in an object store", advice)
            };
        }
        if is_home(&path) {
            let problem = "the destination leads into a home directory, which another machine does not have";
            return self.wrong(field, problem, outside);
        }
        if !path.starts_with('/') && !has_drive(&path) && !leaves(&path) {
            let problem = "the destination lies inside the project, and would be lost with it";
            return self.wrong(field, problem, outside);
        }
        Some(path)
    }

    /// Names of variables. What stands in the place of one is never repeated: it may be the secret itself.
    pub(super) fn secrets(&mut self, field: &Field<'_>) -> Option<Vec<String>> {
        let mut names = std::collections::BTreeSet::new();
        self.list(field, |it, field| {
            let name = it.text(field)?;
            if !is_name_of_variable(&name) {
                let problem = "this is not the name of an environment variable";
                let advice = "write a name in capitals such as HUB_TOKEN; if this is the secret itself, take it out \
                              and have it replaced";
                return it.wrong(field, problem, advice);
            }
            if !names.insert(name.clone()) {
                return it.wrong(field, format!("`{name}` stands twice"), "take one of them out");
            }
            Some(name)
        })
    }
}

/// The name of a variable, and not what looks like its value.
pub(super) fn is_name_of_variable(name: &str) -> bool {
    is_variable(name) && !is_access_key(name)
}

/// Capitals, digits and underscores. Small letters would be allowed by the system, and are what tokens are made of.
fn is_variable(name: &str) -> bool {
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let rest = name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    first && rest && name.len() <= VARIABLE_CHARS_MAX
}

/// The one widespread kind of key that is written in capitals: twenty of them, `AKIA` or `ASIA` first.
fn is_access_key(name: &str) -> bool {
    name.len() == 20 && !name.contains('_') && (name.starts_with("AKIA") || name.starts_with("ASIA"))
}

/// `C:` and the like at the start, or a name of a Windows share.
pub(super) fn has_drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    (bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':') || path.starts_with("\\\\")
}

/// Whether an address names a bucket and holds neither a password nor a signature.
fn is_bucket(address: &str) -> bool {
    let named = |rest: &str| !rest.is_empty() && !rest.starts_with('/') && !rest.contains(['@', '?', '#']);
    match address.split_once("://") {
        Some(("s3", rest)) => named(rest),
        Some(("https" | "http", rest)) => {
            named(rest) && rest.split_once('/').is_some_and(|(_, bucket)| named(bucket))
        }
        _ => false,
    }
}

/// Whether a path leads into the home directory of a user, on any of the systems.
pub(super) fn is_home(path: &str) -> bool {
    let path = path.replace('\\', "/").to_lowercase();
    let path = if has_drive(&path) { &path[2..] } else { &path };
    path.starts_with('~')
        || path.contains("$home")
        || path.contains("%userprofile%")
        || ["/home/", "/users/", "/root/"].iter().any(|home| format!("{path}/").starts_with(home))
}

/// Whether a relative path ends outside of where it starts.
fn leaves(path: &str) -> bool {
    let mut depth = 0_i64;
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => depth -= 1,
            _ if depth < 0 => return true,
            _ => depth += 1,
        }
    }
    depth < 0
}
