//! What a machine shows of itself, copied and not yet understood: files, names in folders, device nodes, what
//! programs of the drivers print.
//!
//! The two readers of a machine, this program and the probe in Python, copy the same things by one list (it stands
//! in the probe, see [`crate::probe`]), and only this crate interprets them. So every fact has one source and one
//! meaning, whoever read it, and a reading can be judged later on another machine.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use pilote_spec::{Clock, Digest};
use serde::{Deserialize, Serialize};

/// What was copied. What is not there, or could not be read, is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Texts of files by path below the root, `etc/os-release`; cut at the length that the list gives.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// Names in folders, by folder, as far as they begin as the list says; sorted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<String, Vec<String>>,
    /// Device nodes by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<String, Node>,
    /// Devices on the bus of the makers of cards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bus: Vec<BusDevice>,
    /// Room on file systems, by what they are for: `runs`, `cache`, `temporary`, `shared`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub room: BTreeMap<String, Room>,
    /// Variables that decide which cards and libraries a program sees.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// What programs printed, by the list's name for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub said: BTreeMap<String, Said>,
}

/// A device node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Permission bits.
    pub mode: u32,
    /// Number of the owner.
    pub uid: u32,
    /// Number of the group. Names are not compared: inside and outside of a container they differ.
    pub gid: u32,
    /// `ok`, or the name of the error with which opening it for reading and writing ended; none where not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<String>,
}

/// A device on the bus, numbers as the kernel writes them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusDevice {
    /// `0000:41:00.0`.
    pub address: String,
    /// `0x10de` ...
    pub vendor: String,
    /// `0x2330` ...
    pub device: String,
    /// `0x030200` ...
    pub class: String,
    /// Name of the kernel driver that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
}

/// Room on a file system.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Room {
    /// The folder that was looked at.
    pub path: String,
    /// Size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_bytes: Option<u64>,
    /// Bytes that this user may still write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
    /// Bytes a second of writing and syncing a file of 8 MiB; none where it was not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_a_second: Option<u64>,
    /// The error with which writing ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What a program came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Its exit status; none where it was ended by a signal, did not start, or ran past its time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<i32>,
    /// Standard output.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub out: String,
    /// Standard error, its last lines.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub err: String,
    /// Whether there is no such program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
    /// Whether it was ended because it ran past its time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

impl Said {
    /// Standard output of a program that ended well.
    #[must_use]
    pub fn good(&self) -> Option<&str> {
        (self.status == Some(0)).then_some(self.out.as_str())
    }

    /// Everything it printed, errors first, for recognising causes.
    #[must_use]
    pub fn words(&self) -> String {
        match (self.err.trim(), self.out.trim()) {
            ("", out) => out.to_owned(),
            (err, "") => err.to_owned(),
            (err, out) => format!("{err}\n{out}"),
        }
    }
}

/// Starts programs: the edge gives one that leaves no child behind.
pub trait Programs {
    /// Runs `argv` to its end, or until `seconds_max`; `environment` is added to what every child gets.
    fn run(&self, argv: &[String], environment: &BTreeMap<String, String>, seconds_max: u32) -> Said;
}

/// The list of what is copied, as it stands in the probe.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Look {
    /// Files and the bytes kept of each.
    files: BTreeMap<String, u64>,
    /// Files of which the digest is kept alone, since they identify the machine.
    digests: Vec<String>,
    /// Files of which the lines are kept that begin so.
    lines: BTreeMap<String, Vec<String>>,
    /// Folders, and how the names begin that are kept of each.
    names: BTreeMap<String, Vec<String>>,
    /// Folders in which every name that was kept is a device node, and whether it is opened.
    nodes: BTreeMap<String, bool>,
    /// Makers of cards, as the bus numbers them.
    makers: Vec<String>,
    /// Variables.
    variables: Vec<String>,
    /// Programs by name.
    programs: BTreeMap<String, Asked>,
}

/// A program that is asked.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// Program and arguments.
    argv: Vec<String>,
    /// The step it belongs to.
    step: String,
    /// It is asked only where a name in `dev` begins so.
    #[serde(default)]
    when: Option<String>,
}

/// Where and with what the machine is read.
pub struct Reader<'a> {
    /// The root: `/`, or a folder with the same files in a test.
    pub root: &'a Path,
    /// The list.
    pub look: &'a Look,
    /// Starts programs.
    pub programs: &'a dyn Programs,
    /// The environment of this process.
    pub variables: &'a BTreeMap<String, String>,
    /// For the speed of writing.
    pub clock: &'a dyn Clock,
}

/// Bytes written to learn a file system's speed.
const WRITTEN: usize = 8 << 20;

/// Seconds for one program of a driver.
const PROGRAM_SECONDS_MAX: u32 = 30;

impl Reader<'_> {
    /// Files, names, nodes, bus and variables: everything that needs no program.
    #[must_use]
    pub fn still(&self) -> Evidence {
        let mut evidence = Evidence::default();
        for (path, bytes) in &self.look.files {
            if let Some(text) = self.text(path, *bytes) {
                evidence.files.insert(path.clone(), text);
            }
        }
        for path in &self.look.digests {
            if let Some(text) = self.text(path, 4096).filter(|text| !text.trim().is_empty()) {
                evidence.files.insert(path.clone(), format!("sha256:{}", Digest::of(text.trim().as_bytes())));
            }
        }
        for (path, starts) in &self.look.lines {
            if let Some(text) = self.text(path, 1 << 20) {
                let kept = text.lines().filter(|line| starts.iter().any(|start| line.starts_with(start)));
                evidence.files.insert(path.clone(), kept.map(|line| format!("{line}\n")).collect());
            }
        }
        for (folder, starts) in &self.look.names {
            if let Some(names) = names(&self.root.join(folder), starts) {
                evidence.names.insert(folder.clone(), names);
            }
        }
        for (folder, open) in &self.look.nodes {
            for name in evidence.names.get(folder).into_iter().flatten() {
                if let Some(node) = node(&self.root.join(folder).join(name), *open) {
                    evidence.nodes.insert(format!("{folder}/{name}"), node);
                }
            }
        }
        evidence.bus = self.bus();
        for name in &self.look.variables {
            if let Some(value) = self.variables.get(name) {
                evidence.variables.insert(name.clone(), value.clone());
            }
        }
        evidence
    }

    /// What the programs of one step print.
    #[must_use]
    pub fn ask(&self, step: &str, seen: &Evidence) -> BTreeMap<String, Said> {
        let is_there = |start: &String| {
            seen.names.get("dev").into_iter().flatten().any(|name| name.starts_with(start.as_str()))
        };
        let asked = self.look.programs.iter().filter(|(_, asked)| asked.step == step);
        let asked = asked.filter(|(_, asked)| asked.when.as_ref().is_none_or(is_there));
        asked
            .map(|(name, asked)| {
                (name.clone(), self.programs.run(&asked.argv, &BTreeMap::new(), PROGRAM_SECONDS_MAX))
            })
            .collect()
    }

    /// Room and speed of a folder's file system; the folder is the nearest that exists.
    #[must_use]
    pub fn room(&self, folder: &Path, write: bool) -> Room {
        let there = folder.ancestors().find(|path| path.is_dir()).unwrap_or(folder);
        let mut room = Room { path: there.display().to_string(), ..Room::default() };
        (room.total_bytes, room.free_bytes) = sizes(there);
        if write {
            match self.speed(there) {
                Ok(speed) => room.bytes_a_second = speed,
                Err(error) => room.error = Some(error_name(&error)),
            }
        }
        room
    }

    fn speed(&self, folder: &Path) -> std::io::Result<Option<u64>> {
        let path = folder.join(format!(".pilote-check-{}", std::process::id()));
        let start = self.clock.monotonic();
        let written =
            fs_err::OpenOptions::new().write(true).create_new(true).open(&path).and_then(|mut file| {
                // Not zeros, which some file systems do not write at all.
                let block: Vec<u8> =
                    (0..1_u32 << 16).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
                for _ in 0..WRITTEN / block.len() {
                    file.write_all(&block)?;
                }
                file.sync_all()
            });
        let took = self.clock.monotonic().saturating_sub(start).as_micros();
        let _ = fs_err::remove_file(&path);
        written?;
        let speed = (WRITTEN as u128 * 1_000_000).checked_div(took);
        Ok(speed.and_then(|speed| u64::try_from(speed).ok()))
    }

    fn text(&self, path: &str, bytes: u64) -> Option<String> {
        let file = fs_err::File::open(self.root.join(path)).ok()?;
        let mut text = Vec::new();
        file.take(bytes).read_to_end(&mut text).ok()?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    fn bus(&self) -> Vec<BusDevice> {
        const FOLDER: &str = "sys/bus/pci/devices";
        let addresses = names(&self.root.join(FOLDER), &[String::new()]).unwrap_or_default();
        let devices = addresses.into_iter().filter_map(|address| {
            let text = |file: &str| {
                self.text(&format!("{FOLDER}/{address}/{file}"), 64).map(|text| text.trim().to_owned())
            };
            let vendor = text("vendor").filter(|vendor| self.look.makers.contains(vendor))?;
            let driver = fs_err::read_link(self.root.join(FOLDER).join(&address).join("driver")).ok();
            Some(BusDevice {
                vendor,
                device: text("device").unwrap_or_default(),
                class: text("class").unwrap_or_default(),
                driver: driver.and_then(|link| Some(link.file_name()?.to_str()?.to_owned())),
                address,
            })
        });
        // Audio and serial functions of a card are no cards, and their number says nothing.
        devices.filter(|device| is_card_class(&device.class) || is_bridge(&device.class)).collect()
    }
}

/// Display controllers (03) and processing accelerators (12), as the bus classes them.
#[must_use]
pub fn is_card_class(class: &str) -> bool {
    class.starts_with("0x03") || class.starts_with("0x12")
}

/// Other bridges (0680), which is how an NVSwitch shows itself.
#[must_use]
pub fn is_bridge(class: &str) -> bool {
    class.starts_with("0x0680")
}

fn names(folder: &Path, starts: &[String]) -> Option<Vec<String>> {
    let entries = fs_err::read_dir(folder).ok()?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| starts.iter().any(|start| name.starts_with(start.as_str())))
        .collect();
    names.sort_unstable();
    Some(names)
}

#[cfg(unix)]
fn node(path: &Path, open: bool) -> Option<Node> {
    use std::os::unix::fs::MetadataExt as _;
    let facts = fs_err::metadata(path).ok().filter(|facts| !facts.is_dir())?;
    let opened = open.then(|| {
        let opened = std::fs::OpenOptions::new().read(true).write(true).open(path);
        opened.map_or_else(|error| error_name(&error), |_| "ok".to_owned())
    });
    Some(Node { mode: facts.mode() & 0o7777, uid: facts.uid(), gid: facts.gid(), opened })
}

#[cfg(not(unix))]
fn node(_path: &Path, _open: bool) -> Option<Node> {
    None
}

#[cfg(unix)]
fn sizes(folder: &Path) -> (Option<u64>, Option<u64>) {
    match rustix::fs::statvfs(folder) {
        Ok(facts) => (facts.f_blocks.checked_mul(facts.f_frsize), facts.f_bavail.checked_mul(facts.f_frsize)),
        Err(_) => (None, None),
    }
}

#[cfg(not(unix))]
fn sizes(_folder: &Path) -> (Option<u64>, Option<u64>) {
    (None, None)
}

/// The errors that are told apart, by the kernel's names; the probe names the same ones.
pub(crate) fn error_name(error: &std::io::Error) -> String {
    match error.raw_os_error() {
        Some(1) => "EPERM".to_owned(),
        Some(2) => "ENOENT".to_owned(),
        Some(5) => "EIO".to_owned(),
        Some(6) => "ENXIO".to_owned(),
        Some(13) => "EACCES".to_owned(),
        Some(16) => "EBUSY".to_owned(),
        Some(19) => "ENODEV".to_owned(),
        Some(22) => "EINVAL".to_owned(),
        Some(28) => "ENOSPC".to_owned(),
        Some(30) => "EROFS".to_owned(),
        Some(number) => format!("errno {number}"),
        None => error.to_string(),
    }
}

/// Where trials, the cache of models and temporary files lie, for [`Reader::room`].
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Folders by the names of [`Evidence::room`].
    pub folders: BTreeMap<String, PathBuf>,
}
