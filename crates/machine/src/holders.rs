//! Who holds a graphics device: a process that was left behind keeps memory of the card that the next one needs.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// Names of device files below which drivers hand out cards: NVIDIA's, those of the kernel's graphics drivers, AMD's.
const DEVICES: [&str; 3] = ["/dev/nvidia", "/dev/dri/renderD", "/dev/kfd"];
/// Devices of the first family that many programs hold without using a card.
const HARMLESS: [&str; 2] = ["/dev/nvidiactl", "/dev/nvidia-modeset"];

/// A process that has a device open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceHolder {
    /// Its process id.
    pub pid: u32,
    /// Its name as the kernel has it; empty where it cannot be read.
    pub name: String,
    /// The devices, by path, each once.
    pub devices: Vec<String>,
}

impl fmt::Display for DeviceHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name.is_empty() { "no name" } else { &self.name };
        write!(f, "process {} ({name}) holds {}", self.pid, self.devices.join(", "))
    }
}

/// The processes that hold a device, read from `proc/PID/fd` below `root`, by process id; `except` is left out, being
/// the caller. Processes whose files may not be seen are not among them.
#[must_use]
pub fn device_holders(root: &Path, except: u32) -> Vec<DeviceHolder> {
    let Ok(entries) = fs_err::read_dir(root.join("proc")) else { return Vec::new() };
    let mut holders: BTreeMap<u32, DeviceHolder> = BTreeMap::new();
    for entry in entries.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let devices = devices_of(&entry.path());
        if pid == except || devices.is_empty() {
            continue;
        }
        let name = fs_err::read_to_string(entry.path().join("comm")).unwrap_or_default().trim().to_owned();
        holders.insert(pid, DeviceHolder { pid, name, devices });
    }
    holders.into_values().collect()
}

fn devices_of(process: &Path) -> Vec<String> {
    let Ok(links) = fs_err::read_dir(process.join("fd")) else { return Vec::new() };
    let targets = links.flatten().filter_map(|link| fs_err::read_link(link.path()).ok());
    let mut devices: Vec<String> = targets
        .filter_map(|target| target.to_str().map(str::to_owned))
        .filter(|target| DEVICES.iter().any(|device| target.starts_with(device)))
        .filter(|target| !HARMLESS.contains(&target.as_str()))
        .collect();
    devices.sort();
    devices.dedup();
    devices
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn process(root: &Path, pid: u32, name: &str, open: &[&str]) {
        let folder = root.join(format!("proc/{pid}"));
        fs_err::create_dir_all(folder.join("fd")).unwrap();
        fs_err::write(folder.join("comm"), format!("{name}\n")).unwrap();
        for (number, target) in open.iter().enumerate() {
            std::os::unix::fs::symlink(target, folder.join(format!("fd/{number}"))).unwrap();
        }
    }

    #[test]
    fn whoever_holds_a_card_is_named_with_its_process_id_and_the_devices() {
        let root = tempfile::tempdir().unwrap();
        process(
            root.path(),
            41,
            "python3",
            &["/dev/nvidia0", "/dev/null", "/dev/nvidia-uvm", "/dev/nvidia0"],
        );
        process(root.path(), 7, "a b", &["/dev/kfd", "/dev/dri/renderD128"]);
        process(root.path(), 9, "smi", &["/dev/nvidiactl", "socket:[123]", "/dev/dri/card0"]);
        process(root.path(), 12, "pilote", &["/dev/nvidia1"]);
        fs_err::create_dir_all(root.path().join("proc/self/fd")).unwrap();
        let held: Vec<String> = device_holders(root.path(), 12).iter().map(ToString::to_string).collect();
        assert_eq!(
            held,
            [
                "process 7 (a b) holds /dev/dri/renderD128, /dev/kfd",
                "process 41 (python3) holds /dev/nvidia-uvm, /dev/nvidia0",
            ]
        );
    }

    #[test]
    fn a_machine_without_proc_names_nobody() {
        assert!(device_holders(Path::new("/nonexistent"), 1).is_empty());
    }
}
