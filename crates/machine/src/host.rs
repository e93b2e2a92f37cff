//! System, processor and memory of the host, from the files in which Linux shows them.

use std::path::Path;

use pilote_spec::MachineFacts;

/// The machine below `root`: `/`, or a directory with the same files in a test. Cards are left empty: the ladder of
/// checks reads them.
///
/// The number of processors is that of this process (its affinity and quota), wherever `root` is.
#[must_use]
pub fn facts(root: &Path) -> MachineFacts {
    let text = |path: &str| fs_err::read_to_string(root.join(path)).ok();
    MachineFacts {
        system: text("etc/os-release").and_then(|text| pretty_name(&text)).or_else(family),
        kernel: text("proc/sys/kernel/osrelease")
            .map(|text| text.trim().to_owned())
            .filter(|it| !it.is_empty()),
        processor: text("proc/cpuinfo").and_then(|text| processor(&text)),
        processors: std::thread::available_parallelism()
            .ok()
            .and_then(|count| u32::try_from(count.get()).ok()),
        memory_bytes: text("proc/meminfo").and_then(|text| total_memory(&text)),
        cards: Vec::new(),
    }
}

/// The name of the system's family where it has no release file: `macos`, `windows` ...
fn family() -> Option<String> {
    (!cfg!(target_os = "linux")).then(|| std::env::consts::OS.to_owned())
}

/// `PRETTY_NAME` of os-release(5), its quotes taken off.
fn pretty_name(release: &str) -> Option<String> {
    let value = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?.trim();
    let quoted = |quote| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let name = quoted('"').or_else(|| quoted('\'')).unwrap_or(value);
    (!name.is_empty()).then(|| name.replace("\\\"", "\""))
}

/// The first processor's model. x86 calls it `model name`, some ARM boards `Model`.
fn processor(cpuinfo: &str) -> Option<String> {
    ["model name", "Model", "cpu"].into_iter().find_map(|key| {
        let value =
            cpuinfo.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| name.trim() == key);
        value.map(|(_, value)| value.trim().to_owned()).filter(|value| !value.is_empty())
    })
}

/// `MemTotal` of /proc/meminfo, which counts in KiB although it writes kB.
fn total_memory(meminfo: &str) -> Option<u64> {
    crate::memory::kib_after(meminfo, "MemTotal:")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fake(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn facts_are_those_of_the_files() {
        let root = fake(&[
            ("etc/os-release", "ID=ubuntu\nPRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\n"),
            ("proc/sys/kernel/osrelease", "6.8.0-45-generic\n"),
            ("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 9654\nmodel name\t: other\n"),
            ("proc/meminfo", "MemTotal:       2097152 kB\nMemFree:  1 kB\n"),
        ]);
        let facts = facts(root.path());
        assert_eq!(facts.system.as_deref(), Some("Ubuntu 24.04.1 LTS"));
        assert_eq!(facts.kernel.as_deref(), Some("6.8.0-45-generic"));
        assert_eq!(facts.processor.as_deref(), Some("AMD EPYC 9654"));
        assert_eq!(facts.memory_bytes, Some(2 << 30));
        assert!(facts.cards.is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_absent_and_never_zero() {
        let root = fake(&[("proc/meminfo", "MemTotal: many kB\n"), ("etc/os-release", "PRETTY_NAME=\"\"\n")]);
        let facts = facts(root.path());
        assert_eq!((facts.kernel, facts.processor, facts.memory_bytes), (None, None, None));
        assert_eq!(facts.system.is_none(), cfg!(target_os = "linux"));
    }

    #[test]
    fn an_unquoted_or_single_quoted_name_is_taken_as_it_is() {
        assert_eq!(pretty_name("PRETTY_NAME=Alpine").as_deref(), Some("Alpine"));
        assert_eq!(pretty_name("PRETTY_NAME='Debian 12'").as_deref(), Some("Debian 12"));
    }
}
