#!/usr/bin/env python3
"""What this machine and this Python really have, as one JSON object (pilote.facts/1).

Standard library only, Python 3.8 or later. It changes nothing: it reads files, asks the drivers' own programs, imports
what is installed, and computes something whose result is known.

    python3 diagnose.py > facts.json        every fact; a few verdicts on standard error
    python3 diagnose.py --no-compute        without computing
    pilote check --facts facts.json         judges them, on any machine

Use the interpreter of the project: that of its virtual environment, where it has one.
"""

import argparse
import ctypes
import errno
import hashlib
import importlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import time
import traceback
import warnings

FORMAT = "pilote.facts/1"

# The one list of what is copied from a machine. Pilote reads this very text out of this file and copies the same things
# itself where no Python is needed; only Pilote interprets them.
LOOK = json.loads(r"""
{
  "files": {
    "etc/os-release": 4096,
    "proc/sys/kernel/osrelease": 256,
    "proc/cpuinfo": 4096,
    "proc/meminfo": 4096,
    "proc/self/status": 8192,
    "proc/self/cgroup": 4096,
    "run/systemd/container": 64,
    "proc/driver/nvidia/version": 1024,
    "sys/module/nvidia/version": 64,
    "sys/module/amdgpu/version": 64,
    "sys/module/amdgpu/initstate": 64,
    "sys/module/nvidia/initstate": 64,
    "sys/module/nvidia_uvm/initstate": 64,
    "sys/module/nouveau/initstate": 64,
    "etc/apt/apt.conf.d/20auto-upgrades": 4096
  },
  "digests": ["etc/machine-id", "proc/sys/kernel/hostname"],
  "lines": { "proc/modules": ["nvidia", "nouveau", "amdgpu"] },
  "names": {
    "": [".dockerenv"],
    "run": [".containerenv"],
    "lib": ["ld-musl"],
    "dev": ["nvidia", "kfd", "dxg"],
    "dev/dri": ["renderD"],
    "dev/nvidia-caps": ["nvidia-cap"],
    "usr/lib/x86_64-linux-gnu": ["libcuda.so", "libnvidia-ml.so", "libnvoptix.so", "libnvidia-rtcore.so", "libnvidia-ptxjitcompiler.so"],
    "usr/lib/aarch64-linux-gnu": ["libcuda.so", "libnvidia-ml.so", "libnvoptix.so", "libnvidia-rtcore.so", "libnvidia-ptxjitcompiler.so"],
    "usr/lib64": ["libcuda.so", "libnvidia-ml.so", "libnvoptix.so", "libnvidia-rtcore.so", "libnvidia-ptxjitcompiler.so"],
    "usr/local/nvidia/lib64": ["libcuda.so", "libnvidia-ml.so", "libnvoptix.so", "libnvidia-rtcore.so"],
    "usr/lib/wsl/lib": ["libcuda.so", "libnvidia-ml.so"],
    "usr/local/cuda/compat": ["libcuda.so"],
    "opt/rocm/.info": ["version"]
  },
  "nodes": { "dev": true, "dev/dri": true, "dev/nvidia-caps": false },
  "makers": ["0x10de", "0x1002"],
  "variables": [
    "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",
    "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "HSA_OVERRIDE_GFX_VERSION",
    "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX", "DISPLAY"
  ],
  "programs": {
    "libc": { "argv": ["getconf", "GNU_LIBC_VERSION"], "step": "system" },
    "nvidia-cards": {
      "argv": ["nvidia-smi", "--query-gpu=index,uuid,name,memory.total,memory.free,driver_version,mig.mode.current,pci.bus_id", "--format=csv,noheader,nounits"],
      "step": "cards"
    },
    "nvidia-capability": { "argv": ["nvidia-smi", "--query-gpu=uuid,compute_cap", "--format=csv,noheader,nounits"], "step": "cards" },
    "nvidia-holders": {
      "argv": ["nvidia-smi", "--query-compute-apps=gpu_uuid,pid,process_name,used_memory", "--format=csv,noheader,nounits"],
      "step": "cards"
    },
    "nvidia-list": { "argv": ["nvidia-smi", "-L"], "step": "cards" },
    "nvidia-fabric": { "argv": ["nvidia-smi", "-q"], "step": "fabric", "when": "nvidia-nvswitch" },
    "fabric-manager": { "argv": ["nv-fabricmanager", "--version"], "step": "fabric", "when": "nvidia-nvswitch" },
    "amd-static": { "argv": ["amd-smi", "static", "--json"], "step": "cards", "when": "kfd" },
    "amd-memory": { "argv": ["amd-smi", "metric", "--mem-usage", "--json"], "step": "cards", "when": "kfd" },
    "amd-holders": { "argv": ["amd-smi", "process", "--json"], "step": "cards", "when": "kfd" }
  }
}
""")

ERRORS = {1: "EPERM", 2: "ENOENT", 5: "EIO", 6: "ENXIO", 13: "EACCES", 16: "EBUSY", 19: "ENODEV", 22: "EINVAL", 28: "ENOSPC", 30: "EROFS"}
SECONDS = {"interpreter": 60, "torch": 180, "driver": 60, "compute": 300, "peers": 180, "extensions": 300}
PROGRAM_SECONDS = 30
LINES_KEPT = 40


def error_name(error):
    number = error.errno if isinstance(error, OSError) else None
    if number is None:
        return str(error)
    return ERRORS.get(number, "errno %d" % number)


def last_lines(text):
    return "\n".join(text.strip().splitlines()[-LINES_KEPT:])


# ---------------------------------------------------------------------------------------------- the machine, copied


def text_of(root, path, limit):
    try:
        with open(os.path.join(root, path), "rb") as file:
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return None


def names_in(folder, starts):
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    return sorted(name for name in names if any(name.startswith(start) for start in starts))


def node_of(path, is_opened):
    try:
        facts = os.stat(path)
    except OSError:
        return None
    if os.path.isdir(path):
        return None
    node = {"mode": facts.st_mode & 0o7777, "uid": facts.st_uid, "gid": facts.st_gid}
    if is_opened:
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CLOEXEC))
            node["opened"] = "ok"
        except OSError as error:
            node["opened"] = error_name(error)
    return node


def bus_of(root):
    folder = os.path.join(root, "sys/bus/pci/devices")
    devices = []
    for address in names_in(folder, [""]) or []:
        fields = {}
        for name in ("vendor", "device", "class"):
            fields[name] = (text_of(folder, address + "/" + name, 64) or "").strip()
        if fields["vendor"] not in LOOK["makers"]:
            continue
        if not fields["class"].startswith(("0x03", "0x12", "0x0680")):
            continue
        fields["address"] = address
        try:
            fields["driver"] = os.path.basename(os.readlink(os.path.join(folder, address, "driver")))
        except OSError:
            pass
        devices.append(fields)
    return devices


def still(root):
    """Files, names, nodes, bus and variables: everything that needs no program."""
    files, names, nodes = {}, {}, {}
    for path, limit in LOOK["files"].items():
        text = text_of(root, path, limit)
        if text is not None:
            files[path] = text
    for path in LOOK["digests"]:
        text = (text_of(root, path, 4096) or "").strip()
        if text:
            files[path] = "sha256:" + hashlib.sha256(text.encode("utf-8")).hexdigest()
    for path, starts in LOOK["lines"].items():
        text = text_of(root, path, 1 << 20)
        if text is not None:
            kept = [line for line in text.splitlines() if line.startswith(tuple(starts))]
            files[path] = "".join(line + "\n" for line in kept)
    for folder, starts in LOOK["names"].items():
        found = names_in(os.path.join(root, folder), starts)
        if found is not None:
            names[folder] = found
    for folder, is_opened in LOOK["nodes"].items():
        for name in names.get(folder, []):
            node = node_of(os.path.join(root, folder, name), is_opened)
            if node is not None:
                nodes[folder + "/" + name] = node
    variables = {name: os.environ[name] for name in LOOK["variables"] if name in os.environ}
    evidence = {"files": files, "names": names, "nodes": nodes, "bus": bus_of(root), "variables": variables}
    return {name: value for name, value in evidence.items() if value}


def run(argv, seconds):
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"late": True}
    except OSError as error:
        if error.errno == errno.ENOENT:
            return {"missing": True}
        return {"err": str(error)}
    said = {}
    if done.returncode >= 0:
        said["status"] = done.returncode
    for name, stream in (("out", done.stdout), ("err", done.stderr)):
        text = stream.decode("utf-8", "replace")
        if text:
            said[name] = text
    return said


def asked(evidence):
    said = {}
    for name, program in sorted(LOOK["programs"].items()):
        start = program.get("when")
        devices = evidence.get("names", {}).get("dev", [])
        if start is None or any(device.startswith(start) for device in devices):
            said[name] = run(program["argv"], PROGRAM_SECONDS)
    return said


def room_of(folder, is_written):
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    room = {"path": folder}
    try:
        facts = os.statvfs(folder)
        room["total_bytes"] = facts.f_blocks * facts.f_frsize
        room["free_bytes"] = facts.f_bavail * facts.f_frsize
    except (OSError, AttributeError):
        pass
    if is_written:
        path = os.path.join(folder, ".pilote-check-%d" % os.getpid())
        block = hashlib.sha256(b"pilote").digest() * 2048
        start = time.monotonic()
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                for _ in range(128):
                    os.write(file, block)
                os.fsync(file)
            finally:
                os.close(file)
                os.unlink(path)
            took = time.monotonic() - start
            if took > 0:
                room["bytes_a_second"] = int(128 * len(block) / took)
        except OSError as error:
            room["error"] = error_name(error)
    return room


def machine(root, project):
    evidence = still(root)
    evidence["room"] = {
        "runs": room_of(os.path.join(project, "runs"), True),
        "temporary": room_of(os.environ.get("TMPDIR") or "/tmp", False),
        "shared": room_of(os.path.join(root, "dev/shm"), False),
    }
    evidence["said"] = asked(evidence)
    return evidence


# ------------------------------------------------------------------------------------------ the interpreter and packages


def pip_of():
    """The pip of this very interpreter, and the one that the word `pip` means; none where there is none."""
    facts = {}
    spec = importlib.util.find_spec("pip")
    if spec and spec.origin:
        facts["own"] = os.path.dirname(spec.origin)
    on_path = shutil.which("pip")
    if on_path:
        facts["on_path"] = on_path
        try:
            with open(on_path, "rb") as file:
                first = file.readline(512).decode("utf-8", "replace").strip()
            if first.startswith("#!"):
                facts["interpreter_of_path"] = first[2:].strip()
        except OSError:
            pass
    return facts


def standard_names():
    known = getattr(sys, "stdlib_module_names", None)
    if known:
        return set(known)
    folder = sysconfig.get_paths()["stdlib"]
    names = {os.path.splitext(name)[0] for name in os.listdir(folder) if name.endswith(".py")}
    names |= {name for name in os.listdir(folder) if os.path.isfile(os.path.join(folder, name, "__init__.py"))}
    return names | set(sys.builtin_module_names)


def shadows_of(folders, installed):
    """Files of the project that hide a module of Python or of a package."""
    hidden = []
    known = standard_names()
    for folder in folders:
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            path = os.path.join(folder, name)
            module = name[:-3] if name.endswith(".py") else name
            is_module = name.endswith(".py") or os.path.isfile(os.path.join(path, "__init__.py"))
            if is_module and not module.startswith("_") and (module in known or module in installed):
                hidden.append({"module": module, "file": path, "hides": "python" if module in known else "package"})
    return hidden


def packages_of(wanted, budget):
    """Distributions that this interpreter would import, first found first, with what their records say."""
    from importlib import metadata

    seen, packages, modules = {}, [], set()
    for found in metadata.distributions():
        name = found.metadata["Name"] if found.metadata else None
        if not name:
            continue
        key = "".join("-" if c in "-_." else c for c in name.lower())
        place = str(getattr(found, "_path", ""))
        if key in seen:
            if place != seen[key].get("place"):
                seen[key].setdefault("also", []).append({"version": found.version, "place": place})
            continue
        package = {"name": key, "version": found.version, "place": place}
        seen[key] = package
        packages.append(package)
        tops = found.read_text("top_level.txt")
        modules |= set((tops or name.replace("-", "_")).split())
        wheel = found.read_text("WHEEL")
        if wheel:
            package["tags"] = [line[5:].strip() for line in wheel.splitlines() if line.startswith("Tag: ")][:8]
        origin = found.read_text("direct_url.json")
        if origin:
            try:
                package["origin"] = without_access(json.loads(origin))
            except ValueError:
                pass
        if key in wanted:
            checked, changed, budget = record_of(found, budget)
            package["checked_bytes"] = checked
            if changed:
                package["changed"] = changed[:10]
    return packages, modules


def without_access(origin):
    """Where a package was installed from, without a user and password in the address."""
    url = origin.get("url", "")
    scheme, mark, rest = url.partition("://")
    if mark and "@" in rest.split("/")[0]:
        origin["url"] = scheme + mark + rest.split("@", 1)[1]
    return origin


def record_of(found, budget):
    """Compares files of a package with the digests that were written down when it was installed."""
    import base64

    checked, changed = 0, []
    for file in found.files or []:
        if not file.hash or file.hash.mode != "sha256" or file.size is None or file.size > budget:
            continue
        try:
            with open(str(file.locate()), "rb") as opened:
                digest = hashlib.sha256(opened.read()).digest()
        except OSError:
            changed.append(str(file))
            continue
        checked += file.size
        budget -= file.size
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != file.hash.value:
            changed.append(str(file))
    return checked, changed, budget


def interpreter(request):
    project = request.get("project") or os.getcwd()
    wanted = set(request.get("packages", []))
    packages, modules = packages_of(wanted, 32 << 20)
    folders = [os.path.join(project, folder) for folder in request.get("folders", ["src"])]
    facts = {
        "executable": sys.executable,
        "real": os.path.realpath(sys.executable),
        "prefix": sys.prefix,
        "base_prefix": sys.base_prefix,
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": sysconfig.get_platform(),
        "path": [entry for entry in sys.path[1:] if entry],
        "user_packages": bool(importlib.import_module("site").ENABLE_USER_SITE),
        "externally_managed": os.path.exists(os.path.join(sysconfig.get_paths()["stdlib"], "EXTERNALLY-MANAGED")),
        "pip": pip_of(),
    }
    on_path = shutil.which("python3")
    if on_path:
        facts["on_path"] = on_path
    return {"interpreter": facts, "packages": packages, "shadows": shadows_of(folders, modules)}


# ----------------------------------------------------------------------------------------------------- PyTorch and cards


def failure(error):
    """The error in its own words, with the last lines of where it came from."""
    return {
        "type": type(error).__name__,
        "message": str(error)[:2000],
        "lines": last_lines("".join(traceback.format_exception(type(error), error, error.__traceback__))),
    }


def torch_facts(_request):
    facts = {}
    if importlib.util.find_spec("torch") is None:
        return {"torch": None}
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            import torch

            facts["version"] = torch.__version__
            facts["file"] = torch.__file__
            facts["cuda"] = torch.version.cuda
            facts["hip"] = getattr(torch.version, "hip", None)
            facts["available"] = bool(torch.cuda.is_available())
            facts["count"] = torch.cuda.device_count()
            facts["built_for"] = list(torch.cuda.get_arch_list()) if facts["available"] else built_for(torch)
            if facts["available"]:
                facts["cards"] = [torch_card(torch, index) for index in range(facts["count"])]
            elif facts["cuda"] or facts["hip"]:
                try:
                    torch.zeros(1, device="cuda")
                except Exception as error:
                    facts["error"] = failure(error)
        facts["warnings"] = [str(warning.message)[:1000] for warning in said][:10]
    except BaseException as error:
        facts["error"] = failure(error)
    return {"torch": {name: value for name, value in facts.items() if value is not None}}


def built_for(torch):
    """The architectures that a wheel was built for, asked without a card where the wheel can say it."""
    try:
        flags = torch._C._cuda_getArchFlags()
        return flags.split() if flags else []
    except Exception:
        return []


def torch_card(torch, index):
    facts = {"index": index}
    try:
        properties = torch.cuda.get_device_properties(index)
        facts["name"] = properties.name
        facts["memory_bytes"] = properties.total_memory
        facts["capability"] = "%d.%d" % (properties.major, properties.minor)
        architecture = getattr(properties, "gcnArchName", None)
        if architecture and getattr(torch.version, "hip", None):
            facts["capability"] = architecture.split(":")[0]
        uuid = getattr(properties, "uuid", None)
        if uuid is not None:
            facts["uuid"] = str(uuid)
        free, _total = torch.cuda.mem_get_info(index)
        facts["free_bytes"] = free
    except Exception as error:
        facts["error"] = failure(error)
    return facts


def driver(_request):
    """NVIDIA's driver interface asked directly, so that its own number of an error is known without any package."""
    facts = {}
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return {"driver": {"error": str(error)}}
    facts["status"] = cuda.cuInit(0)
    version = ctypes.c_int(0)
    if cuda.cuDriverGetVersion(ctypes.byref(version)) == 0 and version.value:
        facts["cuda"] = "%d.%d" % (version.value // 1000, version.value % 1000 // 10)
    if facts["status"] == 0:
        count = ctypes.c_int(0)
        if cuda.cuDeviceGetCount(ctypes.byref(count)) == 0:
            facts["count"] = count.value
            facts["cards"] = [driver_card(cuda, index) for index in range(count.value)]
    return {"driver": facts}


def driver_card(cuda, index):
    device, facts = ctypes.c_int(0), {"index": index}
    if cuda.cuDeviceGet(ctypes.byref(device), index) != 0:
        return facts
    name = ctypes.create_string_buffer(256)
    if cuda.cuDeviceGetName(name, 256, device) == 0:
        facts["name"] = name.value.decode("utf-8", "replace")
    numbers = []
    for attribute in (75, 76):  # compute capability, major and minor
        number = ctypes.c_int(0)
        if cuda.cuDeviceGetAttribute(ctypes.byref(number), attribute, device) == 0:
            numbers.append(number.value)
    if len(numbers) == 2:
        facts["capability"] = "%d.%d" % tuple(numbers)
    return facts


# --------------------------------------------------------------------------------- a computation whose result is known

# Two matrices of small whole numbers that repeat after 11 rows and 13 columns: every product is a whole number that
# single precision holds exactly, and only 143 different ones exist, so each of millions is compared with a known value.
ROWS, COLUMNS = 11, 13
SIZES = (16, 257, 1024)


def left(i, k):
    return (7 * (i % ROWS) + 3 * k) % 11 - 5


def right(k, j):
    return (5 * k + 2 * (j % COLUMNS)) % 7 - 3


def known(size):
    return [[sum(left(i, k) * right(k, j) for k in range(size)) for j in range(COLUMNS)] for i in range(ROWS)]


def torch_matrices(torch, size):
    i, k = torch.arange(size).view(-1, 1), torch.arange(size).view(1, -1)
    a = (7 * (i % ROWS) + 3 * k) % 11 - 5
    b = (5 * i + 2 * (k % COLUMNS)) % 7 - 3
    return a, b


def computed(torch, device, kind, size):
    """One size in one precision on one card: a product and an elementwise kernel, compared on the processor."""
    row = {"device": device, "kind": kind, "size": size, "by": "torch"}
    start = time.monotonic()
    try:
        table = torch.tensor(known(size), dtype=torch.float64)
        index = torch.arange(size)
        expected = table[(index % ROWS).view(-1, 1), (index % COLUMNS).view(1, -1)]
        a, b = torch_matrices(torch, size)
        dtype = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[kind]
        on_card = (a.to(dtype).to(device) @ b.to(dtype).to(device)) * 2 - 1
        if device != "cpu":
            torch.cuda.synchronize(device)
        result = on_card.to("cpu").to(torch.float64)
        expected = expected * 2 - 1
        difference = float((result - expected).abs().max())
        largest = float(expected.abs().max())
        row["difference"] = difference if difference == difference else None
        row["tolerance"] = {"fp32": 0.0, "fp16": 2e-3, "bf16": 1.6e-2}[kind] * largest + (0.0 if kind == "fp32" else 1.0)
        row["right"] = difference == difference and difference <= row["tolerance"]
    except Exception as error:
        row["error"] = failure(error)
    row["seconds"] = round(time.monotonic() - start, 4)
    return row


def compute_numpy(size):
    import numpy

    i, k = numpy.arange(size).reshape(-1, 1), numpy.arange(size).reshape(1, -1)
    a = ((7 * (i % ROWS) + 3 * k) % 11 - 5).astype(numpy.float32)
    b = ((5 * i + 2 * (k % COLUMNS)) % 7 - 3).astype(numpy.float32)
    expected = numpy.array(known(size))[(i % ROWS), (k % COLUMNS)]
    return float(abs(a @ b - expected).max())


def compute_plain(size):
    b = [[float(right(k, j)) for k in range(size)] for j in range(COLUMNS)]
    expected, worst = known(size), 0.0
    for i in range(ROWS):
        row = [float(left(i, k)) for k in range(size)]
        for j in range(COLUMNS):
            worst = max(worst, abs(sum(x * y for x, y in zip(row, b[j])) - expected[i][j]))
    return worst


def on_processor(by, compute, size):
    row = {"device": "cpu", "kind": "fp32", "size": size, "by": by, "tolerance": 0.0}
    start = time.monotonic()
    try:
        row["difference"] = compute(size)
        row["right"] = row["difference"] == 0.0
    except Exception as error:
        row["error"] = failure(error)
    row["seconds"] = round(time.monotonic() - start, 4)
    return row


def compute(request):
    rows = []
    backend = request.get("backend", "")
    if importlib.util.find_spec("torch") is not None:
        try:
            import torch

            devices = ["cpu"]
            if backend != "cpu" and torch.cuda.is_available():
                devices += ["cuda:%d" % index for index in range(torch.cuda.device_count())]
            for device in devices:
                for kind in ("fp32", "fp16", "bf16") if device != "cpu" else ("fp32",):
                    rows += [computed(torch, device, kind, size) for size in SIZES]
        except BaseException as error:
            rows.append({"device": "cpu", "kind": "fp32", "size": 0, "by": "torch", "error": failure(error)})
    elif importlib.util.find_spec("numpy") is not None:
        rows += [on_processor("numpy", compute_numpy, size) for size in SIZES]
    else:
        rows += [on_processor("python", compute_plain, size) for size in (16, 257)]
    return {"computations": rows}


def peers(_request):
    """Copies from each card to each other, and a sum over all cards by the collective library."""
    facts = {"copies": []}
    if importlib.util.find_spec("torch") is None:
        return {"peers": facts}
    try:
        import torch

        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        for one in range(count):
            for other in range(count):
                if one != other:
                    facts["copies"].append(peer_copy(torch, one, other))
        if count > 1:
            facts["collective"] = collective(torch, count)
    except BaseException as error:
        facts["error"] = failure(error)
    return {"peers": facts}


def peer_copy(torch, one, other):
    row = {"from": one, "to": other}
    try:
        row["direct"] = bool(torch.cuda.can_device_access_peer(one, other))
        sent = torch.arange(1 << 20, device="cuda:%d" % one, dtype=torch.int32)
        row["right"] = bool((sent.to("cuda:%d" % other).to("cpu") == torch.arange(1 << 20, dtype=torch.int32)).all())
    except Exception as error:
        row["error"] = failure(error)
    return row


def collective(torch, count):
    try:
        tensors = [torch.full((1024,), float(index + 1), device="cuda:%d" % index) for index in range(count)]
        torch.cuda.nccl.all_reduce(tensors)
        total = count * (count + 1) / 2
        return {"right": all(bool((tensor == total).all()) for tensor in tensors)}
    except Exception as error:
        return {"error": failure(error)}


def extensions(request):
    rows = []
    project = request.get("project") or os.getcwd()
    for wanted in request.get("extensions", []):
        row = {"module": wanted["module"]}
        code = "import importlib; m = importlib.import_module(%r); print(getattr(m, '__version__', ''))" % wanted["module"]
        said = run([sys.executable, "-c", code], 120)
        row["import"] = said
        if said.get("status") == 0 and wanted.get("check"):
            row["check"] = run([sys.executable, os.path.join(project, wanted["check"])], 240)
        rows.append(row)
    return {"extensions": rows}


# ----------------------------------------------------------------------------------------------------------- as a program

STEPS = {
    "interpreter": interpreter,
    "torch": torch_facts,
    "driver": driver,
    "compute": compute,
    "peers": peers,
    "extensions": extensions,
}

SAID = {
    "en": {
        "right": "right: %s, %s results compared",
        "wrong": "WRONG RESULT: %s %s, size %s, difference %s",
        "failed": "failed: %s: %s",
        "ended": "ended without an answer: %s: %s",
        "none": "no card computed anything; PyTorch sees %s",
        "next": "To judge these facts: pilote check --facts FILE",
    },
    "fr": {
        "right": "juste : %s, %s résultats comparés",
        "wrong": "RÉSULTAT FAUX : %s %s, taille %s, écart %s",
        "failed": "échec : %s : %s",
        "ended": "terminé sans réponse : %s : %s",
        "none": "aucune carte n’a calculé ; PyTorch en voit %s",
        "next": "Pour juger ces faits : pilote check --facts FICHIER",
    },
    "ja": {
        "right": "正しい：%s、%s 件の結果を比較",
        "wrong": "結果が誤り：%s %s、サイズ %s、差 %s",
        "failed": "失敗：%s：%s",
        "ended": "応答なく終了：%s：%s",
        "none": "計算したカードはありません。PyTorch から見えるカード：%s",
        "next": "この事実を判定するには：pilote check --facts ファイル",
    },
}


def words():
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "")
        if value:
            return SAID.get(value[:2], SAID["en"])
    return SAID["en"]


def say(text):
    data = (text + "\n").encode("utf-8", "replace")
    getattr(sys.stderr, "buffer", sys.stderr).write(data)
    sys.stderr.flush()


def here(step, request):
    """One step in this process. What libraries print goes to standard error, so that the answer stands alone."""
    answer = os.dup(1)
    os.dup2(2, 1)
    facts = STEPS[step](request)
    with os.fdopen(answer, "w", encoding="utf-8") as file:
        file.write(json.dumps(facts, ensure_ascii=True) + "\n")
    sys.stdout.flush()
    # Libraries of drivers sometimes crash while they are taken down; the answer is out.
    sys.stderr.flush()
    os._exit(0)


def apart(step, request):
    """One step in a process of its own: a crash or a hang of a driver costs that step alone."""
    argv = [sys.executable, os.path.abspath(__file__), "--here", step, "--request", json.dumps(request)]
    said = run(argv, SECONDS[step])
    try:
        return json.loads(said.get("out", ""))
    except ValueError:
        said["err"] = last_lines(said.get("err", ""))
        said.pop("out", None)
        return {"ended": {step: said}}


def verdicts(facts):
    """What needs no judgement: right, wrong, or the error itself."""
    texts = words()
    for step, said in sorted(facts.get("ended", {}).items()):
        say(texts["ended"] % (step, (said.get("err", "").strip().splitlines() or ["late" if said.get("late") else "?"])[-1]))
    rows = facts.get("computations", [])
    for device in sorted({row["device"] for row in rows}):
        mine = [row for row in rows if row["device"] == device]
        for row in mine:
            if "error" in row:
                say(texts["failed"] % (device, row["error"]["message"].strip().splitlines()[0] if row["error"]["message"] else row["error"]["type"]))
                break
            if not row["right"]:
                say(texts["wrong"] % (device, row["kind"], row["size"], row["difference"]))
        if all(row.get("right") for row in mine):
            say(texts["right"] % (device, len(mine)))
    torch = facts.get("torch") or {}
    if rows and all(row["device"] == "cpu" for row in rows):
        say(texts["none"] % torch.get("count", 0))
        if "error" in torch:
            say(texts["failed"] % ("torch", torch["error"]["message"].strip().splitlines()[0]))
    say(texts["next"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--project", default=os.getcwd(), help="the project's folder")
    parser.add_argument("--output", help="write the facts to this file instead of standard output")
    parser.add_argument("--no-compute", action="store_true", help="import nothing heavy and compute nothing")
    parser.add_argument("--root", default="/", help=argparse.SUPPRESS)
    parser.add_argument("--here", choices=sorted(STEPS), help=argparse.SUPPRESS)
    parser.add_argument("--still", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--request", default="{}", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    request = json.loads(arguments.request)
    request.setdefault("project", arguments.project)
    if arguments.here:
        here(arguments.here, request)
    if arguments.still:
        print(json.dumps(still(arguments.root), sort_keys=True))
        return
    facts = {"format": FORMAT, "by": "diagnose.py", "machine": machine(arguments.root, arguments.project)}
    steps = ["interpreter", "driver"] if arguments.no_compute else ["interpreter", "driver", "torch", "compute", "peers"]
    for step in steps:
        found = apart(step, request)
        facts.setdefault("ended", {}).update(found.pop("ended", {}))
        facts.update(found)
    facts["steps"] = ["cards", "fabric", "machine", "system"] + steps
    text = json.dumps(facts, indent=1, sort_keys=True, ensure_ascii=True)
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    else:
        print(text)
    verdicts(facts)


if __name__ == "__main__":
    main()
