//! Machines that were seen elsewhere, replayed: device trees in a temporary root, fake programs of drivers, recorded
//! answers of the probe. The ladder's own functions are the real ones.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, and start real processes"
)]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pilote_machine::demands::{Demands, Ordered};
use pilote_machine::evidence::{Evidence, Programs, Reader, Said};
use pilote_machine::ladder::Judgement;
use pilote_machine::probe::{self, PROBE, Step};
use pilote_machine::verdict::{Finding, RungCode, Weight};
use pilote_machine::{Facts, rungs};
use pilote_spec::{Clock, NeededBackend, NeededProgram, Stamp};

struct Still;
impl Clock for Still {
    fn monotonic(&self) -> std::time::Duration {
        std::time::Duration::ZERO
    }
    fn wall(&self) -> Stamp {
        Stamp(0)
    }
    fn wait(&self, _: std::time::Duration) {}
}

/// Starts the fake programs of a machine.
struct Fakes(PathBuf);
impl Programs for Fakes {
    fn run(&self, argv: &[String], _: &BTreeMap<String, String>, _: u32) -> Said {
        let path = self.0.join(&argv[0]);
        if !path.is_file() {
            return Said { missing: true, ..Said::default() };
        }
        let output = Command::new(path).args(&argv[1..]).stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Said {
            status: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
            ..Said::default()
        }
    }
}

/// A machine in a folder.
struct Machine {
    folder: tempfile::TempDir,
    variables: BTreeMap<String, String>,
    demands: Demands,
    answers: Vec<(Step, String)>,
    ended: Vec<(Step, Said)>,
}

impl Machine {
    fn bare() -> Self {
        let demands = Demands {
            backend: Some(NeededBackend::Cuda),
            interpreter: Some("python3".to_owned()),
            ..Demands::default()
        };
        let machine = Self {
            folder: tempfile::tempdir().unwrap(),
            variables: BTreeMap::new(),
            demands,
            answers: Vec::new(),
            ended: Vec::new(),
        };
        machine.file("etc/os-release", "PRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\n");
        machine.file("proc/sys/kernel/osrelease", "6.8.0-45-generic\n");
        machine.file("proc/meminfo", "MemTotal: 131072000 kB\n");
        machine.file("proc/self/status", "Name:\tx\nUid:\t1000\t1000\nGid:\t1000\t1000\nGroups:\t27 1000 \n");
        std::fs::create_dir_all(machine.path("bin")).unwrap();
        machine.program("getconf", "echo 'glibc 2.39'");
        machine
    }

    /// A sound host with two NVIDIA H100.
    fn sound() -> Self {
        let machine = Self::bare();
        for address in ["0000:41:00.0", "0000:42:00.0"] {
            machine.on_bus(address, "0x10de", "0x2330", "0x030200");
        }
        machine.file(
            "proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.10  Release Build  (dvs-builder)\nGCC version: 13\n",
        );
        machine.file("sys/module/nvidia/initstate", "live\n");
        machine.file("usr/lib/x86_64-linux-gnu/libcuda.so.570.86.10", "");
        machine.file("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.86.10", "");
        for node in ["nvidiactl", "nvidia0", "nvidia1", "nvidia-uvm"] {
            machine.file(&format!("dev/{node}"), "");
        }
        machine.smi(
            "0, GPU-aaaa, NVIDIA H100 80GB HBM3, 81559, 81050, 570.86.10, Disabled, 00000000:41:00.0\n\
             1, GPU-bbbb, NVIDIA H100 80GB HBM3, 81559, 81050, 570.86.10, Disabled, 00000000:42:00.0",
            "GPU-aaaa, 9.0\nGPU-bbbb, 9.0",
        );
        machine
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn remove(&self, path: &str) {
        std::fs::remove_file(self.path(path)).unwrap();
    }

    fn on_bus(&self, address: &str, vendor: &str, device: &str, class: &str) {
        for (name, value) in [("vendor", vendor), ("device", device), ("class", class)] {
            self.file(&format!("sys/bus/pci/devices/{address}/{name}"), &format!("{value}\n"));
        }
    }

    fn program(&self, name: &str, body: &str) {
        let path = self.path("bin").join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A fake nvidia-smi that answers as recorded.
    fn smi(&self, cards: &str, capabilities: &str) {
        self.smi_with(cards, capabilities, "", "");
    }

    fn smi_with(&self, cards: &str, capabilities: &str, holders: &str, list: &str) {
        let body = format!(
            "case \"$1\" in\n--query-gpu=uuid*) cat <<'X'\n{capabilities}\nX\n;;\n--query-gpu*) cat <<'X'\n{cards}\nX\n;;\n\
             --query-compute*) cat <<'X'\n{holders}\nX\n;;\n-L) cat <<'X'\n{list}\nX\n;;\n*) cat \"$0.q\" ;;\nesac"
        );
        self.program("nvidia-smi", &body);
    }

    fn smi_fails(&self, words: &str, status: i32) {
        self.program("nvidia-smi", &format!("cat <<'X'\n{words}\nX\nexit {status}"));
    }

    fn torch(&mut self, torch: &serde_json::Value) {
        self.answers.push((Step::Torch, serde_json::json!({ "torch": torch }).to_string()));
    }

    fn computed(&mut self, rows: &serde_json::Value) {
        self.answers.push((Step::Compute, serde_json::json!({ "computations": rows }).to_string()));
    }

    fn installed(&mut self, packages: &[(&str, &str)]) {
        let packages: Vec<_> = packages
            .iter()
            .map(|(name, version)| serde_json::json!({"name": name, "version": version}))
            .collect();
        let interpreter = serde_json::json!({"executable": "/opt/env/bin/python3", "prefix": "/opt/env",
            "base_prefix": "/usr", "version": "3.12.3", "platform": "linux-x86_64"});
        let answer = serde_json::json!({"interpreter": interpreter, "packages": packages, "shadows": []});
        self.answers.push((Step::Interpreter, answer.to_string()));
    }

    fn facts(&self) -> Facts {
        let look = probe::look().unwrap();
        let programs = Fakes(self.path("bin"));
        let reader = Reader {
            root: self.folder.path(),
            look: &look,
            programs: &programs,
            variables: &self.variables,
            clock: &Still,
        };
        let mut facts = Facts::new("test".to_owned());
        facts.machine = reader.still();
        for step in ["system", "cards", "fabric"] {
            let said = reader.ask(step, &facts.machine);
            facts.machine.said.extend(said);
            facts.steps.insert(step.to_owned());
        }
        facts.steps.insert("machine".to_owned());
        for (step, answer) in &self.answers {
            probe::take(&mut facts, *step, answer).unwrap();
        }
        for (step, said) in &self.ended {
            facts.ended.insert(step.code().to_owned(), said.clone());
        }
        // A round trip through the file, as facts from elsewhere come.
        Facts::parse(&serde_json::to_string(&facts).unwrap(), "facts.json").unwrap()
    }

    fn judge(&self, rung: RungCode) -> Judgement {
        rungs::judge(rung, &self.facts(), &self.demands)
    }

    /// The findings of a rung.
    fn findings(&self, rung: RungCode) -> Vec<Finding> {
        match self.judge(rung) {
            Judgement::Judged(findings) => findings,
            other => panic!("{rung:?} was not judged: {other:?}"),
        }
    }

    /// The code of the one fault of a rung, and of its cause.
    #[track_caller]
    fn fault(&self, rung: RungCode) -> (String, Option<String>) {
        let findings = self.findings(rung);
        let faults: Vec<&Finding> = findings.iter().filter(|it| it.weight == Weight::Fault).collect();
        assert_eq!(faults.len(), 1, "{findings:#?}");
        (faults[0].code.clone(), faults[0].cause.clone())
    }

    #[track_caller]
    fn passes(&self, rung: RungCode) {
        let findings = self.findings(rung);
        assert!(findings.iter().all(|finding| finding.weight != Weight::Fault), "{findings:#?}");
    }

    #[track_caller]
    fn has(&self, rung: RungCode, code: &str) -> Finding {
        let findings = self.findings(rung);
        findings
            .iter()
            .find(|finding| finding.code == code)
            .cloned()
            .unwrap_or_else(|| panic!("{findings:#?}"))
    }
}

fn a_wheel(version: &str, cuda: &str, built_for: &[&str]) -> serde_json::Value {
    serde_json::json!({"version": version, "cuda": cuda, "available": true, "count": 1, "built_for": built_for})
}

const LOWER: [RungCode; 6] =
    [RungCode::System, RungCode::Bus, RungCode::Driver, RungCode::Nodes, RungCode::Cards, RungCode::Memory];

#[test]
fn a_sound_machine_passes_every_lower_rung() {
    let machine = Machine::sound();
    for rung in LOWER {
        machine.passes(rung);
    }
    assert_eq!(machine.judge(RungCode::Fabric), Judgement::NotApplicable("no-nvswitch"));
    assert_eq!(machine.judge(RungCode::Container), Judgement::NotApplicable("no-container"));
    let card = machine.has(RungCode::Cards, "card");
    assert_eq!((card.values["memory_mib"].as_str(), card.values["capability"].as_str()), ("81559", "9.0"));
}

#[test]
fn a_project_for_the_processor_asks_no_card_of_the_machine() {
    let mut machine = Machine::bare();
    machine.demands.backend = Some(NeededBackend::Cpu);
    for rung in [RungCode::Bus, RungCode::Driver, RungCode::Nodes, RungCode::Cards, RungCode::Fabric] {
        assert_eq!(machine.judge(rung), Judgement::NotApplicable("processor-only"), "{rung:?}");
    }
    machine.demands.backend = None;
    assert_eq!(machine.judge(RungCode::Bus), Judgement::NotApplicable("no-card"));
}

#[test]
fn a_machine_without_the_card_that_is_asked_for_stops_at_the_bus() {
    assert_eq!(Machine::bare().fault(RungCode::Bus).0, "bus-empty");
    let other = Machine::bare();
    other.on_bus("0000:05:00.0", "0x1002", "0x74a1", "0x120000");
    assert_eq!(other.fault(RungCode::Bus).0, "bus-other-maker");
}

#[test]
fn nouveau_and_a_module_that_is_not_loaded_are_told_apart() {
    let machine = Machine::bare();
    machine.on_bus("0000:41:00.0", "0x10de", "0x2330", "0x030000");
    assert_eq!(machine.fault(RungCode::Driver).0, "module-missing");
    machine.file("proc/modules", "nouveau 2400256 1 - Live 0x0\nsnd 1 0 - Live 0x0\n");
    assert_eq!(machine.fault(RungCode::Driver).0, "module-nouveau");
}

#[test]
fn a_library_upgraded_under_a_loaded_module_is_named_with_both_versions() {
    let machine = Machine::sound();
    machine.remove("usr/lib/x86_64-linux-gnu/libcuda.so.570.86.10");
    machine.remove("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.86.10");
    machine.file("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.124.06", "");
    let finding = machine.has(RungCode::Driver, "library-differs");
    assert_eq!(
        (finding.values["module"].as_str(), finding.values["library"].as_str()),
        ("570.86.10", "570.124.06")
    );
    machine.smi_fails(
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.124",
        18,
    );
    let fault = machine.fault(RungCode::Cards);
    assert_eq!(fault, ("driver-program-failed".into(), Some("driver-library-differs".into())));
}

#[test]
fn upgrades_that_come_unasked_are_noted() {
    let machine = Machine::sound();
    machine.file("etc/apt/apt.conf.d/20auto-upgrades", "APT::Periodic::Unattended-Upgrade \"1\";\n");
    assert_eq!(machine.has(RungCode::Driver, "auto-upgrades").weight, Weight::Note);
}

#[test]
fn a_missing_uvm_node_is_told_from_one_that_the_container_does_not_let_in() {
    let machine = Machine::sound();
    machine.remove("dev/nvidia-uvm");
    assert_eq!(machine.fault(RungCode::Nodes).0, "node-missing-uvm");
    machine.file(".dockerenv", "");
    assert_eq!(machine.fault(RungCode::Nodes).0, "node-missing-in-container");
}

/// The facts of a machine whose node was closed with this error.
fn with_closed_node(path: &str, error: &str, gid: u32, backend: NeededBackend) -> Vec<Finding> {
    let machine = Machine::sound();
    let mut facts = machine.facts();
    let node = serde_json::json!({"mode": 0o660, "uid": 0, "gid": gid, "opened": error});
    facts.machine.nodes.insert(path.to_owned(), serde_json::from_value(node).unwrap());
    let demands = Demands { backend: Some(backend), ..machine.demands.clone() };
    match rungs::judge(RungCode::Nodes, &facts, &demands) {
        Judgement::Judged(findings) => findings,
        other => panic!("{other:?}"),
    }
}

#[test]
fn groups_are_compared_by_number_and_an_invalid_argument_is_no_matter_of_groups() {
    let findings = with_closed_node("dev/kfd", "EACCES", 992, NeededBackend::Rocm);
    let denied = findings.iter().find(|finding| finding.code == "node-denied").unwrap();
    assert_eq!((denied.values["gid"].as_str(), denied.values["groups"].as_str()), ("992", "27, 1000"));
    let findings = with_closed_node("dev/kfd", "EINVAL", 27, NeededBackend::Rocm);
    let refused = findings.iter().find(|finding| finding.code == "node-refused").unwrap();
    assert_eq!(refused.cause.as_deref(), Some("node-refused"));
}

#[test]
fn a_container_without_cards_and_one_that_hides_them_are_told_apart() {
    let mut machine = Machine::bare();
    machine.on_bus("0000:41:00.0", "0x10de", "0x2330", "0x030200");
    machine.file(".dockerenv", "");
    assert_eq!(machine.fault(RungCode::Container).0, "container-no-cards");
    machine.variables.insert("NVIDIA_VISIBLE_DEVICES".into(), "void".into());
    assert_eq!(machine.fault(RungCode::Container).0, "container-cards-hidden");
}

#[test]
fn a_fabric_manager_of_another_version_or_that_is_not_ready_is_named() {
    let machine = Machine::sound();
    machine.file("dev/nvidia-nvswitch0", "");
    machine.program("nv-fabricmanager", "echo 'Fabric Manager version is : 570.124.06'");
    let listing = "    Fabric\n        State                             : In Progress\n        Status                            : N/A\n";
    machine.file("bin/nvidia-smi.q", listing);
    let codes: Vec<String> =
        machine.findings(RungCode::Fabric).into_iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["fabric-version", "fabric-not-ready"]);
    machine.program("nv-fabricmanager", "echo 'Fabric Manager version is : 570.86.10'");
    machine.file("bin/nvidia-smi.q", &listing.replace("In Progress", "Completed").replace("N/A", "Success"));
    machine.passes(RungCode::Fabric);
}

#[test]
fn what_the_drivers_program_says_is_recognised() {
    let machine = Machine::sound();
    for (words, status, cause) in [
        ("Failed to initialize NVML: Unknown Error", 255, "container-lost-card"),
        ("No devices were found", 0, "no-devices"),
        (
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.",
            9,
            "driver-not-loaded",
        ),
        (
            "Unable to determine the device handle for GPU0000:41:00.0: GPU is lost.  Reboot the system to recover this GPU",
            15,
            "card-lost",
        ),
    ] {
        machine.smi_fails(words, status);
        assert_eq!(
            machine.fault(RungCode::Cards),
            ("driver-program-failed".into(), Some(cause.into())),
            "{words}"
        );
    }
    machine.smi_fails("something that nobody has seen before", 3);
    let finding = machine.has(RungCode::Cards, "driver-program-failed");
    assert_eq!(
        (finding.cause, finding.words),
        (None, vec!["something that nobody has seen before".to_owned()])
    );
    machine.remove("bin/nvidia-smi");
    assert_eq!(machine.fault(RungCode::Cards).0, "driver-program-missing");
}

#[test]
fn readings_that_a_driver_does_not_give_are_absent() {
    let machine = Machine::sound();
    machine.smi("0, GPU-aaaa, NVIDIA H100, [N/A], [Not Supported], 570.86.10, [N/A], 00000000:41:00.0\n1, GPU-bbbb, NVIDIA H100, 81559, 100, 570.86.10, Disabled, x", "");
    let card = machine.has(RungCode::Cards, "card");
    assert_eq!((card.values["memory_mib"].as_str(), card.values["capability"].as_str()), ("?", "?"));
    assert_eq!(machine.has(RungCode::Memory, "memory-unread").values["index"], "0");
}

#[test]
fn identifiers_and_slices_in_the_variable_are_understood() {
    let mut machine = Machine::sound();
    let list = "GPU 0: NVIDIA H100 (UUID: GPU-aaaa)\n  MIG 1g.10gb     Device  0: (UUID: MIG-1111-2222)\n  MIG 1g.10gb     Device  1: (UUID: MIG-3333-4444)\nGPU 1: NVIDIA H100 (UUID: GPU-bbbb)";
    let cards = "0, GPU-aaaa, NVIDIA H100, 81559, 81050, 570.86.10, Enabled, a\n1, GPU-bbbb, NVIDIA H100, 81559, 81050, 570.86.10, Disabled, b";
    machine.smi_with(cards, "", "", list);
    let set = |machine: &mut Machine, value: &str| {
        machine.variables.insert("CUDA_VISIBLE_DEVICES".to_owned(), value.to_owned());
    };
    for good in ["0", "1,0", "GPU-aa", "MIG-3333-4444", "MIG-GPU-aaaa/1/0"] {
        set(&mut machine, good);
        assert_eq!(machine.has(RungCode::Cards, "visible").weight, Weight::Seen, "{good}");
    }
    for (bad, code) in [
        ("", "visible-none"),
        ("-1", "visible-none"),
        ("7", "visible-unknown"),
        ("GPU-zz", "visible-unknown"),
    ] {
        set(&mut machine, bad);
        assert_eq!(machine.fault(RungCode::Cards).0, code, "{bad}");
    }
    set(&mut machine, "0");
    assert_eq!(machine.has(RungCode::Cards, "slices").values["count"], "2");
    machine.demands.needs.cards = Some(2);
    assert_eq!(machine.fault(RungCode::Cards).0, "slices-one-each");
}

#[test]
fn fewer_cards_than_declared_ordered_or_on_the_bus_are_counted() {
    let mut machine = Machine::sound();
    machine.demands.needs.cards = Some(8);
    assert_eq!(machine.fault(RungCode::Cards).0, "cards-fewer");
    machine.demands.needs.cards = None;
    machine.on_bus("0000:43:00.0", "0x10de", "0x2330", "0x030200");
    assert_eq!(machine.fault(RungCode::Cards).0, "cards-fewer-than-bus");
    let order = |cards, card: &str| {
        Some(Ordered {
            card: card.to_owned(),
            names: vec![card.to_owned()],
            memory_bytes: Some(81_559 << 20),
            cards,
            preparation: None,
            ends: Some(Stamp(7_200_000)),
        })
    };
    machine.demands.now = Some(Stamp(0));
    machine.demands.order = order(2, "H100");
    machine.passes(RungCode::Order);
    assert_eq!(machine.has(RungCode::Order, "order-ends").values["hours"], "2");
    machine.demands.order = order(8, "H100");
    assert_eq!(machine.fault(RungCode::Order).0, "order-count");
    machine.demands.order = order(2, "H200");
    assert_eq!(machine.findings(RungCode::Order).iter().filter(|it| it.code == "order-model").count(), 2);
}

#[test]
fn memory_that_others_hold_is_told_with_their_numbers() {
    let mut machine = Machine::sound();
    machine.smi_with(
        "0, GPU-aaaa, NVIDIA L4, 22580, 20244, 570.86.10, [N/A], a",
        "",
        "GPU-aaaa, 4242, /usr/bin/python3, 2300",
        "",
    );
    machine.demands.needs.card_memory_mib = Some(20_316);
    let finding = machine.has(RungCode::Memory, "memory-held");
    assert_eq!(finding.values["holders"], "4242 /usr/bin/python3 (2300 MiB)");
}

#[test]
fn cards_of_amd_are_read_from_either_shape_of_its_listing() {
    let mut machine = Machine::bare();
    machine.demands.backend = Some(NeededBackend::Rocm);
    machine.on_bus("0000:03:00.0", "0x1002", "0x15d8", "0x030000");
    machine.on_bus("0000:05:00.0", "0x1002", "0x74a1", "0x120000");
    machine.file("dev/kfd", "");
    machine.file("dev/dri/renderD128", "");
    machine.file("sys/module/amdgpu/initstate", "live\n");
    let card = |gpu: u32, name: &str, arch: &str, mb: u64| {
        serde_json::json!({"gpu": gpu, "asic": {"market_name": name, "target_graphics_version": arch, "asic_serial": format!("0x{gpu}")},
            "vram": {"size": {"value": mb, "unit": "MB"}}, "driver": {"version": "6.12.12"}})
    };
    let list = serde_json::json!([
        card(0, "AMD Radeon Graphics", "gfx902", 512),
        card(1, "AMD Instinct MI300X", "gfx942", 196_592)
    ]);
    for text in [list.to_string(), serde_json::json!({ "gpu_data": list }).to_string()] {
        machine.program(
            "amd-smi",
            &format!(
                "case \"$1\" in static) cat <<'X'\nWARNING: first line\n{text}\nX\n;; *) echo '[]';; esac"
            ),
        );
        assert_eq!(machine.has(RungCode::Cards, "card-integrated-first").values["capability"], "gfx902");
    }
    machine.passes(RungCode::Nodes);
    machine.torch(&a_wheel("2.8.0+cu128", "12.8", &["sm_90"]));
    assert_eq!(machine.fault(RungCode::Wheel).0, "wheel-other");
}

#[test]
fn a_wheel_for_the_processor_names_the_python_that_pip_looked_for() {
    let mut machine = Machine::sound();
    machine.installed(&[("torch", "2.8.0+cpu")]);
    machine
        .torch(&serde_json::json!({"version": "2.8.0+cpu", "available": false, "count": 0, "built_for": []}));
    let finding = machine.has(RungCode::Wheel, "wheel-cpu");
    assert_eq!(finding.values["python"], "3.12.3");
}

#[test]
fn a_driver_older_than_the_wheel_needs_and_one_that_only_lacks_ptx_are_told_apart() {
    let mut machine = Machine::sound();
    machine.torch(&a_wheel("2.9.0+cu130", "13.0", &["sm_90"]));
    assert_eq!(machine.fault(RungCode::Wheel).0, "driver-old");
    machine.answers.clear();
    machine.torch(&a_wheel("2.8.0+cu129", "12.9", &["sm_90"]));
    assert_eq!(machine.has(RungCode::Wheel, "driver-before-toolkit").weight, Weight::Note);
}

#[test]
fn an_architecture_that_the_wheel_lacks_fails_although_a_card_is_available() {
    let mut machine = Machine::sound();
    machine.smi("0, GPU-aaaa, NVIDIA GeForce RTX 5090, 32607, 32000, 570.86.10, [N/A], a", "GPU-aaaa, 12.0");
    machine.torch(&a_wheel("2.5.1+cu124", "12.4", &["sm_80", "sm_86", "sm_90"]));
    machine.passes(RungCode::Wheel);
    assert_eq!(machine.fault(RungCode::Capability).0, "capability-missing");
    machine.computed(&serde_json::json!([{"device": "cuda:0", "kind": "fp32", "size": 16, "by": "torch",
        "error": {"type": "RuntimeError", "message": "CUDA error: no kernel image is available for execution on the device", "lines": ""}}]));
    assert_eq!(
        machine.fault(RungCode::Computation),
        ("computation-failed".into(), Some("architecture-missing".into()))
    );
}

#[test]
fn a_wrong_result_is_told_with_its_difference_and_the_processor_proves_no_card() {
    let mut machine = Machine::sound();
    let row = |device: &str, right: bool| {
        serde_json::json!({"device": device, "kind": "bf16", "size": 257, "by": "torch",
        "difference": if right { 0.0 } else { 512.0 }, "tolerance": 40.0, "right": right})
    };
    machine.computed(&serde_json::json!([row("cpu", true), row("cuda:0", true), row("cuda:1", false)]));
    assert_eq!(machine.has(RungCode::Computation, "computation-wrong").values["device"], "cuda:1");
    machine.answers.clear();
    machine.torch(&serde_json::json!({"version": "2.8.0+cu128", "cuda": "12.8", "available": false, "count": 0, "built_for": [],
        "warnings": ["CUDA initialization: CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable CUDA_VISIBLE_DEVICES after program start."],
        "error": {"type": "RuntimeError", "message": "No CUDA GPUs are available", "lines": ""}}));
    machine.computed(&serde_json::json!([row("cpu", true)]));
    assert_eq!(machine.fault(RungCode::Computation), ("computation-without-card".into(), Some("uvm".into())));
    machine.ended.push((Step::Compute, Said { late: true, ..Said::default() }));
    assert_eq!(machine.fault(RungCode::Computation).0, "computation-late");
}

/// NVIDIA's driver interface as a library of this machine, which answers as it is told.
const DRIVER_INTERFACE: &str = "#include <string.h>\n\
    int cuInit(unsigned f) { return STATUS; }\n\
    int cuDriverGetVersion(int *v) { *v = 12080; return 0; }\n\
    int cuDeviceGetCount(int *n) { *n = 1; return 0; }\n\
    int cuDeviceGet(int *d, int n) { *d = n; return 0; }\n\
    int cuDeviceGetName(char *s, int n, int d) { strncpy(s, \"NVIDIA H100 80GB HBM3\", n); return 0; }\n\
    int cuDeviceGetAttribute(int *v, int a, int d) { *v = a == 75 ? 9 : 0; return 0; }\n";

/// The answer of the probe's step `driver` where the interface's start ends with `status`.
fn driver_step(machine: &Machine, status: i32) -> String {
    machine.file("interface.c", DRIVER_INTERFACE);
    let library = machine.path("libcuda.so.1");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", &format!("-DSTATUS={status}"), "-o"])
        .args([&library, &machine.path("interface.c")])
        .status()
        .unwrap();
    assert!(built.success());
    machine.file("diagnose.py", PROBE);
    let output = Command::new("python3")
        .arg(machine.path("diagnose.py"))
        .args(["--here", "driver"])
        .env("LD_LIBRARY_PATH", machine.folder.path())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_driver_s_own_number_names_the_cause_where_no_card_computed() {
    for (status, cause) in [
        (802, "fabric-manager"),
        (803, "driver-library-differs"),
        (804, "compat-on-consumer-card"),
        (999, "uvm"),
        (100, "no-devices"),
    ] {
        let mut machine = Machine::sound();
        let answer = driver_step(&machine, status);
        machine.answers.push((Step::Driver, answer));
        let row = serde_json::json!({"device": "cpu", "kind": "fp32", "size": 16, "by": "python", "difference": 0.0, "tolerance": 0.0, "right": true});
        machine.computed(&serde_json::json!([row]));
        let fault = machine.fault(RungCode::Computation);
        assert_eq!(fault, ("computation-without-card".into(), Some(cause.into())), "{status}");
    }
    let machine = Machine::sound();
    let mut facts = Facts::new("test".to_owned());
    probe::take(&mut facts, Step::Driver, &driver_step(&machine, 0)).unwrap();
    let seen = serde_json::to_value(facts.driver.unwrap()).unwrap();
    assert_eq!((&seen["status"], &seen["cuda"], &seen["count"]), (&0.into(), &"12.8".into(), &1.into()));
    assert_eq!(
        (&seen["cards"][0]["name"], &seen["cards"][0]["capability"]),
        (&"NVIDIA H100 80GB HBM3".into(), &"9.0".into())
    );
}

#[test]
fn what_passes_between_cards_is_judged_by_itself() {
    let mut machine = Machine::sound();
    let row = |device: &str| serde_json::json!({"device": device, "kind": "fp32", "size": 16, "by": "torch", "difference": 0.0, "tolerance": 0.0, "right": true});
    machine.computed(&serde_json::json!([row("cuda:0")]));
    assert_eq!(machine.judge(RungCode::Peers), Judgement::NotApplicable("one-card"));
    machine.computed(&serde_json::json!([row("cuda:0"), row("cuda:1")]));
    let copies = serde_json::json!([{"from": 0, "to": 1, "direct": true, "right": false}, {"from": 1, "to": 0, "direct": false, "right": true}]);
    let error = serde_json::json!({"type": "RuntimeError", "message": "NCCL Error 1: unhandled cuda error", "lines": ""});
    machine.answers.push((
        Step::Peers,
        serde_json::json!({"peers": {"copies": copies, "collective": {"error": error}}}).to_string(),
    ));
    let codes: Vec<String> =
        machine.findings(RungCode::Peers).into_iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["peer-wrong", "peer-by-host", "collective-failed"]);
}

#[test]
fn two_majors_of_cuda_side_by_side_and_other_versions_than_declared_are_named() {
    let mut machine = Machine::sound();
    machine.installed(&[
        ("nvidia-cudnn-cu12", "9.1"),
        ("nvidia-cublas-cu13", "13.0"),
        ("torch", "2.8.0+cpu"),
    ]);
    machine.demands.pinned = vec![pilote_machine::demands::Pinned {
        name: "torch".into(),
        version: "2.8.0+cu128".into(),
        place: "requirements-rebuild.txt:3".into(),
        limited: false,
    }];
    let findings = machine.findings(RungCode::Environment);
    let codes: Vec<&str> = findings
        .iter()
        .filter(|it| it.weight == Weight::Fault)
        .map(|finding| finding.code.as_str())
        .collect();
    assert_eq!(codes, ["package-version", "cuda-majors"]);
}

#[test]
fn rendering_asks_for_libraries_that_a_container_mounts_only_when_told() {
    let mut machine = Machine::sound();
    machine.demands.needs.programs =
        vec![NeededProgram { name: "Blender".into(), command: vec!["blender".into()], says: None }];
    machine.variables.insert("NVIDIA_DRIVER_CAPABILITIES".into(), "compute,utility".into());
    let finding = machine.has(RungCode::Driver, "optix-unmounted");
    assert_eq!(finding.values["libraries"], "libnvoptix.so, libnvidia-rtcore.so");
}

#[test]
fn shared_memory_at_the_default_of_containers_fails_where_cards_are_asked_for() {
    let machine = Machine::sound();
    let mut facts = machine.facts();
    let room = serde_json::json!({"path": "/dev/shm", "total_bytes": 64 << 20, "free_bytes": 64 << 20});
    facts.machine.room.insert("shared".to_owned(), serde_json::from_value(room).unwrap());
    let Judgement::Judged(findings) = rungs::judge(RungCode::System, &facts, &machine.demands) else {
        panic!()
    };
    assert!(
        findings.iter().any(|finding| finding.code == "shared-memory" && finding.weight == Weight::Fault)
    );
}

#[test]
fn an_interpreter_that_is_not_there_or_does_not_run_is_told_in_its_own_words() {
    let mut machine = Machine::sound();
    machine.ended.push((Step::Interpreter, Said { missing: true, ..Said::default() }));
    assert_eq!(machine.fault(RungCode::Interpreter).0, "interpreter-missing");
    let err = "Could not find platform independent libraries <prefix>\nModuleNotFoundError: No module named 'encodings'";
    machine.ended = vec![(Step::Interpreter, Said { status: Some(1), err: err.into(), ..Said::default() })];
    assert_eq!(
        machine.fault(RungCode::Interpreter),
        ("interpreter-broken".into(), Some("other-interpreter".into()))
    );
}

#[test]
fn another_pip_than_the_interpreters_own_is_noted() {
    let mut machine = Machine::sound();
    machine.installed(&[]);
    let mut facts = machine.facts();
    let interpreter = facts.interpreter.as_mut().unwrap();
    interpreter.pip.own = Some("/opt/env/lib/python3.12/site-packages/pip".into());
    interpreter.pip.on_path = Some("/usr/bin/pip".into());
    interpreter.pip.interpreter_of_path = Some("/usr/bin/python3".into());
    let Judgement::Judged(findings) = rungs::judge(RungCode::Interpreter, &facts, &machine.demands) else {
        panic!()
    };
    assert!(findings.iter().any(|finding| finding.code == "pip-other" && finding.weight == Weight::Note));
    let seen = findings.iter().find(|finding| finding.code == "interpreter").unwrap();
    assert_eq!(
        (seen.values["executable"].as_str(), seen.values["prefix"].as_str()),
        ("/opt/env/bin/python3", "/opt/env")
    );
}

/// Words as engines, drivers and interpreters print them.
const WORDS: &[(&str, &str)] = &[
    (
        "UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 10010). Please update your GPU driver",
        "driver-too-old",
    ),
    (
        "RuntimeError: CUDA error: no kernel image is available for execution on the device\nCUDA kernel errors might be asynchronously reported",
        "architecture-missing",
    ),
    (
        "NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.",
        "architecture-missing",
    ),
    (
        "CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable CUDA_VISIBLE_DEVICES after program start.",
        "uvm",
    ),
    (
        "Error 802: system not yet initialized (Triggered internally at CUDAFunctions.cpp:109.)",
        "fabric-manager",
    ),
    ("Error 803: system has unsupported display driver / cuda driver combination", "driver-library-differs"),
    (
        "Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was attempted on non supported HW",
        "compat-on-consumer-card",
    ),
    (
        "ImportError: libcudart.so.13: cannot open shared object file: No such file or directory",
        "runtime-major",
    ),
    ("AssertionError: Torch not compiled with CUDA enabled", "cpu-wheel"),
    (
        "rocBLAS error: Cannot read TensileLibrary.dat: No such file or directory for GPU arch : gfx902",
        "rocm-agent",
    ),
    (
        "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.",
        "node-denied",
    ),
    (
        "Unable to open /dev/kfd read-write: Permission denied\nuser is not member of \"render\" group",
        "node-denied",
    ),
    ("Unable to open /dev/kfd read-write: Invalid argument", "node-refused"),
    (
        "docker: Error response from daemon: could not select device driver \"\" with capabilities: [[gpu]].",
        "toolkit-missing",
    ),
    ("Failed to initialize NVML: Unknown Error", "container-lost-card"),
    ("Failed to initialize NVML: Driver/library version mismatch", "driver-library-differs"),
    (
        "RuntimeError: DataLoader worker (pid 77) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.",
        "shared-memory",
    ),
    ("Error while creating shared memory segment /dev/shm/nccl-8V9Sx2 (size 9637888)", "shared-memory"),
    ("OSError: [Errno 28] No space left on device: '/dev/shm/torch_77'", "shared-memory"),
    ("OSError: [Errno 28] No space left on device: 'runs/x'", "disk-full"),
    ("ValueError: invalid literal for int() with base 10: 'MIG-c8b5d3e1-2f4a'", "mig-number"),
    (
        "error: subprocess-exited-with-error\n× Getting requirements to build wheel did not run successfully.\nModuleNotFoundError: No module named 'torch'",
        "build-isolation",
    ),
    ("RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.", "ptx-too-new"),
    ("NVRM: Xid (PCI:0000:41:00): 79, pid=1234, GPU has fallen off the bus.", "card-lost"),
    ("NVRM: Xid (PCI:0000:41:00): 31, pid=79, name=python", "card-memory-fault"),
    (
        "ValueError: Free memory on device (19.77/22.05 GiB) on startup is less than desired GPU memory utilization (0.9, 19.84 GiB).",
        "kv-cache",
    ),
    ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", "card-memory-full"),
    ("Unable to open a display\nAborted", "needs-display"),
    ("Error: OptiX device not found", "optix-missing"),
    ("ImportError: flash_attn_2_cuda.so: undefined symbol: _ZN3c105ErrorC2ENS", "extension-of-other-torch"),
    ("ImportError: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.32' not found", "libc-too-old"),
    ("OSError: You are trying to access a gated repo.", "gated-model"),
    ("OSError: [Errno 98] Address already in use", "port-taken"),
];

#[test]
fn the_words_of_drivers_engines_and_interpreters_are_recognised_and_told_apart() {
    for (words, cause) in WORDS {
        assert_eq!(pilote_machine::causes::recognise(words), Some(*cause), "{words}");
    }
    for words in ["", "Traceback (most recent call last):\nValueError: no such layer", "killed"] {
        assert_eq!(pilote_machine::causes::recognise(words), None, "{words}");
    }
}

#[test]
fn every_step_that_ends_in_a_crash_keeps_its_last_words() {
    let mut machine = Machine::sound();
    let err = "Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n  File \"x.py\", line 1";
    machine.ended.push((Step::Torch, Said { err: err.into(), ..Said::default() }));
    let finding = machine.has(RungCode::Wheel, "torch-ended");
    assert_eq!(
        (finding.cause, finding.words.first().map(String::as_str)),
        (None, Some("Fatal Python error: Segmentation fault"))
    );
}

#[test]
fn the_probe_and_the_program_copy_the_same_things() {
    let machine = Machine::sound();
    machine.file("etc/machine-id", "0123456789abcdef\n");
    machine.file("proc/modules", "nvidia 1 2 - Live\nsnd 1 0 - Live\n");
    machine.file("run/systemd/container", "lxc\n");
    let script = machine.path("diagnose.py");
    std::fs::write(&script, PROBE).unwrap();
    let output = Command::new("python3")
        .arg(&script)
        .arg("--still")
        .arg("--root")
        .arg(machine.folder.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let by_probe: Evidence = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let look = probe::look().unwrap();
    let programs = Fakes(machine.path("bin"));
    let none = BTreeMap::new();
    let reader = Reader {
        root: machine.folder.path(),
        look: &look,
        programs: &programs,
        variables: &none,
        clock: &Still,
    };
    assert_eq!(reader.still(), by_probe);
    assert!(by_probe.files["etc/machine-id"].starts_with("sha256:"));
}

#[test]
fn the_probe_is_one_small_file_for_python_3_8_and_its_library_alone() {
    assert!(PROBE.len() < 60_000, "{}", PROBE.len());
    let check = "import ast, sys\n\
        tree = ast.parse(sys.stdin.read(), feature_version=(3, 8))\n\
        names = set()\n\
        for node in ast.walk(tree):\n\
        \x20   if isinstance(node, ast.Import): names |= {a.name.split('.')[0] for a in node.names}\n\
        \x20   if isinstance(node, ast.ImportFrom): names.add((node.module or '').split('.')[0])\n\
        \x20   if isinstance(node, ast.Attribute) and node.attr in {'removeprefix', 'removesuffix', 'is_relative_to', 'hardlink_to', 'readlink_to', 'bit_count', 'pairwise', 'file_digest'}: raise SystemExit('newer than 3.8: ' + node.attr)\n\
        print(*sorted(names))";
    let mut child = Command::new("python3")
        .args(["-c", check])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), PROBE.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    // What is installed is imported where it is found, and nowhere else.
    let imported = String::from_utf8(output.stdout).unwrap();
    let standard = "argparse base64 ctypes errno hashlib importlib json os platform shutil subprocess sys sysconfig time traceback warnings numpy torch";
    for name in imported.split_whitespace() {
        assert!(standard.split(' ').any(|known| known == name), "{name}");
    }
}

#[test]
fn facts_of_another_format_or_none_are_refused_with_the_way_out() {
    let error = Facts::parse("{}", "x.json").unwrap_err().to_string();
    assert!(error.contains("x.json holds no facts: it names no format; make it with"), "{error}");
    let error = Facts::parse("{\"format\":\"pilote.facts/2\"}", "x.json").unwrap_err().to_string();
    assert!(
        error.contains("of the format `pilote.facts/2`, and this program reads pilote.facts/1"),
        "{error}"
    );
    let error = Facts::parse("pilote", "x.json").unwrap_err().to_string();
    assert!(error.contains("x.json holds no facts: expected value at line 1"), "{error}");
}

#[test]
fn facts_of_version_1_are_still_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/facts-1.json");
    let facts = Facts::parse(&std::fs::read_to_string(path).unwrap(), "facts-1.json").unwrap();
    assert_eq!(facts.by, "diagnose.py");
    assert!(facts.interpreter.is_some() && facts.computations.iter().all(|row| row.right == Some(true)));
}
