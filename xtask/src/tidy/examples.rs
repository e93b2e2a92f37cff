//! The example projects, which `pilote new` lays out: their pinned inputs and their copies of the schema.

use sha2::{Digest as _, Sha256};

use super::Finding;
use super::tree::Tree;

/// The schema as the program generates it; a test of `pilote-spec` holds it against the types.
pub const SCHEMA: &str = "crates/spec/schema/pilote.schema.json";

/// Files of a project folder that every example has.
const FOLDER: [&str; 6] = [
    "README.md",
    "requirements-rebuild.txt",
    "config/pilote.json",
    "config/pilote-inputs.sha256",
    "src/README.md",
    "runs/.gitkeep",
];

/// The example projects, by their folder.
fn projects(tree: &Tree) -> Vec<String> {
    tree.paths()
        .filter_map(|path| path.strip_suffix("/config/pilote.json"))
        .filter(|path| path.starts_with("examples/"))
        .map(str::to_owned)
        .collect()
}

/// Parts of the folder that are missing, and inputs that differ from their pinned digests.
#[must_use]
pub fn inputs(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for project in projects(tree) {
        for part in FOLDER.iter().map(|part| format!("{project}/{part}")).filter(|part| !tree.holds(part)) {
            findings.push(Finding::of(&part, "is missing from the project's folder"));
        }
        let list = format!("{project}/config/pilote-inputs.sha256");
        let mut pinned = Vec::new();
        for (number, line) in tree.text(&list).unwrap_or_default().lines().enumerate() {
            let Some((digest, name)) = line.split_once("  ") else {
                findings.push(Finding::at(&list, number + 1, "is no line of sha256sum"));
                continue;
            };
            let path = format!("{project}/{name}");
            match tree.bytes(&path) {
                None => {
                    findings.push(Finding::at(&list, number + 1, format!("pins {name}, which is missing")));
                }
                Some(bytes) if sha256(bytes) != digest => {
                    findings.push(Finding::of(
                        &path,
                        format!("differs from its pinned digest: it is {}", sha256(bytes)),
                    ));
                }
                Some(_) => {}
            }
            pinned.push(path);
        }
        let data = format!("{project}/data/");
        for path in
            tree.paths().filter(|path| path.starts_with(&data) && !pinned.iter().any(|pinned| pinned == path))
        {
            findings.push(Finding::of(path, "is an input without a pinned digest"));
        }
    }
    findings
}

/// Copies of the schema beside the configurations that differ from the generated one.
#[must_use]
pub fn schemas(tree: &Tree) -> Vec<Finding> {
    let Some(schema) = tree.text(SCHEMA) else { return vec![Finding::of(SCHEMA, "is missing")] };
    projects(tree)
        .iter()
        .map(|project| format!("{project}/config/pilote.schema.json"))
        .filter(|copy| tree.text(copy) != Some(schema))
        .map(|copy| Finding::of(&copy, format!("is not the same as {SCHEMA}; copy it from there")))
        .collect()
}

/// The digest in the small hexadecimal letters of sha256sum.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str =
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  data/pilote/a.txt\n";

    fn project<'a>(list: &'a str, extra: &[(&'a str, &'a str)]) -> Tree {
        let mut files = vec![
            ("examples/x/README.md", ""),
            ("examples/x/requirements-rebuild.txt", ""),
            ("examples/x/config/pilote.json", "{}"),
            ("examples/x/config/pilote-inputs.sha256", list),
            ("examples/x/src/README.md", ""),
            ("examples/x/runs/.gitkeep", ""),
        ];
        files.extend_from_slice(extra);
        Tree::of(&files)
    }

    #[test]
    fn inputs_with_their_pinned_digests_pass() {
        assert_eq!(inputs(&project(EMPTY, &[("examples/x/data/pilote/a.txt", "")])), []);
    }

    #[test]
    fn changed_missing_and_unpinned_inputs_are_found() {
        assert!(
            inputs(&project(EMPTY, &[("examples/x/data/pilote/a.txt", "x")]))[0].says.contains("differs")
        );
        assert!(inputs(&project(EMPTY, &[]))[0].says.contains("which is missing"));
        let more = [("examples/x/data/pilote/a.txt", ""), ("examples/x/data/pilote/b.txt", "")];
        assert_eq!(
            inputs(&project(EMPTY, &more)),
            [Finding::of("examples/x/data/pilote/b.txt", "is an input without a pinned digest")]
        );
    }

    #[test]
    fn a_folder_that_lacks_a_part_is_found() {
        let tree = Tree::of(&[("examples/x/config/pilote.json", "{}")]);
        assert_eq!(inputs(&tree).len(), FOLDER.len() - 1);
    }

    #[test]
    fn a_stale_copy_of_the_schema_is_found() {
        let copy = "examples/x/config/pilote.schema.json";
        assert_eq!(schemas(&project("", &[(SCHEMA, "{1}"), (copy, "{1}")])), []);
        assert_eq!(schemas(&project("", &[(SCHEMA, "{2}"), (copy, "{1}")])).len(), 1);
        assert_eq!(schemas(&project("", &[(copy, "{1}")])), [Finding::of(SCHEMA, "is missing")]);
    }
}
