//! Recognising causes: failure messages in the words of engines, drivers and interpreters, told apart.
//!
//! A cause is recognised by what stands in the words and nothing else; the most particular comes first. What is not
//! recognised is shown as it is. Advice is one sentence for each cause, among the messages `cause-CODE`.

use crate::verdict::RungCode;

/// A cause, and the words that it is recognised by: one of the groups, of which each part must stand in the text.
/// All are compared in small letters.
struct Cause {
    code: &'static str,
    any: &'static [&'static [&'static str]],
}

const fn cause(code: &'static str, any: &'static [&'static [&'static str]]) -> Cause {
    Cause { code, any }
}

/// From the most particular to the most general. Order matters where one message holds another's words.
const CAUSES: &[Cause] = &[
    // Hardware first: no advice on software helps there.
    cause("card-lost", &[&["xid=79;"], &["gpu is lost"], &["fallen off the bus"], &["gpu requires reset"]]),
    cause("card-memory-damaged", &[&["uncorrectable ecc"], &["xid=48;"], &["xid=94;"], &["xid=95;"]]),
    cause(
        "card-memory-fault",
        &[&["xid=31;"], &["an illegal memory access"], &["memory access fault by gpu"]],
    ),
    // NVIDIA's driver, told apart by its own numbers.
    cause(
        "fabric-manager",
        &[
            &["system not yet initialized"],
            &["error 802:"],
            &["cuda_error_system_not_ready"],
            &["fabric manager", "version mismatch"],
        ],
    ),
    cause(
        "compat-on-consumer-card",
        &[
            &["forward compatibility was attempted on non supported hw"],
            &["error 804:"],
            &["cuda_error_compat_not_supported_on_device"],
        ],
    ),
    cause(
        "driver-library-differs",
        &[
            &["driver/library version mismatch"],
            &["error 803:"],
            &["system has unsupported display driver / cuda driver combination"],
            &["api mismatch:"],
        ],
    ),
    cause("container-lost-card", &[&["failed to initialize nvml: unknown error"]]),
    cause("no-permission-nvml", &[&["failed to initialize nvml: insufficient permissions"]]),
    cause(
        "driver-not-loaded",
        &[
            &["couldn't communicate with the nvidia driver"],
            &["failed to initialize nvml: driver not loaded"],
            &["nvidia driver is not loaded"],
        ],
    ),
    cause(
        "no-driver",
        &[
            &["found no nvidia driver on your system"],
            &["failed to initialize nvml: nvml shared library not found"],
            &["libcuda.so.1: cannot open shared object"],
            &["could not find cuda drivers"],
        ],
    ),
    cause(
        "no-devices",
        &[
            &["no devices were found"],
            &["no cuda-capable device is detected"],
            &["error 100:"],
            &["no cuda gpus are available"],
            &["no hip gpus are available"],
        ],
    ),
    cause(
        "driver-too-old",
        &[
            &["the nvidia driver on your system is too old"],
            &["cuda driver version is insufficient for cuda runtime version"],
            &["cuda_error_insufficient_driver"],
            &["error 35:"],
            &["nvidia-container-cli: requirement error: unsatisfied condition: cuda>="],
        ],
    ),
    cause(
        "ptx-too-new",
        &[
            &["provided ptx was compiled with an unsupported toolchain"],
            &["cuda_error_unsupported_ptx_version"],
            &["error 222:"],
        ],
    ),
    cause(
        "architecture-missing",
        &[
            &["no kernel image is available for execution"],
            &["is not compatible with the current pytorch installation"],
            &["hiperrornobinaryforgpu"],
            &["invalid device function"],
            &["no binary for gpu"],
            &["unable to find code object for all current devices"],
            &["cuda_error_no_binary_for_gpu"],
        ],
    ),
    cause(
        "uvm",
        &[
            &["cuda unknown error - this may be due to an incorrectly set up environment"],
            &["cuda_error_unknown"],
            &["error 999:"],
        ],
    ),
    // Containers.
    cause(
        "toolkit-missing",
        &[
            &["could not select device driver", "gpu"],
            &["unknown or invalid runtime name: nvidia"],
            &["unresolvable cdi devices"],
            &["nvidia-container-cli: initialization error"],
        ],
    ),
    cause(
        "shared-memory",
        &[
            &["error while creating shared memory segment"],
            &["unable to open shared memory object"],
            &["dataloader worker", "bus error"],
            &["insufficient shared memory"],
            &["/dev/shm", "no space left on device"],
            &["no space left on device", "shared memory"],
        ],
    ),
    // AMD.
    cause("node-refused", &[&["/dev/kfd", "invalid argument"], &["/dev/kfd", "einval"]]),
    cause(
        "node-denied",
        &[
            &["/dev/kfd", "permission denied"],
            &["hsa_status_error_out_of_resources"],
            &["is not member of", "render"],
            &["/dev/nvidia", "permission denied"],
            &["/dev/dri", "permission denied"],
        ],
    ),
    cause("rocm-agent", &[&["gfx902"], &["gfx90c"], &["hsa_override_gfx_version"]]),
    // Wheels and environments.
    cause(
        "cpu-wheel",
        &[&["torch not compiled with cuda enabled"], &["attempting to deserialize object on a cuda device"]],
    ),
    cause(
        "runtime-major",
        &[
            &["libcudart.so.", "cannot open shared object file"],
            &["libcublas.so.", "cannot open shared object file"],
            &["libcudnn", "cannot open shared object file"],
            &["libnvrtc.so.", "cannot open shared object file"],
            &["libamdhip64.so", "cannot open shared object file"],
        ],
    ),
    cause(
        "extension-of-other-torch",
        &[&["undefined symbol", "c10"], &["undefined symbol", "at4"], &["undefined symbol", "torch"]],
    ),
    cause("libc-too-old", &[&["version `glibc_"], &["version `glibcxx_"]]),
    cause(
        "build-isolation",
        &[
            &["modulenotfounderror: no module named 'torch'", "build"],
            &["getting requirements to build wheel", "no module named 'torch'"],
        ],
    ),
    cause(
        "compiler-missing",
        &[
            &["cuda_home environment variable is not set"],
            &["nvcc", "not found"],
            &["unable to find a working c compiler"],
            &["failed to find c compiler"],
        ],
    ),
    cause(
        "other-interpreter",
        &[
            &["no module named 'encodings'"],
            &["bad interpreter"],
            &["could not find platform independent libraries"],
        ],
    ),
    cause("managed-environment", &[&["externally-managed-environment"]]),
    cause("architecture-of-program", &[&["exec format error"], &["wrong elf class"]]),
    cause("module-missing", &[&["modulenotfounderror"], &["no module named"]]),
    cause("mig-number", &[&["invalid literal for int()", "mig-"], &["invalid literal for int()", "gpu-"]]),
    // Memory and disk, after everything that names them in passing.
    cause(
        "kv-cache",
        &[
            &["free memory on device", "is less than desired gpu memory utilization"],
            &["no available memory for the cache blocks"],
        ],
    ),
    cause(
        "card-memory-full",
        &[
            &["cuda out of memory"],
            &["outofmemoryerror"],
            &["hip out of memory"],
            &["cublas_status_alloc_failed"],
            &["cuda_error_out_of_memory"],
            &["cudamalloc failed: out of memory"],
        ],
    ),
    cause(
        "machine-memory-full",
        &[&["cannot allocate memory"], &["memoryerror"], &["oom-kill"], &["out of memory: killed process"]],
    ),
    cause("disk-full", &[&["no space left on device"], &["disk quota exceeded"]]),
    cause("read-only", &[&["read-only file system"]]),
    // Blender and displays.
    cause(
        "needs-display",
        &[
            &["unable to open a display"],
            &["failed to create egl"],
            &["could not connect to display"],
            &["qt.qpa.xcb"],
            &["gpu backend", "not supported"],
        ],
    ),
    cause(
        "optix-missing",
        &[&["optix", "not found"], &["optix_error"], &["failed to load optix"], &["libnvoptix"]],
    ),
    // Between cards.
    cause(
        "collective",
        &[
            &["nccl error"],
            &["ncclunhandledcudaerror"],
            &["ncclsystemerror"],
            &["rccl error"],
            &["ncclremoteerror"],
        ],
    ),
    // Access and networks, which no reinstallation mends.
    cause(
        "gated-model",
        &[
            &["gated repo"],
            &["401 client error"],
            &["403 client error"],
            &["access to model", "is restricted"],
        ],
    ),
    cause(
        "no-network",
        &[
            &["temporary failure in name resolution"],
            &["network is unreachable"],
            &["name or service not known"],
            &["failed to establish a new connection"],
            &["couldn't connect to"],
        ],
    ),
    cause("port-taken", &[&["address already in use"]]),
    cause("remote-code", &[&["trust_remote_code"]]),
    cause(
        "model-unknown",
        &[&["does not recognize this architecture"], &["model architectures", "are not supported"]],
    ),
];

/// The code of the first cause whose words stand in `words`; none where nothing is recognised.
#[must_use]
pub fn recognise(words: &str) -> Option<&'static str> {
    let mut words = words.to_lowercase();
    for number in xids(&words) {
        words.push_str(&format!(" xid={number};"));
    }
    let stands = |group: &&[&str]| group.iter().all(|part| words.contains(part));
    CAUSES.iter().find(|cause| cause.any.iter().any(&stands)).map(|cause| cause.code)
}

/// Numbers of the kernel's reports of a card: `NVRM: Xid (PCI:0000:41:00): 79, ...`, or `Xid 79`.
fn xids(words: &str) -> Vec<u32> {
    words
        .match_indices("xid")
        .filter_map(|(at, _)| {
            let rest = words[at + 3..].trim_start();
            let rest = rest
                .strip_prefix('(')
                .and_then(|inside| inside.split_once(')'))
                .map_or(rest, |(_, after)| after);
            let digits: String =
                rest.trim_start_matches([':', ' ']).chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        })
        .collect()
}

/// The rung that looks at a recognised cause: where climbing saves time, since what stands before it is not in question.
#[must_use]
pub fn rung_of(cause: &str) -> RungCode {
    match cause {
        "machine-memory-full" | "disk-full" | "read-only" | "shared-memory" | "libc-too-old" => {
            RungCode::System
        }
        "other-interpreter" | "managed-environment" | "architecture-of-program" => RungCode::Interpreter,
        "module-missing" | "build-isolation" | "compiler-missing" => RungCode::Environment,
        "card-lost" => RungCode::Bus,
        "driver-library-differs"
        | "compat-on-consumer-card"
        | "driver-not-loaded"
        | "no-driver"
        | "optix-missing" => RungCode::Driver,
        "uvm" | "node-denied" | "no-permission-nvml" => RungCode::Nodes,
        "toolkit-missing" | "container-lost-card" | "node-refused" => RungCode::Container,
        "fabric-manager" => RungCode::Fabric,
        "no-devices" | "mig-number" | "rocm-agent" => RungCode::Cards,
        "cpu-wheel" | "driver-too-old" => RungCode::Wheel,
        "architecture-missing" | "ptx-too-new" => RungCode::Capability,
        "card-memory-damaged" | "card-memory-fault" => RungCode::Computation,
        "card-memory-full" | "kv-cache" => RungCode::Memory,
        "collective" => RungCode::Peers,
        "runtime-major" | "extension-of-other-torch" => RungCode::Extensions,
        "gated-model" | "no-network" | "remote-code" | "model-unknown" => RungCode::Model,
        _ => RungCode::Engine,
    }
}

/// The rung that looks at a step of an engine, where its words were not recognised.
#[must_use]
pub fn rung_of_step(step: &str) -> RungCode {
    match step {
        "model" | "load model" => RungCode::Model,
        "compute" | "submit" | "send" | "run" | "end" | "guard" | "place the categories" => RungCode::Items,
        _ => RungCode::Engine,
    }
}

/// Every code, for tests of the messages.
#[must_use]
pub fn codes() -> Vec<&'static str> {
    CAUSES.iter().map(|cause| cause.code).collect()
}
