//! Lists the files of the project templates so that the program carries them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[expect(clippy::disallowed_methods, reason = "a build script speaks to cargo on standard output")]
fn main() -> io::Result<()> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    println!("cargo::rerun-if-changed={}", examples.display());
    let mut code = String::new();
    for (name, folder) in [("DOCUMENTS", "twelve-documents"), ("EMBEDDINGS", "embeddings")] {
        let root = examples.join(folder);
        let mut files = Vec::new();
        list(&root, &mut files)?;
        files.sort();
        let _ = writeln!(code, "pub(crate) const {name}: &[(&str, &[u8])] = &[");
        for file in files {
            println!("cargo::rerun-if-changed={}", file.display());
            let relative =
                file.strip_prefix(&root).map_err(io::Error::other)?.to_string_lossy().replace('\\', "/");
            let _ = writeln!(code, "    ({relative:?}, include_bytes!({:?})),", fs::canonicalize(&file)?);
        }
        code.push_str("];\n");
    }
    let out =
        env::var_os("OUT_DIR").map(PathBuf::from).ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    fs::write(out.join("templates.rs"), code)
}

/// Adds every file below `folder`, trials that someone made there excepted.
fn list(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            let is_trial = path.parent().is_some_and(|parent| parent.ends_with("runs"));
            if !is_trial {
                list(&path, files)?;
            }
        } else {
            files.push(path);
        }
    }
    Ok(())
}
