//! Operating system, C library, memory of the machine, room and speed where trials and models lie.

use pilote_spec::NeededSystem;

use super::version::is_at_least;
use crate::demands::Demands;
use crate::evidence::Room;
use crate::facts::Facts;
use crate::ladder::Judgement;
use crate::memory::kib_after;
use crate::verdict::Finding;

/// What container runtimes give to shared memory unless told otherwise; loaders of data with several processes fail
/// on it.
const SHARED_DEFAULT: u64 = 64 << 20;

/// A slower file system turns checkpoints and exports into the longest step.
const SLOW_BYTES_A_SECOND: u64 = 20_000_000;

/// Less free room than this holds no trial of any size.
const ROOM_LEAST: u64 = 32 << 20;

pub(super) fn judge(facts: &Facts, demands: &Demands) -> Judgement {
    if !facts.took("system") && !facts.took("machine") {
        return Judgement::NotSeen;
    }
    let mut findings = vec![seen(facts)];
    findings.extend(other_system(facts, demands));
    findings.extend(libc(facts));
    findings.extend(memory(facts, demands));
    for (name, room) in &facts.machine.room {
        findings.extend(room_of(name, room, demands));
    }
    findings.extend(shared(facts, demands));
    Judgement::Judged(findings)
}

/// The line of os-release, in its quotes or without.
fn release(facts: &Facts, key: &str) -> Option<String> {
    let text = facts.machine.files.get("etc/os-release")?;
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
    Some(line.trim().trim_matches(['"', '\'']).to_owned())
}

fn system_of(facts: &Facts) -> Option<NeededSystem> {
    if facts.machine.files.contains_key("proc/sys/kernel/osrelease") {
        return Some(NeededSystem::Linux);
    }
    let platform = &facts.interpreter.as_ref()?.platform;
    [("linux", NeededSystem::Linux), ("macos", NeededSystem::Macos), ("win", NeededSystem::Windows)]
        .into_iter()
        .find(|(start, _)| platform.starts_with(start))
        .map(|(_, system)| system)
}

fn seen(facts: &Facts) -> Finding {
    let unknown = || "?".to_owned();
    let kernel = facts.machine.files.get("proc/sys/kernel/osrelease").map(|text| text.trim().to_owned());
    let memory = total_memory(facts).map(|bytes| (bytes >> 20).to_string());
    Finding::seen("system")
        .with("system", release(facts, "PRETTY_NAME").unwrap_or_else(unknown))
        .with("kernel", kernel.unwrap_or_else(unknown))
        .with("libc", libc_of(facts).map_or_else(unknown, |(name, version)| format!("{name} {version}")))
        .with("memory_mib", memory.unwrap_or_else(unknown))
}

fn total_memory(facts: &Facts) -> Option<u64> {
    kib_after(facts.machine.files.get("proc/meminfo")?, "MemTotal:")
}

fn other_system(facts: &Facts, demands: &Demands) -> Option<Finding> {
    let (wanted, seen) = (demands.needs.system?, system_of(facts)?);
    (wanted != seen)
        .then(|| Finding::fault("system-other").with("wanted", wanted.code()).with("seen", seen.code()))
}

/// Name and version of the C library: `glibc 2.36`, or musl without a version.
fn libc_of(facts: &Facts) -> Option<(String, String)> {
    if let Some(out) = facts.machine.said.get("libc").and_then(|said| said.good())
        && let Some((name, version)) = out.trim().split_once(' ')
    {
        return Some((name.to_owned(), version.to_owned()));
    }
    let is_musl = facts.machine.names.get("lib").is_some_and(|names| !names.is_empty());
    is_musl.then(|| ("musl".to_owned(), String::new()))
}

/// Wheels say in their tags how new a C library they need; one that was copied into place was never checked by pip.
fn libc(facts: &Facts) -> Vec<Finding> {
    let Some((name, version)) = libc_of(facts).filter(|(name, _)| name == "glibc") else { return Vec::new() };
    let needs = |tag: &str| {
        let rest = tag.split("-manylinux_").nth(1)?;
        let mut parts = rest.split('_');
        Some(format!("{}.{}", parts.next()?, parts.next()?))
    };
    facts
        .packages
        .iter()
        .filter_map(|package| {
            let least: Vec<String> = package.tags.iter().filter_map(|tag| needs(tag)).collect();
            let none_fits = !least.is_empty() && least.iter().all(|least| !is_at_least(&version, least));
            let all_named = package.tags.iter().all(|tag| needs(tag).is_some());
            (none_fits && all_named).then(|| {
                Finding::fault("libc-old")
                    .with("package", &package.name)
                    .with("wanted", format!("{name} {}", least[0]))
                    .with("seen", format!("{name} {version}"))
            })
        })
        .collect()
}

fn memory(facts: &Facts, demands: &Demands) -> Option<Finding> {
    let (wanted, seen) = (demands.needs.memory_mib?, total_memory(facts)? >> 20);
    (seen < wanted).then(|| Finding::fault("memory-short").with("wanted_mib", wanted).with("seen_mib", seen))
}

fn room_of(name: &str, room: &Room, demands: &Demands) -> Vec<Finding> {
    let mut findings = Vec::new();
    let about = |finding: Finding| finding.with("path", &room.path);
    if let Some(error) = &room.error {
        let code = if error == "EROFS" || error == "EACCES" || error == "EPERM" {
            "room-not-writable"
        } else {
            "room-write-failed"
        };
        findings.push(about(Finding::fault(code)).with("error", error));
    }
    if name == "shared" {
        return findings;
    }
    let Some(free) = room.free_bytes else { return findings };
    let wanted = demands.needs.disk_mib.filter(|_| name == "runs").map_or(ROOM_LEAST, |mib| mib << 20);
    if free < wanted {
        let weight = if name == "temporary" { Finding::note } else { Finding::fault };
        findings
            .push(about(weight("room-short")).with("free_mib", free >> 20).with("wanted_mib", wanted >> 20));
    } else if name == "runs" {
        let speed =
            room.bytes_a_second.map_or_else(|| "?".to_owned(), |speed| (speed / 1_000_000).to_string());
        findings.push(about(Finding::seen("room")).with("free_mib", free >> 20).with("mb_s", speed));
    }
    if let Some(speed) = room.bytes_a_second.filter(|speed| *speed < SLOW_BYTES_A_SECOND) {
        findings.push(about(Finding::note("room-slow")).with("mb_s", speed / 1_000_000));
    }
    findings
}

fn shared(facts: &Facts, demands: &Demands) -> Option<Finding> {
    let room = facts.machine.room.get("shared")?;
    let total = room.total_bytes?;
    let finding = |weight: fn(&str) -> Finding, wanted: u64| {
        weight("shared-memory").with("seen_mib", total >> 20).with("wanted_mib", wanted)
    };
    match demands.needs.shared_memory_mib {
        Some(wanted) if total < wanted << 20 => Some(finding(Finding::fault, wanted)),
        None if total <= SHARED_DEFAULT && demands.interpreter.is_some() => {
            let weight = if demands.asks_for_cards() { Finding::fault } else { Finding::note };
            Some(finding(weight, 1024))
        }
        _ => None,
    }
}
