//! Requirement files as pip reads them: is each package pinned, does its line carry digests, where does it come from?

use std::path::Path;

use crate::verdict::Finding;

/// What a line says of where a package comes from and how firmly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineKind {
    /// One exact version, or one file by its address.
    Pinned,
    /// A range, or nothing.
    Open,
    /// A branch or an address whose content may change.
    Moving,
    /// A file or folder of this machine.
    Local,
}

/// A package that a requirement file names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The package, lower case, with dashes.
    pub name: String,
    /// Its version, where it is pinned.
    pub version: Option<String>,
    /// What kind of line it is.
    pub kind: LineKind,
    /// Digests of the files that may be installed.
    pub hashes: usize,
    /// Whether a marker limits it to some systems or versions of Python.
    pub limited: bool,
    /// File and line.
    pub place: String,
}

/// The packages that a requirement file names, lines that go on joined; options and comments are no packages.
#[must_use]
pub fn requirements(file: &str, text: &str) -> Vec<Line> {
    logical(text)
        .into_iter()
        .filter_map(|(number, line)| package(&line, format!("{file}:{number}")))
        .collect()
}

/// Lines with their continuations, and the number of the first of each.
fn logical(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start_matches('\u{feff}');
        // A comment begins the line, or follows a blank; `#` inside an address belongs to it.
        let bare =
            if line.trim_start().starts_with('#') { "" } else { line.split(" #").next().unwrap_or("") };
        let bare = bare.trim();
        let (bare, next_goes_on) = bare.strip_suffix('\\').map_or((bare, false), |bare| (bare, true));
        match lines.last_mut() {
            Some((_, last)) if goes_on => {
                last.push(' ');
                last.push_str(bare);
            }
            _ => lines.push((number + 1, bare.to_owned())),
        }
        goes_on = next_goes_on;
    }
    lines.retain(|(_, line)| !line.trim().is_empty());
    lines
}

fn package(line: &str, place: String) -> Option<Line> {
    let hashes = line.matches("--hash=").count();
    let line = line.split("--hash=").next().unwrap_or(line).trim();
    let (editable, line) = match line.strip_prefix("-e ").or_else(|| line.strip_prefix("--editable ")) {
        Some(rest) => (true, rest.trim()),
        None => (false, line),
    };
    if line.starts_with('-') {
        return None;
    }
    let (line, limited) = match line.split_once(" ;").or_else(|| line.split_once(';')) {
        Some((line, _)) if !line.contains("://") => (line.trim(), true),
        _ => (line, false),
    };
    let local = [".", "/", "~", "file:"].iter().any(|start| line.starts_with(start));
    if local || (editable && !line.contains("://")) {
        return Some(Line {
            name: line.to_owned(),
            version: None,
            kind: LineKind::Local,
            hashes,
            limited,
            place,
        });
    }
    let end =
        line.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let rest = rest.trim_start();
    let rest = if rest.starts_with('[') {
        rest.split_once(']').map_or("", |(_, rest)| rest).trim_start()
    } else {
        rest
    };
    let (version, kind) = if line.starts_with("git+") || line.contains("://") && !rest.starts_with('@') {
        (None, address(line))
    } else if let Some(url) = rest.strip_prefix('@') {
        (version_of_address(url), address(url))
    } else if let Some(pinned) = rest.strip_prefix("===").or_else(|| rest.strip_prefix("==")) {
        let version = pinned.trim().split([',', ' ']).next().unwrap_or("").to_owned();
        let exact = !version.is_empty() && !version.contains('*') && !pinned.contains(',');
        if exact { (Some(version), LineKind::Pinned) } else { (None, LineKind::Open) }
    } else {
        (None, LineKind::Open)
    };
    let name = if name.is_empty() || line.starts_with("git+") { line.to_owned() } else { normal(name) };
    Some(Line { name, version, kind, hashes, limited, place })
}

/// An address is firm when it names a commit by its digits, or one file that its digest or line fixes.
fn address(url: &str) -> LineKind {
    let url = url.trim();
    if url.starts_with("file:") {
        return LineKind::Local;
    }
    if url.starts_with("git+") {
        let revision =
            url.split('#').next().and_then(|url| url.rsplit_once('@')).map(|(_, revision)| revision);
        let is_commit =
            revision.is_some_and(|it| it.len() == 40 && it.bytes().all(|byte| byte.is_ascii_hexdigit()));
        return if is_commit { LineKind::Pinned } else { LineKind::Moving };
    }
    let file = url.split(['#', '?']).next().unwrap_or(url);
    if [".whl", ".tar.gz", ".zip"].iter().any(|ending| file.ends_with(ending)) {
        LineKind::Pinned
    } else {
        LineKind::Moving
    }
}

fn version_of_address(url: &str) -> Option<String> {
    let file = url.split(['#', '?']).next()?.rsplit('/').next()?;
    let version = file.strip_suffix(".whl")?.split('-').nth(1)?;
    Some(version.replace("%2B", "+").replace("%2b", "+"))
}

/// A name as indexes compare it: lower case, runs of `-`, `_` and `.` as one dash.
fn normal(name: &str) -> String {
    let mut normal = String::new();
    for c in name.chars() {
        if !matches!(c, '-' | '_' | '.') {
            normal.extend(c.to_lowercase());
        } else if !normal.ends_with('-') {
            normal.push('-');
        }
    }
    normal
}

/// Judges the requirement files of a project.
pub(super) fn lint(root: &Path, files: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let Ok(text) = fs_err::read_to_string(root.join(file)) else {
            findings.push(Finding::fault("requirements-unreadable").with("file", file));
            continue;
        };
        let lines = requirements(file, &text);
        findings.extend(lines.iter().filter_map(weakness));
        findings.extend(unhashed(file, &lines));
        findings.extend(provenance(file, &text));
        if !lines.is_empty() {
            let hashed = lines.iter().filter(|line| line.hashes > 0).count();
            findings.push(
                Finding::seen("requirements")
                    .with("file", file)
                    .with("count", lines.len())
                    .with("hashed", hashed),
            );
        }
    }
    findings
}

fn weakness(line: &Line) -> Option<Finding> {
    let code = match line.kind {
        LineKind::Pinned => return None,
        LineKind::Open => "requirement-open",
        LineKind::Moving => "requirement-moving",
        LineKind::Local => "requirement-local",
    };
    Some(Finding::fault(code).with("name", &line.name).with("place", &line.place))
}

/// Lines without a digest. pip refuses the whole file when some have digests and some have none.
fn unhashed(file: &str, lines: &[Line]) -> Option<Finding> {
    // A commit is its own digest, and a file in the project is judged with the project.
    let can_have = |line: &&Line| !line.name.starts_with("git+") && line.kind != LineKind::Local;
    let bare: Vec<&Line> = lines.iter().filter(can_have).filter(|line| line.hashes == 0).collect();
    let first = bare.first()?;
    let names: Vec<&str> = bare.iter().take(8).map(|line| line.name.as_str()).collect();
    Some(
        Finding::fault("requirement-unhashed")
            .with("file", file)
            .with("count", bare.len())
            .with("of", lines.len())
            .with("names", names.join(", "))
            .with("place", &first.place),
    )
}

/// Where packages come from: options that name indexes.
fn provenance(file: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in logical(text) {
        let option = |names: [&str; 2]| {
            names
                .iter()
                .find_map(|name| Some(line.strip_prefix(name)?.trim_start_matches([' ', '=']).to_owned()))
        };
        let place = format!("{file}:{number}");
        let host = |address: &str| {
            let rest = address.split("://").nth(1).unwrap_or(address);
            let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
            rest.trim_end_matches('/').to_owned()
        };
        if let Some(address) = option(["--extra-index-url", "--find-links"]) {
            let finding = Finding::note("requirement-extra-index");
            findings.push(finding.with("index", host(&address)).with("place", place));
        } else if let Some(address) = option(["--index-url", "-i "]) {
            findings
                .push(Finding::seen("requirement-index").with("index", host(&address)).with("place", place));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(line: &str) -> Line {
        requirements("r.txt", line).remove(0)
    }

    #[test]
    fn lines_that_go_on_are_one_and_their_digests_are_counted() {
        let text = "# made by a tool\ntorch==2.8.0+cu128 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n\nnumpy>=2\n";
        let lines = requirements("r.txt", text);
        assert_eq!(lines.len(), 2);
        assert_eq!((lines[0].name.as_str(), lines[0].version.as_deref()), ("torch", Some("2.8.0+cu128")));
        assert_eq!((lines[0].hashes, lines[0].place.as_str()), (2, "r.txt:2"));
        assert_eq!((lines[1].kind.clone(), lines[1].place.as_str()), (LineKind::Open, "r.txt:6"));
    }

    #[test]
    fn firm_and_moving_sources_are_told_apart() {
        assert_eq!(one("Foo_Bar[x]==1.0 ; python_version < '3.9'").name, "foo-bar");
        assert!(one("Foo_Bar==1.0 ; python_version < '3.9'").limited);
        assert_eq!(one("x==1.*").kind, LineKind::Open);
        assert_eq!(one("x @ git+https://example.org/x.git@main").kind, LineKind::Moving);
        let commit = "x @ git+https://example.org/x.git@0123456789abcdef0123456789abcdef01234567";
        assert_eq!(one(commit).kind, LineKind::Pinned);
        let wheel =
            one("torch @ https://example.org/torch-2.8.0%2Bcu128-cp312-cp312-linux_x86_64.whl#sha256=aa");
        assert_eq!((wheel.kind, wheel.version.as_deref()), (LineKind::Pinned, Some("2.8.0+cu128")));
        assert_eq!(one("-e .").kind, LineKind::Local);
        assert_eq!(one("./wheels/x.whl").kind, LineKind::Local);
        assert!(requirements("r", "-r other.txt\n--index-url https://example.org/simple\n").is_empty());
    }

    #[test]
    fn one_line_of_forty_without_a_digest_is_named() {
        let text: String = (0..40)
            .map(|n| if n == 23 { format!("p{n}==1\n") } else { format!("p{n}==1 --hash=sha256:aa\n") })
            .collect();
        let lines = requirements("r.txt", &text);
        let finding = unhashed("r.txt", &lines).unwrap();
        assert_eq!(finding.values["names"], "p23");
        assert_eq!((finding.values["place"].as_str(), finding.values["of"].as_str()), ("r.txt:24", "40"));
    }
}
