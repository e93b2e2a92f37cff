//! From a project's files to backends, conflicts and the wheel index.

use std::path::Path;

use pilote_size::libraries::{
    Build, Conflict, Index, Libraries, OwnCode, Platform, Runs, index, libraries, requirement,
};
use pilote_size::memory::Backend;

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn found(files: &[(&str, &str)], planned: Option<Backend>) -> Libraries {
    libraries(project(files).path(), planned).unwrap()
}

#[test]
fn requirements_are_read_as_pip_reads_them() {
    let read = |text: &str| requirement(text, "r").map(|one| (one.name, one.version));
    assert_eq!(
        read("Torch_Vision[extra] == 0.23.0+cu128 ; python_version > '3'"),
        Some(("torch-vision".into(), Some("0.23.0+cu128".into())))
    );
    assert_eq!(read("flash-attn>=2.6"), Some(("flash-attn".into(), None)));
    assert_eq!(read("numpy==2.3.0 \\"), Some(("numpy".into(), Some("2.3.0".into()))));
    let wheel = "torch @ https://host/whl/torch-2.8.0%2Bcu128-cp312-cp312-linux_x86_64.whl#sha256=00";
    assert_eq!(read(wheel), Some(("torch".into(), Some("2.8.0+cu128".into()))));
    assert_eq!(read(""), None);
    assert_eq!(read("./local"), None);
}

#[test]
fn tags_of_wheels_say_what_they_were_built_for() {
    let cuda = |major, minor| Some(Build::Cuda { major, minor });
    assert_eq!(Build::of_version("2.8.0+cu128"), cuda(12, Some(8)));
    assert_eq!(Build::of_version("2.7.1+cu118torch2.7cxx11abiTRUE"), cuda(11, Some(8)));
    assert_eq!(Build::of_version("2.9.0+rocm6.4"), Some(Build::Rocm { version: "6.4".into() }));
    assert_eq!(Build::of_version("2.9.0+cpu"), Some(Build::Cpu));
    assert_eq!(Build::of_version("2.9.0"), None);
    assert_eq!(Build::of_name("cupy-cuda12x"), cuda(12, None));
    assert_eq!(Build::of_name("nvidia-cudnn-cu13"), cuda(13, None));
    assert_eq!(Build::of_name("cubic"), None);
    for tag in ["cu128", "rocm6.4", "cpu"] {
        assert_eq!(Build::of_tag(tag).unwrap().tag(), tag);
    }
}

#[test]
fn every_kind_of_file_names_its_libraries_with_their_place() {
    let found = found(
        &[
            (
                "requirements-rebuild.txt",
                "# c\ntorch==2.8.0+cu128\n--extra-index-url https://host/whl/cu128\nrequests==2\n",
            ),
            (
                "pyproject.toml",
                "[project]\ndependencies = [\"vllm>=0.10\"]\n[dependency-groups]\ndev = [\"xformers\"]\n[tool.poetry.dependencies]\npython = \"^3.12\"\nbitsandbytes = \"0.46.0\"\n",
            ),
            (
                "uv.lock",
                "version = 1\n[[package]]\nname = \"deepspeed\"\nversion = \"0.17.0\"\nsource = { registry = \"https://host/simple\" }\n",
            ),
            ("poetry.lock", "[[package]]\nname = \"peft\"\nversion = \"0.17.0\"\n"),
            (
                "environment.yml",
                "name: x\nchannels:\n  - conda-forge\ndependencies:\n  - python=3.12\n  - faiss-gpu=1.9=cuda12\n  - pip:\n    - trl==0.20\nprefix: /x\n",
            ),
            (
                "Dockerfile",
                "FROM nvidia/cuda:12.8.0-runtime-ubuntu24.04 AS base\nFROM base\nRUN apt-get install -y x && pip install --no-cache-dir flashinfer-python==0.3 \\\n  accelerate\n",
            ),
            (
                "src/run.py",
                "import cupy as cp, os\nfrom sentence_transformers import SentenceTransformer\nfrom .local import x\n",
            ),
        ],
        None,
    );
    let names: Vec<&str> = found.known.iter().map(|one| one.name.as_str()).collect();
    for name in [
        "accelerate",
        "bitsandbytes",
        "cupy-cuda*",
        "deepspeed",
        "faiss-gpu",
        "flashinfer-python",
        "peft",
        "sentence-transformers",
        "torch",
        "trl",
        "vllm",
        "xformers",
    ] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    let torch = found.known.iter().find(|one| one.name == "torch").unwrap();
    assert_eq!(torch.places, ["requirements-rebuild.txt:2"]);
    assert_eq!((torch.cuda, torch.rocm, torch.cpu), (Runs::Yes, Runs::No, Runs::Yes));
    assert_eq!(found.indexes, [("cu128".to_owned(), "requirements-rebuild.txt:3".to_owned())]);
    assert_eq!(found.images.len(), 1, "a stage of its own is no image: {:?}", found.images);
    assert_eq!(found.images[0].1, Some(Backend::Cuda));
    assert!(found.unknown.contains(&"requests".to_owned()));
    assert_eq!(found.files.len(), 6);
}

#[test]
fn what_forces_a_choice_is_named_and_rules_the_rest_out() {
    let cuda = found(&[("requirements.txt", "torch\ntensorrt==10.0\n")], None);
    assert_eq!(cuda.known.iter().find(|one| one.name == "tensorrt").unwrap().forces, Some(Backend::Cuda));
    assert_eq!(cuda.possible, [Backend::Cuda]);
    let free = found(&[("requirements.txt", "transformers\npeft\n")], None);
    assert_eq!(free.possible, [Backend::Cuda, Backend::Rocm, Backend::Cpu]);
    assert!(free.known.iter().all(|one| one.forces.is_none()));
}

#[test]
fn wheels_for_two_cuda_majors_are_a_conflict() {
    let found = found(&[("requirements.txt", "nvidia-cudnn-cu12==9\ntorch==2.9.0+cu130\n")], None);
    let Some(Conflict::CudaMajors { names }) = found.conflicts.first() else {
        panic!("{:?}", found.conflicts)
    };
    assert_eq!(
        names,
        &["CUDA 12: nvidia-cudnn-cu12 (requirements.txt:1)", "CUDA 13: torch (requirements.txt:2)"]
    );
}

#[test]
fn a_cuda_wheel_planned_for_an_amd_card_is_a_conflict() {
    let found = found(&[("requirements.txt", "torch==2.8.0+cu128\n")], Some(Backend::Rocm));
    let expected = Conflict::NotOnPlanned {
        name: "torch".into(),
        planned: Backend::Rocm,
        place: "requirements.txt:1".into(),
    };
    assert_eq!(found.conflicts, [expected]);
}

#[test]
fn an_index_for_one_backend_beside_a_wheel_for_another_is_a_conflict() {
    let text = "--index-url https://host/whl/rocm6.4\nxformers==0.0.30+cu128\n";
    let found = found(&[("requirements.txt", text)], None);
    assert!(
        found.conflicts.iter().any(|one| matches!(one, Conflict::Backends { names } if names.len() == 2)),
        "{:?}",
        found.conflicts
    );
}

#[test]
fn a_wheel_inside_of_an_image_for_another_backend_is_a_conflict() {
    let files = [("requirements.txt", "torch==2.8.0+cu128\n"), ("Dockerfile", "FROM rocm/pytorch:latest\n")];
    let found = found(&files, None);
    let Some(Conflict::Backends { names }) = found.conflicts.first() else { panic!("{:?}", found.conflicts) };
    assert_eq!(
        names,
        &["CUDA: torch (requirements.txt:1)", "ROCm: image rocm/pytorch:latest (Dockerfile:1)"]
    );
}

#[test]
fn one_package_pinned_twice_is_a_conflict_with_both_places() {
    let found = found(
        &[("requirements.txt", "torch==2.7.0\n"), ("requirements-rebuild.txt", "torch==2.8.0\n")],
        None,
    );
    let Some(Conflict::Versions { versions, .. }) = found.conflicts.first() else {
        panic!("{:?}", found.conflicts)
    };
    assert_eq!(versions, &["2.7.0 (requirements.txt:1)", "2.8.0 (requirements-rebuild.txt:1)"]);
}

#[test]
fn custom_kernels_and_model_code_are_found_with_their_place() {
    let found = found(
        &[
            ("src/kernels/scan.cu", "__global__ void f() {}"),
            ("src/build.py", "from torch.utils.cpp_extension import load\next = CUDAExtension('x', [])\n"),
            ("src/kernel.py", "@triton.jit\ndef f(): pass\n"),
            (
                "src/model.py",
                "m = AutoModel.from_pretrained(x, trust_remote_code = True)\n# trust_remote_code=True\n",
            ),
            ("runs/old.py", "import tensorrt\n"),
        ],
        None,
    );
    let kinds: Vec<OwnCode> = found.own_code.iter().map(|(kind, _)| *kind).collect();
    for kind in [OwnCode::CudaSource, OwnCode::TorchExtension, OwnCode::TritonKernel, OwnCode::ModelCode] {
        assert_eq!(kinds.iter().filter(|one| **one == kind).count(), 1, "{kind:?} in {:?}", found.own_code);
    }
    assert_eq!(found.possible, [Backend::Cuda], "CUDA source forces NVIDIA cards");
    assert!(found.known.iter().all(|one| one.name != "tensorrt"), "runs/ holds no sources");
}

#[test]
fn a_file_that_is_no_toml_is_named_with_its_line() {
    let folder = project(&[("pyproject.toml", "[project\nname = 1\n")]);
    let error = libraries(folder.path(), None).unwrap_err();
    assert_eq!(error.code(), "bad-table");
    assert!(
        error.to_string().starts_with("pyproject.toml: ") && error.to_string().contains("line 1"),
        "{error}"
    );
    assert_eq!(libraries(Path::new("/nonexistent"), None).unwrap_err().code(), "unreadable");
}

fn platform(backend: Option<Backend>, driver: &str, capability: &str) -> Platform {
    Platform {
        system: "linux".into(),
        architecture: "x86_64".into(),
        python: Some(12),
        backend,
        driver: Some(driver.to_owned()).filter(|text| !text.is_empty()),
        capability: Some(capability.to_owned()).filter(|text| !text.is_empty()),
    }
}

fn named(platform: &Platform) -> String {
    match index(platform).unwrap() {
        Index::Named { name, source, checked } => {
            assert!(!source.is_empty() && checked.len() == 10);
            name
        }
        Index::None { why, .. } => why,
    }
}

#[test]
fn the_wheel_index_fits_system_python_driver_and_card_that_were_found() {
    let cuda = Some(Backend::Cuda);
    assert_eq!(named(&platform(cuda, "580.95.05", "9.0")), "cu130");
    assert_eq!(named(&platform(cuda, "570.133.20", "12.0")), "cu128");
    assert_eq!(named(&platform(cuda, "535.104.05", "8.0")), "cu126");
    assert_eq!(named(&platform(Some(Backend::Rocm), "", "")), "rocm6.4");
    assert_eq!(named(&platform(None, "", "")), "cpu");
    let mac = Platform { system: "macos".into(), architecture: "arm64".into(), ..platform(None, "", "") };
    assert_eq!(named(&mac), "cpu");
}

#[test]
fn where_no_wheel_fits_the_reason_is_said() {
    let cuda = Some(Backend::Cuda);
    assert!(named(&platform(cuda, "470.1", "8.0")).contains("driver 470.1"));
    assert!(named(&platform(cuda, "", "8.0")).contains("driver ?"), "an unknown driver rules nothing in");
    assert!(
        named(&platform(cuda, "535.104.05", "12.0")).contains("card 12.0"),
        "cu126 has no kernels for it"
    );
    let old = Platform { python: Some(8), ..platform(cuda, "580.95", "9.0") };
    assert!(named(&old).contains("Python 3.10 to 3.14, and this is 3.8"), "{}", named(&old));
    let windows = Platform { system: "windows".into(), ..platform(Some(Backend::Rocm), "", "") };
    assert!(named(&windows).contains("for rocm are published for windows-x86_64"), "{}", named(&windows));
    let blind = Platform { python: None, ..platform(cuda, "580.95", "9.0") };
    assert!(named(&blind).contains("no Python was found"));
}
