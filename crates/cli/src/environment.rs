//! What surrounds a trial and may change its results, as far as it is easy to know at the launch.

use std::path::{Path, PathBuf};

use pilote_spec::{Digest, EnvironmentFacts, Hasher};

use crate::surroundings::Surroundings;

/// Variables that are known to change what libraries compute, or on which device. A fixed list of names whose values
/// are no secrets; anything else of the environment is nobody's business.
const VARIABLES: [&str; 24] = [
    "CUBLAS_WORKSPACE_CONFIG",
    "CUDA_DEVICE_ORDER",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "HSA_OVERRIDE_GFX_VERSION",
    "KMP_AFFINITY",
    "LC_ALL",
    "LANG",
    "MKL_CBWR",
    "MKL_NUM_THREADS",
    "NCCL_ALGO",
    "NVIDIA_TF32_OVERRIDE",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "PYTHONHASHSEED",
    "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF",
    "ROCR_VISIBLE_DEVICES",
    "TOKENIZERS_PARALLELISM",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "TZ",
    "VLLM_ATTENTION_BACKEND",
    "XLA_FLAGS",
];

/// Files below `src/` that are looked at; a project with more of them is no project's own code.
const SOURCES_MAX: usize = 10_000;

/// The facts of this machine and this project.
#[must_use]
pub(crate) fn facts(project: &Path, surroundings: &Surroundings) -> EnvironmentFacts {
    EnvironmentFacts {
        machine: machine(Path::new("/")),
        requirements: fs_err::read(project.join("requirements-rebuild.txt")).ok().map(|it| Digest::of(&it)),
        sources: sources(&project.join("src")),
        variables: VARIABLES
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), surroundings.variable(name)?.to_owned())))
            .collect(),
    }
}

/// A digest that stands for this very machine: of the identity that its system made for it, and of its name, which
/// tells two machines apart that were made from one image. None where the system shows neither.
#[must_use]
pub(crate) fn machine(root: &Path) -> Option<Digest> {
    let text = |path: &str| {
        let text = fs_err::read_to_string(root.join(path)).unwrap_or_default();
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let (identity, name) = (text("etc/machine-id"), text("proc/sys/kernel/hostname"));
    if identity.is_none() && name.is_none() {
        return None;
    }
    // The words before it keep the digest from being that of the identity alone, which other programs may publish.
    let stated = format!("pilote machine\n{}\n{}\n", identity.unwrap_or_default(), name.unwrap_or_default());
    Some(Digest::of(stated.as_bytes()))
}

/// One digest over the files of the project's own code; none where there are none.
fn sources(root: &Path) -> Option<Digest> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).ok()?.flatten() {
            let path = entry.path();
            // What interpreters leave beside the code is made anew from it.
            let made = entry.file_name() == "__pycache__";
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !made => folders.push(path),
                Ok(kind) if kind.is_file() => files.push(path),
                _ => {}
            }
            if files.len() > SOURCES_MAX {
                return None;
            }
        }
    }
    files.sort();
    let mut hasher = Hasher::new();
    for file in &files {
        hasher.update(line(root, file)?.as_bytes());
    }
    (!files.is_empty()).then(|| hasher.finish())
}

/// The line of a file as `sha256sum` writes it.
fn line(root: &Path, file: &PathBuf) -> Option<String> {
    let mut hasher = Hasher::new();
    std::io::copy(&mut fs_err::File::open(file).ok()?, &mut hasher).ok()?;
    Some(format!("{}  {}\n", hasher.finish(), file.strip_prefix(root).ok()?.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edited_source_and_a_renamed_one_change_the_digest_and_bytecode_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        assert_eq!(sources(folder.path()), None);
        write("worker.py", "a");
        let first = sources(folder.path()).unwrap();
        write("__pycache__/worker.pyc", "b");
        assert_eq!(sources(folder.path()), Some(first));
        write("worker.py", "b");
        let second = sources(folder.path()).unwrap();
        assert_ne!(first, second);
        std::fs::remove_file(folder.path().join("worker.py")).unwrap();
        write("other.py", "b");
        assert_ne!(sources(folder.path()), Some(second));
    }

    #[test]
    fn two_machines_of_one_image_are_told_apart_by_their_names() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(machine(root.path()), None);
        std::fs::create_dir_all(root.path().join("etc")).unwrap();
        std::fs::create_dir_all(root.path().join("proc/sys/kernel")).unwrap();
        std::fs::write(root.path().join("etc/machine-id"), "0123456789abcdef\n").unwrap();
        std::fs::write(root.path().join("proc/sys/kernel/hostname"), "one\n").unwrap();
        let one = machine(root.path()).unwrap();
        std::fs::write(root.path().join("proc/sys/kernel/hostname"), "two\n").unwrap();
        assert_ne!(machine(root.path()), Some(one));
    }
}
