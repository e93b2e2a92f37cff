//! Reading any bag as RFC 8493 and the drafts before it have it: what it declares, which files must be there and with
//! which digests. Nothing that a bag says is followed: no address of `fetch.txt` is asked, no path leads out.

use std::collections::{BTreeMap, BTreeSet};

use encoding_rs::Encoding;
use unicode_normalization::UnicodeNormalization as _;

use crate::algorithm::{Algorithm, Digests};
use crate::error::ProofError;
use crate::files::Found;
use crate::finding::{FindingCode, Findings};
use crate::shelf::Shelf;

/// The file that makes a folder a bag.
pub(crate) const DECLARATION: &str = "bagit.txt";

/// The folder of a bag that holds its payload.
pub(crate) const PAYLOAD: &str = "data/";

/// Where a bag tells which files are to be fetched from elsewhere.
const FETCH: &str = "fetch.txt";

/// The version from which on the rules of the RFC hold; drafts before it are read more leniently.
const RFC: (u32, u32) = (1, 0);

/// What a list of files asks for.
#[derive(Debug, Default)]
pub(crate) struct Expected {
    /// Files that are there and listed, with every digest that a list gives.
    pub files: BTreeMap<String, Digests>,
    /// Listed files that are not there.
    pub absent: Vec<String>,
    /// Files that are there and must be listed and are not.
    pub extra: Vec<String>,
}

/// Whether the names in a folder make it a bag, even one that lost its declaration.
pub(crate) fn is_bag<'f>(mut files: impl Iterator<Item = &'f str>) -> bool {
    let manifest = |path: &str| path.starts_with("tagmanifest-") || path.starts_with("manifest-");
    let (mut lists, mut payload) = (false, false);
    files.any(|path| {
        lists |= !path.contains('/') && manifest(path) && path.ends_with(".txt");
        payload |= path.starts_with(PAYLOAD);
        path == DECLARATION || (lists && payload)
    })
}

/// Reads the tag files of a bag; everything that is wrong with them is a finding.
///
/// # Errors
/// When the system refuses to read.
pub(crate) fn expected(
    shelf: &Shelf,
    there: &[&Found],
    findings: &mut Findings,
) -> Result<Expected, ProofError> {
    let names: BTreeMap<&str, u64> = there.iter().map(|file| (file.path.as_str(), file.bytes)).collect();
    let declared = declaration(shelf, findings)?;
    let mut reading = Reading {
        shelf,
        findings,
        folded: names.keys().map(|name| (twin_key(name), *name)).collect(),
        names,
        version: declared.map_or(RFC, |(version, _)| version),
        encoding: declared.map_or(encoding_rs::UTF_8, |(_, encoding)| encoding),
        expected: Expected::default(),
        system_absent: false,
        listed: BTreeMap::new(),
    };
    reading.manifests()?;
    reading.fetch()?;
    reading.information()?;
    reading.unlisted();
    reading.twins();
    Ok(reading.expected)
}

struct Reading<'b> {
    shelf: &'b Shelf,
    findings: &'b mut Findings,
    /// Every file of the bag with its length.
    names: BTreeMap<&'b str, u64>,
    /// Every file by what some system takes its name for.
    folded: BTreeMap<String, &'b str>,
    version: (u32, u32),
    encoding: &'static Encoding,
    expected: Expected,
    /// Whether a listed file of an operating system is gone, so that the stated size cannot fit.
    system_absent: bool,
    /// What each payload manifest lists.
    listed: BTreeMap<String, BTreeSet<String>>,
}

impl Reading<'_> {
    /// Reads the manifests of payload and tags.
    fn manifests(&mut self) -> Result<(), ProofError> {
        let manifest = |name: &str| {
            let (tags, rest) = match name.strip_prefix("tag") {
                Some(rest) => (true, rest),
                None => (false, name),
            };
            Some((tags, rest.strip_prefix("manifest-")?.strip_suffix(".txt")?.to_owned()))
        };
        let found: Vec<(String, bool, String)> = self
            .names
            .keys()
            .filter(|name| !name.contains('/'))
            .filter_map(|name| manifest(name).map(|(tags, algorithm)| ((*name).to_owned(), tags, algorithm)))
            .collect();
        let mut read = 0;
        for (name, tags, algorithm) in found {
            let Some(algorithm) = Algorithm::named(&algorithm) else {
                let detail = "its algorithm is not known here, so its digests were not compared";
                self.findings.add(FindingCode::ListNote, name, detail);
                continue;
            };
            self.manifest(&name, tags, algorithm)?;
            read += u32::from(!tags);
        }
        if read == 0 {
            let detail = "there is no manifest of the payload that can be read, so nothing can be compared";
            self.findings.add(FindingCode::ManifestUnreadable, "manifest-sha256.txt", detail);
        }
        Ok(())
    }

    fn manifest(&mut self, name: &str, tags: bool, algorithm: Algorithm) -> Result<(), ProofError> {
        let Some(text) = self.text(name)? else { return Ok(()) };
        let mut given: BTreeMap<String, String> = BTreeMap::new();
        for (number, line) in (1..).zip(lines(&text)).filter(|(_, line)| !line.trim().is_empty()) {
            let Some((digest, path)) = manifest_line(line, algorithm) else {
                let detail =
                    format!("line {number} is not `<{} hexadecimal digits> <path>`", algorithm.digits());
                self.findings.add(FindingCode::ManifestUnreadable, name, detail);
                continue;
            };
            let Some(path) = self.path(name, number, path, tags) else { continue };
            match given.insert(path.clone(), digest.clone()) {
                Some(first) if first != digest => {
                    let detail = format!("line {number} names `{path}` a second time, with another digest");
                    self.findings.add(FindingCode::ManifestUnreadable, name, detail);
                }
                Some(_) => {
                    let code = if self.version >= RFC {
                        FindingCode::ManifestUnreadable
                    } else {
                        FindingCode::ListNote
                    };
                    self.findings.add(code, name, format!("line {number} names `{path}` a second time"));
                }
                None => {}
            }
        }
        for (path, digest) in &given {
            self.listed_file(name, path, algorithm, digest, &given);
        }
        if !tags {
            self.listed.insert(name.to_owned(), given.into_keys().collect());
        }
        Ok(())
    }

    /// A path of a list as it must be on disk; none where it leads out.
    fn path(&mut self, list: &str, number: usize, written: &str, tags: bool) -> Option<String> {
        let plain = match written.strip_prefix('*') {
            Some(rest) => {
                let detail = format!("line {number} marks `{rest}` with `*`, as digest tools do");
                self.findings.add(FindingCode::ListNote, list, detail);
                rest
            }
            None => written,
        };
        let plain = match plain.strip_prefix("./") {
            Some(rest) => {
                self.findings.add(FindingCode::ListNote, list, format!("line {number} begins with `./`"));
                rest
            }
            None => plain,
        };
        let decoded = decode(plain);
        // Drafts before the RFC did not encode the percent sign, and some programs never do.
        let path = if self.names.contains_key(plain)
            && (self.version < RFC || !self.names.contains_key(decoded.as_str()))
        {
            plain.to_owned()
        } else {
            decoded
        };
        if !stays_inside(&path) || (!tags && !path.starts_with(PAYLOAD)) {
            let detail = format!("line {number} names `{path}`, which leads out of the payload");
            self.findings.add(FindingCode::PathOutside, list, detail);
            return None;
        }
        Some(path)
    }

    fn listed_file(
        &mut self,
        list: &str,
        path: &str,
        algorithm: Algorithm,
        digest: &str,
        given: &BTreeMap<String, String>,
    ) {
        let other = self.folded.get(&twin_key(path)).copied();
        let there = if self.names.contains_key(path) {
            path
        } else if let Some(other) = other.filter(|other| normal(other) == normal(path)) {
            let detail = format!("it is listed in {list} under the same name in another Unicode form");
            self.findings.add(FindingCode::NameNormalised, other, detail);
            other
        } else if let Some(other) =
            other.filter(|other| given.get(*other).is_some_and(|given| given == digest))
        {
            // A system that takes both names for one kept one file, and its bytes are those of both.
            let detail = format!("it is listed in {list} as `{path}` as well, which differs by case only");
            self.findings.add(FindingCode::NameTwins, other, detail);
            other
        } else {
            if is_of_the_system(path) {
                // Desktops take such files away as they put them there; nobody's data is in them.
                self.system_absent = true;
                self.findings.add(
                    FindingCode::StrangerFile,
                    path,
                    "an operating system's own file, and gone",
                );
                return;
            }
            if !self.expected.absent.iter().any(|absent| absent == path) {
                self.findings.add(FindingCode::FileAbsent, path, format!("{list} names it"));
                self.expected.absent.push(path.to_owned());
            }
            return;
        };
        self.expected.files.entry(there.to_owned()).or_default().insert(algorithm, digest.to_owned());
    }

    /// Files that are to be fetched are not here; where they would be put is looked at, and nothing is asked for.
    fn fetch(&mut self) -> Result<(), ProofError> {
        if !self.names.contains_key(FETCH) {
            return Ok(());
        }
        let Some(text) = self.text(FETCH)? else { return Ok(()) };
        for (number, line) in (1..).zip(lines(&text)).filter(|(_, line)| !line.trim().is_empty()) {
            let mut words = line.trim().splitn(3, [' ', '\t']);
            let (Some(_), Some(_), Some(path)) = (words.next(), words.next(), words.next()) else {
                let detail = format!("line {number} is not `<address> <length> <path>`");
                self.findings.add(FindingCode::ManifestUnreadable, FETCH, detail);
                continue;
            };
            if let Some(path) = self.path(FETCH, number, path.trim_start(), false)
                && !self.names.contains_key(path.as_str())
            {
                self.findings.add(
                    FindingCode::NotFetched,
                    path,
                    "it is to be fetched from elsewhere and is not here",
                );
            }
        }
        Ok(())
    }

    /// Compares the payload with the sum that `bag-info.txt` states.
    fn information(&mut self) -> Result<(), ProofError> {
        let name = if self.version < (0, 96) { "package-info.txt" } else { "bag-info.txt" };
        if !self.names.contains_key(name) {
            return Ok(());
        }
        let Some(text) = self.text(name)? else { return Ok(()) };
        // What an operating system left here since was never counted.
        let listed = |path: &str| self.listed.values().any(|list| list.contains(path));
        let counts = |path: &str| path.starts_with(PAYLOAD) && (!is_of_the_system(path) || listed(path));
        let payload = || self.names.iter().filter(|(path, _)| counts(path));
        let seen = format!("{}.{}", payload().map(|(_, bytes)| bytes).sum::<u64>(), payload().count());
        for line in lines(&text) {
            let Some((label, stated)) = line.split_once(':') else { continue };
            if label.trim().eq_ignore_ascii_case("Payload-Oxum")
                && stated.trim() != seen
                && !self.system_absent
            {
                let detail =
                    format!("it states a payload of {} (bytes.files), and {seen} is here", stated.trim());
                self.findings.add(FindingCode::OxumDiffers, name, detail);
            }
        }
        Ok(())
    }

    /// Files of the payload that a manifest should name and does not.
    fn unlisted(&mut self) {
        for path in self.names.keys().filter(|path| path.starts_with(PAYLOAD)) {
            let lacking: Vec<&str> = self
                .listed
                .iter()
                .filter(|(_, listed)| {
                    !listed.contains(*path)
                        && !listed.contains(&path.nfc().collect::<String>())
                        && !listed.contains(&path.nfd().collect::<String>())
                })
                .map(|(list, _)| list.as_str())
                .collect();
            // The RFC wants every manifest to name every file; the drafts before it were content with one.
            if lacking.is_empty() || (self.version < RFC && lacking.len() < self.listed.len()) {
                continue;
            }
            if lacking.len() == self.listed.len() && is_of_the_system(path) {
                self.findings.add(FindingCode::StrangerFile, *path, "no list names it");
                continue;
            }
            let detail =
                if self.listed.is_empty() { String::new() } else { format!("not in {}", lacking.join(", ")) };
            self.findings.add(FindingCode::FileExtra, *path, detail);
            self.expected.extra.push((*path).to_owned());
        }
    }

    /// Names that some systems take for one, and names that systems give to files of their own.
    fn twins(&mut self) {
        let mut folded: BTreeMap<String, &str> = BTreeMap::new();
        let listed = self.expected.files.keys().chain(&self.expected.absent);
        for path in listed {
            if let Some(first) = folded.insert(twin_key(path), path) {
                let detail = format!(
                    "differs from `{first}` by case or Unicode form only: some systems keep one of them"
                );
                self.findings.add(FindingCode::NameTwins, path, detail);
            }
            if is_of_the_system(path) {
                self.findings.add(
                    FindingCode::StrangerFile,
                    path,
                    "an operating system may change it by itself",
                );
            }
        }
    }

    /// A tag file as text; none where it is not in the declared encoding, which is a finding.
    fn text(&mut self, name: &str) -> Result<Option<String>, ProofError> {
        let Some(bytes) = self.shelf.bytes(name)? else { return Ok(None) };
        let (text, _, faulty) = self.encoding.decode(&bytes);
        if faulty {
            let detail = format!("it is not in the declared encoding {}", self.encoding.name());
            self.findings.add(FindingCode::ManifestUnreadable, name, detail);
            return Ok(None);
        }
        Ok(Some(text.into_owned()))
    }
}

/// Version, and encoding of the tag files.
type Declared = ((u32, u32), &'static Encoding);

/// Version and encoding of `bagit.txt`; none where it is not as it should be, which is a finding.
fn declaration(shelf: &Shelf, findings: &mut Findings) -> Result<Option<Declared>, ProofError> {
    let mut wrong = |why: &str| {
        findings.add(FindingCode::DeclarationWrong, DECLARATION, why);
        Ok(None)
    };
    let Some(bytes) = shelf.bytes(DECLARATION)? else { return wrong("it is missing") };
    let Ok(text) = std::str::from_utf8(&bytes) else { return wrong("it is not UTF-8") };
    let mut lines = lines(text).filter(|line| !line.is_empty());
    let (version, encoding, more) = (lines.next(), lines.next(), lines.next());
    let field = |line: Option<&str>, label: &str| {
        let (name, value) = line?.split_once(':')?;
        (name.trim_end() == label).then(|| (name.len() == label.len(), value.trim().to_owned()))
    };
    let Some((exact, version)) = field(version, "BagIt-Version") else {
        return wrong("its first line is not `BagIt-Version: M.N`");
    };
    let Some((exact_too, encoding)) = field(encoding, "Tag-File-Character-Encoding") else {
        return wrong("its second line is not `Tag-File-Character-Encoding: NAME`");
    };
    let number =
        |digits: &str| digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
    let parsed = version.split_once('.').and_then(|(major, minor)| Some((number(major)?, number(minor)?)));
    let Some(version) = parsed else { return wrong("its version is not `M.N`") };
    if version >= RFC && !(exact && exact_too) {
        return wrong("there is a space before a colon");
    }
    if more.is_some() {
        return wrong("it has more than two lines");
    }
    let Some(encoding) = Encoding::for_label(encoding.as_bytes()) else {
        return wrong(&format!("the encoding {encoding} is not known"));
    };
    Ok(Some((version, encoding)))
}

/// Lines that end as any system ends them.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// Digest, in lower case, and path of a line.
fn manifest_line(line: &str, algorithm: Algorithm) -> Option<(String, &str)> {
    let (digest, path) = line.trim_start().split_once([' ', '\t'])?;
    let path = path.trim_start_matches([' ', '\t']);
    let fits = digest.len() == algorithm.digits() && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    (fits && !path.is_empty()).then(|| (digest.to_ascii_lowercase(), path))
}

/// A path without the three encodings that the RFC knows: line feed, carriage return and percent sign.
fn decode(path: &str) -> String {
    let mut decoded = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        decoded.push_str(&rest[..at]);
        let plain = match rest.get(at + 1..at + 3).map(str::to_ascii_uppercase).as_deref() {
            Some("0A") => '\n',
            Some("0D") => '\r',
            Some("25") => '%',
            _ => {
                decoded.push('%');
                rest = &rest[at + 1..];
                continue;
            }
        };
        decoded.push(plain);
        rest = &rest[at + 3..];
    }
    decoded + rest
}

/// A path as manifests write it: the line ends and the percent sign encoded, nothing else.
pub(crate) fn encode(path: &str) -> String {
    path.replace('%', "%25").replace('\n', "%0A").replace('\r', "%0D")
}

/// Whether a relative path stays below where it starts from, whatever system reads it.
pub(crate) fn stays_inside(path: &str) -> bool {
    let drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    !drive
        && !path.starts_with('~')
        && !path.contains('\0')
        && !path.starts_with('\\')
        && path.split('/').all(|part| !matches!(part, "" | "." | "..") && part.split('\\').all(|p| p != ".."))
}

/// Whether a path is one that desktops and file servers leave in folders that they show.
pub(crate) fn is_of_the_system(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with("._")
        || [".DS_Store", ".directory", ".localized", "Thumbs.db", "desktop.ini"].contains(&name)
}

fn normal(path: &str) -> String {
    path.nfc().collect()
}

/// The same for two names that some system takes for one.
pub(crate) fn twin_key(path: &str) -> String {
    path.nfc().collect::<String>().to_lowercase().nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_line_ends_and_percent_signs_read_back_as_written() {
        for name in ["data/a\nb", "data/a\r\nb", "data/100%", "data/%0A", "data/%25", "data/é"] {
            assert_eq!(decode(&encode(name)), name);
            assert!(!encode(name).contains(['\n', '\r']));
        }
        assert_eq!(decode("data/50%zz%"), "data/50%zz%");
    }

    #[test]
    fn paths_that_lead_out_on_any_system_are_told() {
        for path in [
            "/etc/passwd",
            "../x",
            "data/../../x",
            "~/x",
            "~root/x",
            "C:\\x",
            "\\\\?\\UNC\\x",
            "data/..\\..\\x",
            "a//b",
        ] {
            assert!(!stays_inside(path), "{path}");
        }
        for path in ["data/a", "data/a..b", "data/12:30.txt", "data/~x"] {
            assert!(stays_inside(path), "{path}");
        }
    }

    #[test]
    fn a_folder_is_a_bag_by_its_declaration_or_by_its_lists() {
        assert!(is_bag(["bagit.txt"].into_iter()));
        assert!(is_bag(["data/x", "manifest-md5.txt"].into_iter()));
        assert!(!is_bag(["manifest-sha256.txt", "trial.json"].into_iter()));
    }
}
