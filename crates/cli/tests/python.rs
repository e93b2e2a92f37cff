//! The Python module and its examples: read by Python 3.9, typed, and in need of nothing else.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking, and run a program"
)]

mod support;

use std::path::Path;
use std::process::Command;

/// Whether the folder passes, and what was said of it.
fn passes(folder: &Path) -> (bool, String) {
    let script = support::repository().join("python/tests/static.py");
    let output = Command::new("python3").arg(script).arg(folder).output().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    (output.status.success(), said)
}

#[test]
fn the_module_and_the_examples_are_read_by_python_3_9_and_need_nothing_else() {
    let (passes, said) = passes(&support::repository().join("python"));
    assert!(passes, "{said}");
}

#[test]
fn what_python_3_9_or_a_bare_machine_cannot_run_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let module = folder.path().join("python/pilote");
    std::fs::create_dir_all(&module).unwrap();
    for (text, named) in [
        (
            "def f(a: int) -> int:\n    match a:\n        case _:\n            return 1\n",
            "does not read this",
        ),
        ("import numpy\n", "numpy is not of the standard library"),
        ("from itertools import pairwise\n", "itertools.pairwise came after"),
        ("Either = int | str\n", "a union of types is computed"),
        ("def f(a):\n    return a\n", "f: a has no type"),
        ("def f(a: list) -> list:\n    return list(zip(a, a, strict=True))\n", "zip(strict=) came after"),
    ] {
        std::fs::write(module.join("__init__.py"), "__all__ = []\n").unwrap();
        std::fs::write(module.join("py.typed"), "").unwrap();
        std::fs::write(module.join("part.py"), format!("from __future__ import annotations\n{text}"))
            .unwrap();
        let (passes, said) = passes(&folder.path().join("python"));
        assert!(!passes && said.contains(named), "{named}: {said}");
    }
}
