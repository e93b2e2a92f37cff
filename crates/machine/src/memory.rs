//! Memory of a process, as Linux shows it in `/proc/PID/status`.

use std::path::Path;

/// Readings of one process; absent where the system does not give them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessMemory {
    /// Resident memory now, in bytes.
    pub resident: Option<u64>,
    /// The most resident memory so far, in bytes.
    pub peak_resident: Option<u64>,
}

/// The memory of process `pid` (this one with `std::process::id()`), read below `root`.
#[must_use]
pub fn memory_of(root: &Path, pid: u32) -> ProcessMemory {
    let Ok(status) = fs_err::read_to_string(root.join(format!("proc/{pid}/status"))) else {
        return ProcessMemory::default();
    };
    ProcessMemory { resident: kib_after(&status, "VmRSS:"), peak_resident: kib_after(&status, "VmHWM:") }
}

/// The figure after `key` at the start of a line, in bytes. proc_pid_status(5) and proc_meminfo(5) count in KiB.
pub(crate) fn kib_after(text: &str, key: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(key))?;
    let kib: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_in_bytes_and_absent_ones_stay_absent() {
        let root = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(root.path().join("proc/7")).unwrap();
        fs_err::write(root.path().join("proc/7/status"), "Name:\tx\nVmHWM:\t    2048 kB\n").unwrap();
        let memory = memory_of(root.path(), 7);
        assert_eq!(memory, ProcessMemory { resident: None, peak_resident: Some(2 << 20) });
        assert_eq!(memory_of(root.path(), 8), ProcessMemory::default());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_a_peak_at_least_as_high_as_what_it_holds() {
        let memory = memory_of(Path::new("/"), std::process::id());
        assert!(memory.peak_resident.unwrap() > 0);
        assert!(memory.peak_resident >= memory.resident);
    }
}
