//! Which crate may use which: the table on the architecture page against what cargo says.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Finding;
use super::tree::Tree;

/// The page with the table.
pub const PAGE: &str = "docs/architecture.md";

/// What the page says of one crate.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    may_use: BTreeSet<String>,
    is_later: bool,
}

/// Holds the workspace's edges against the page: every crate is on it, every crate on it exists unless the page
/// says "later", and no crate uses one that its row does not name.
#[must_use]
pub fn check(metadata: &Value, tree: &Tree) -> Vec<Finding> {
    let Some(page) = tree.text(PAGE) else { return vec![Finding::of(PAGE, "is missing")] };
    let rows = table(page);
    let actual = edges(metadata);
    let mut findings = Vec::new();
    for (name, used) in &actual {
        let Some(row) = rows.get(name) else {
            findings.push(Finding::of(PAGE, format!("has no row for the crate `{name}`")));
            continue;
        };
        for other in used.difference(&row.may_use) {
            let says = format!("`{name}` uses `{other}`, which its row does not allow");
            findings.push(Finding::of(&format!("crates/{name}/Cargo.toml"), says));
        }
    }
    for (name, row) in &rows {
        if !row.is_later && !actual.contains_key(name) {
            findings.push(Finding::of(PAGE, format!("has a row for `{name}`, and there is no such crate")));
        }
    }
    findings
}

/// The rows of the page's table whose first cell is a crate's name in backticks and whose last says what it may
/// use. "all but x" stands for every other crate of the table.
fn table(page: &str) -> BTreeMap<String, Row> {
    let mut cells = Vec::new();
    for line in page.lines() {
        let parts: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let [name, what, may_use] = parts.as_slice() else { continue };
        if let Some(name) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
            cells.push((name, *what, *may_use));
        }
    }
    let all: BTreeSet<&str> = cells.iter().map(|(name, _, _)| *name).collect();
    let row = |(name, what, may_use): &(&str, &str, &str)| {
        let may_use: BTreeSet<String> = match may_use.strip_prefix("all but ") {
            Some(excluded) => all
                .iter()
                .filter(|other| **other != excluded && *other != name)
                .map(|s| (*s).to_owned())
                .collect(),
            None => may_use.split_whitespace().filter(|word| *word != "-").map(str::to_owned).collect(),
        };
        ((*name).to_owned(), Row { may_use, is_later: what.contains("(later)") })
    };
    cells.iter().map(row).collect()
}

/// Which of our crates each of our crates uses, those of its tests included, by their names without `pilote-`.
fn edges(metadata: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let ours = |name: &Value| name.as_str()?.strip_prefix("pilote-").map(str::to_owned);
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    packages
        .iter()
        .filter_map(|package| {
            let used =
                package["dependencies"].as_array()?.iter().filter_map(|used| ours(&used["name"])).collect();
            Some((ours(&package["name"])?, used))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TABLE: &str = "| crate | one line | may use |\n|---|---|---|\n| `spec` | types | - |\n| `text` | words | spec |\n\
                         | `desk` | the desk (later) | spec |\n| `cli` | the binary | all but desk |\n";

    fn workspace(packages: &[(&str, &[&str])]) -> Value {
        let package = |(name, used): &(&str, &[&str])| {
            let used: Vec<Value> = used.iter().map(|name| json!({ "name": name })).collect();
            json!({ "name": name, "dependencies": used })
        };
        json!({ "packages": packages.iter().map(package).collect::<Vec<_>>() })
    }

    #[test]
    fn edges_that_the_page_allows_pass() {
        let metadata = workspace(&[
            ("pilote-spec", &["serde"]),
            ("pilote-text", &["pilote-spec"]),
            ("pilote-cli", &["pilote-spec", "pilote-text"]),
        ]);
        assert_eq!(check(&metadata, &Tree::of(&[(PAGE, TABLE)])), []);
    }

    #[test]
    fn an_edge_that_the_page_does_not_name_is_found() {
        let metadata = workspace(&[
            ("pilote-spec", &["pilote-text"]),
            ("pilote-text", &[]),
            ("pilote-cli", &["pilote-desk"]),
        ]);
        let findings = check(&metadata, &Tree::of(&[(PAGE, TABLE)]));
        let says: Vec<&str> = findings.iter().map(|finding| finding.says.as_str()).collect();
        assert_eq!(
            says,
            [
                "`cli` uses `desk`, which its row does not allow",
                "`spec` uses `text`, which its row does not allow"
            ]
        );
    }

    #[test]
    fn a_crate_without_a_row_and_a_row_without_a_crate_are_found() {
        let metadata = workspace(&[("pilote-spec", &[]), ("pilote-cli", &[]), ("pilote-new", &[])]);
        let findings = check(&metadata, &Tree::of(&[(PAGE, TABLE)]));
        assert!(findings.iter().any(|f| f.says.contains("no row for the crate `new`")), "{findings:?}");
        assert!(
            findings.iter().any(|f| f.says.contains("`text`, and there is no such crate")),
            "{findings:?}"
        );
        assert_eq!(findings.len(), 2, "{findings:?}");
    }
}
