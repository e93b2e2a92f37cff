//! From the bus to the device nodes: what the kernel shows of cards before any library speaks.

use pilote_spec::NeededBackend;

use super::version::is_at_least;
use crate::demands::{Demands, NVIDIA, cards_on_bus, has_name, maker};
use crate::facts::Facts;
use crate::ladder::Judgement;
use crate::verdict::Finding;

/// What every rung about cards begins with: the backend, or why there is nothing to look at.
pub(super) fn backend(facts: &Facts, demands: &Demands) -> Result<NeededBackend, Judgement> {
    if demands.backend == Some(NeededBackend::Cpu) {
        return Err(Judgement::NotApplicable("processor-only"));
    }
    if !facts.took("machine") {
        return Err(Judgement::NotSeen);
    }
    demands.cards_of(facts).ok_or(Judgement::NotApplicable("no-card"))
}

/// Whether Windows' kernel owns the cards (WSL), where neither bus nor modules show them.
fn is_wsl(facts: &Facts) -> bool {
    has_name(facts, "dev", "dxg")
}

pub(super) fn on_bus(facts: &Facts, demands: &Demands) -> Judgement {
    let backend = match backend(facts, demands) {
        Ok(backend) => backend,
        Err(judgement) => return judgement,
    };
    let count = cards_on_bus(facts, maker(backend));
    if count == 0 && !is_wsl(facts) {
        // Some virtual machines and sandboxes hide the bus and give the devices all the same.
        if !nodes_seen(facts, backend).is_empty() {
            return Judgement::Judged(vec![Finding::note("bus-hidden").with("backend", backend.code())]);
        }
        let other = facts.machine.bus.len();
        let code = if other > 0 { "bus-other-maker" } else { "bus-empty" };
        return Judgement::Judged(vec![Finding::fault(code).with("backend", backend.code())]);
    }
    let mut findings = vec![Finding::seen("bus").with("count", count).with("backend", backend.code())];
    if facts.machine.bus.iter().any(|device| device.class.is_empty() || device.device == "0xffff") {
        findings.push(Finding::fault("bus-card-lost"));
    }
    Judgement::Judged(findings)
}

/// The version of NVIDIA's kernel module.
fn kernel_module(facts: &Facts) -> Option<String> {
    let files = &facts.machine.files;
    let is_version =
        |word: &&str| word.contains('.') && word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let line =
        files.get("proc/driver/nvidia/version").and_then(|text| text.lines().next().map(str::to_owned));
    line.and_then(|line| line.split_whitespace().find(is_version).map(str::to_owned))
        .or_else(|| files.get("sys/module/nvidia/version").map(|text| text.trim().to_owned()))
        .filter(|version| !version.is_empty())
}

/// Versions of a user library, out of the names of its files.
fn library_versions(facts: &Facts, library: &str) -> Vec<String> {
    let start = format!("{library}.so.");
    let in_folders = facts.machine.names.iter().filter(|(folder, _)| !folder.contains("compat"));
    let mut versions: Vec<String> = in_folders
        .flat_map(|(_, names)| names)
        .filter_map(|name| name.strip_prefix(&start))
        .filter(|version| version.contains('.'))
        .map(str::to_owned)
        .collect();
    versions.sort_unstable();
    versions.dedup();
    versions
}

pub(super) fn driver(facts: &Facts, demands: &Demands) -> Judgement {
    match backend(facts, demands) {
        Ok(NeededBackend::Rocm) => amd_driver(facts),
        Ok(_) => nvidia_driver(facts, demands),
        Err(judgement) => judgement,
    }
}

fn module_is(facts: &Facts, name: &str) -> bool {
    let live = facts.machine.files.get(&format!("sys/module/{name}/initstate"));
    let lines = facts.machine.files.get("proc/modules").map(String::as_str).unwrap_or_default();
    live.is_some_and(|state| state.trim() == "live")
        || lines.lines().any(|line| line.split(' ').next() == Some(name))
}

fn nvidia_driver(facts: &Facts, demands: &Demands) -> Judgement {
    let mut findings = Vec::new();
    let holder = facts.machine.bus.iter().filter(|device| device.vendor == NVIDIA);
    let by_nouveau = holder.filter_map(|device| device.driver.as_deref()).any(|driver| driver == "nouveau");
    let module = kernel_module(facts);
    if by_nouveau || (module.is_none() && module_is(facts, "nouveau")) {
        return Judgement::Judged(vec![Finding::fault("module-nouveau")]);
    }
    if module.is_none() && !is_wsl(facts) {
        return Judgement::Judged(vec![Finding::fault("module-missing").with("module", "nvidia")]);
    }
    let mut libraries = library_versions(facts, "libnvidia-ml");
    libraries.extend(library_versions(facts, "libcuda"));
    libraries.sort_unstable();
    libraries.dedup();
    match &module {
        Some(module) if libraries.is_empty() => {
            findings.push(Finding::note("user-library-unseen").with("module", module));
        }
        Some(module) if !libraries.contains(module) => findings.push(
            Finding::fault("library-differs").with("module", module).with("library", libraries.join(", ")),
        ),
        Some(module) => findings.push(Finding::seen("driver").with("module", module)),
        None => {}
    }
    if let Some(module) = &module {
        findings.extend(compat(facts, module));
    }
    findings.extend(upgrades(facts));
    findings.extend(graphics(facts, demands));
    Judgement::Judged(findings)
}

/// A newer user library inside an image: it works on data-centre cards and is refused on consumer ones (804).
fn compat(facts: &Facts, module: &str) -> Option<Finding> {
    let names = facts.machine.names.get("usr/local/cuda/compat")?;
    let version =
        names.iter().filter_map(|name| name.strip_prefix("libcuda.so.")).find(|v| v.contains('.'))?;
    (!is_at_least(module, version))
        .then(|| Finding::note("compat-library").with("library", version).with("module", module))
}

/// An upgrade of the driver's package while the module is loaded leaves both with different versions.
fn upgrades(facts: &Facts) -> Option<Finding> {
    let text = facts.machine.files.get("etc/apt/apt.conf.d/20auto-upgrades")?;
    let on = text.lines().any(|line| {
        let line = line.trim();
        line.starts_with("APT::Periodic::Unattended-Upgrade") && line.contains("\"1\"")
    });
    on.then(|| Finding::note("auto-upgrades"))
}

/// What rendering needs beside computing: OptiX is mounted only with the graphics capability.
fn graphics(facts: &Facts, demands: &Demands) -> Option<Finding> {
    let renders =
        demands.needs.programs.iter().any(|program| program.name.to_lowercase().contains("blender"));
    if !renders {
        return None;
    }
    let names = |library: &str| facts.machine.names.values().flatten().any(|name| name.starts_with(library));
    let missing: Vec<&str> =
        ["libnvoptix.so", "libnvidia-rtcore.so"].into_iter().filter(|library| !names(library)).collect();
    let capabilities = facts.machine.variables.get("NVIDIA_DRIVER_CAPABILITIES").cloned().unwrap_or_default();
    (!missing.is_empty()).then(|| {
        Finding::fault("optix-unmounted")
            .with("libraries", missing.join(", "))
            .with("capabilities", capabilities)
    })
}

fn amd_driver(facts: &Facts) -> Judgement {
    let held = facts.machine.bus.iter().any(|device| device.driver.as_deref() == Some("amdgpu"));
    if !held && !module_is(facts, "amdgpu") && !has_name(facts, "dev", "kfd") {
        return Judgement::Judged(vec![Finding::fault("module-missing").with("module", "amdgpu")]);
    }
    let version = facts.machine.files.get("sys/module/amdgpu/version").map(|text| text.trim().to_owned());
    Judgement::Judged(vec![
        Finding::seen("driver").with("module", version.unwrap_or_else(|| "amdgpu".to_owned())),
    ])
}

/// Nodes of a backend that were seen, by path.
fn nodes_seen(facts: &Facts, backend: NeededBackend) -> Vec<&String> {
    let is_ours = |path: &&String| match backend {
        NeededBackend::Rocm => path.as_str() == "dev/kfd" || path.starts_with("dev/dri/renderD"),
        NeededBackend::Cuda | NeededBackend::Cpu => path.strip_prefix("dev/nvidia").is_some_and(|rest| {
            rest == "ctl" || rest == "-uvm" || rest.bytes().all(|byte| byte.is_ascii_digit())
        }),
    };
    facts.machine.nodes.keys().filter(is_ours).collect()
}

pub(super) fn nodes(facts: &Facts, demands: &Demands) -> Judgement {
    let backend = match backend(facts, demands) {
        Ok(backend) => backend,
        Err(judgement) => return judgement,
    };
    if is_wsl(facts) {
        return Judgement::Judged(vec![Finding::seen("nodes").with("count", 1)]);
    }
    let wanted: &[&str] = match backend {
        NeededBackend::Rocm => &["dev/kfd"],
        NeededBackend::Cuda | NeededBackend::Cpu => &["dev/nvidiactl", "dev/nvidia-uvm"],
    };
    let mut findings: Vec<Finding> = wanted
        .iter()
        .filter(|path| !facts.machine.nodes.contains_key(**path))
        .map(|path| missing_node(facts, path))
        .collect();
    let seen = nodes_seen(facts, backend);
    let is_card =
        |path: &&&String| path.starts_with("dev/dri/renderD") || path.ends_with(|c: char| c.is_ascii_digit());
    if findings.is_empty() && !seen.iter().any(|path| is_card(&path)) {
        let path = if backend == NeededBackend::Rocm { "dev/dri/renderD128" } else { "dev/nvidia0" };
        findings.push(missing_node(facts, path));
    }
    findings.extend(seen.iter().filter_map(|path| closed_node(facts, path)));
    if findings.is_empty() {
        findings.push(Finding::seen("nodes").with("count", seen.len()));
    }
    Judgement::Judged(findings)
}

fn missing_node(facts: &Facts, path: &str) -> Finding {
    let code = match (container_of(facts), path) {
        (Some(_), _) => "node-missing-in-container",
        (None, "dev/nvidia-uvm") => "node-missing-uvm",
        (None, _) => "node-missing",
    };
    Finding::fault(code).with("path", format!("/{path}"))
}

/// A node that cannot be opened. The kernel's own permissions say EACCES, and numbers of groups decide; every other
/// error comes from beyond them, from the host's driver or the container's boundary, and no group mends it.
fn closed_node(facts: &Facts, path: &str) -> Option<Finding> {
    let node = facts.machine.nodes.get(path)?;
    let error = node.opened.as_ref().filter(|opened| *opened != "ok")?;
    let finding = |code: &str| {
        Finding::fault(code)
            .with("path", format!("/{path}"))
            .with("error", error)
            .with("gid", node.gid)
            .with("mode", format!("{:04o}", node.mode))
    };
    Some(match error.as_str() {
        "EACCES" => finding("node-denied").with("groups", groups(facts)),
        "EBUSY" => finding("node-busy"),
        _ => finding("node-refused").because((path == "dev/kfd").then_some("node-refused")),
    })
}

/// Numbers of this process's groups.
fn groups(facts: &Facts) -> String {
    let status = facts.machine.files.get("proc/self/status").map(String::as_str).unwrap_or_default();
    let line = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default();
    let own = line("Gid:").split_whitespace().next().unwrap_or_default();
    let mut groups: Vec<&str> = line("Groups:").split_whitespace().collect();
    if !own.is_empty() && !groups.contains(&own) {
        groups.insert(0, own);
    }
    groups.join(", ")
}

/// The kind of container that this is, if it is one.
fn container_of(facts: &Facts) -> Option<String> {
    if has_name(facts, "", ".dockerenv") {
        return Some("docker".to_owned());
    }
    if has_name(facts, "run", ".containerenv") {
        return Some("podman".to_owned());
    }
    if let Some(kind) = facts.machine.files.get("run/systemd/container") {
        return Some(kind.trim().to_owned());
    }
    let groups = facts.machine.files.get("proc/self/cgroup").map(String::as_str).unwrap_or_default();
    ["kubepods", "docker", "containerd", "lxc", "libpod"]
        .into_iter()
        .find(|kind| groups.contains(kind))
        .map(str::to_owned)
}

pub(super) fn container(facts: &Facts, demands: &Demands) -> Judgement {
    if !facts.took("machine") {
        return Judgement::NotSeen;
    }
    let Some(kind) = container_of(facts) else { return Judgement::NotApplicable("no-container") };
    let mut findings = vec![Finding::seen("container").with("kind", kind)];
    if demands.cards_of(facts) != Some(NeededBackend::Cuda) {
        return Judgement::Judged(findings);
    }
    let variable = |name: &str| facts.machine.variables.get(name).map(String::as_str);
    let has_nodes = !nodes_seen(facts, NeededBackend::Cuda).is_empty();
    match variable("NVIDIA_VISIBLE_DEVICES") {
        Some(value @ ("void" | "none" | "")) if !has_nodes => {
            findings.push(Finding::fault("container-cards-hidden").with("value", value));
        }
        _ if !has_nodes => findings.push(Finding::fault("container-no-cards")),
        _ => {}
    }
    if let Some(capabilities) = variable("NVIDIA_DRIVER_CAPABILITIES") {
        let has = |wanted: &str| capabilities.split(',').any(|one| one == wanted || one == "all");
        if !has("compute") {
            findings.push(Finding::fault("container-no-compute").with("capabilities", capabilities));
        }
    }
    Judgement::Judged(findings)
}

/// The fabric manager, without which cards behind an NVSwitch do not initialise (802).
pub(super) fn fabric(facts: &Facts, demands: &Demands) -> Judgement {
    match backend(facts, demands) {
        Ok(NeededBackend::Cuda) => {}
        Ok(_) => return Judgement::NotApplicable("no-nvswitch"),
        Err(judgement) => return judgement,
    }
    let names = facts.machine.names.get("dev");
    let has_node = names.into_iter().flatten().any(|name| name.starts_with("nvidia-nvswitch"));
    let on_bus = |device: &crate::evidence::BusDevice| {
        device.vendor == NVIDIA && crate::evidence::is_bridge(&device.class)
    };
    if !has_node && !facts.machine.bus.iter().any(on_bus) {
        return Judgement::NotApplicable("no-nvswitch");
    }
    if !facts.took("fabric") {
        return Judgement::NotSeen;
    }
    let mut findings = Vec::new();
    let said = |name: &str| facts.machine.said.get(name).and_then(|said| said.good());
    let manager = said("fabric-manager").and_then(|out| {
        out.split_whitespace()
            .find(|word| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit()))
    });
    let module = kernel_module(facts);
    if let (Some(manager), Some(module)) = (manager, &module)
        && manager != module
    {
        findings.push(Finding::fault("fabric-version").with("manager", manager).with("module", module));
    }
    match said("nvidia-fabric").and_then(fabric_state) {
        Some((state, _)) if state != "Completed" => {
            findings.push(Finding::fault("fabric-not-ready").with("state", state));
        }
        Some((_, status)) if status != "Success" && !status.is_empty() => {
            findings.push(Finding::fault("fabric-not-ready").with("state", status));
        }
        Some(_) => findings.push(Finding::seen("fabric").with("manager", manager.unwrap_or("?"))),
        None => findings.push(Finding::note("fabric-unknown")),
    }
    Judgement::Judged(findings)
}

/// State and status of the fabric in the driver's long listing, those of the first card.
fn fabric_state(listing: &str) -> Option<(String, String)> {
    let mut lines = listing.lines().skip_while(|line| line.trim() != "Fabric").skip(1);
    let mut value = |key: &str| {
        let line = lines.by_ref().take(8).find(|line| line.trim().starts_with(key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let state = value("State").filter(|state| state != "N/A")?;
    Some((state, value("Status").unwrap_or_default()))
}
