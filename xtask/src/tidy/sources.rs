//! Size and shape of the sources.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Finding;
use super::rust::LineCount;
use super::tree::Tree;

/// The most lines of a source, tests left out.
const FILE_LINES_MAX: usize = 1200;
/// The most lines of a function. This only ever goes down.
const FUNCTION_LINES_MAX: usize = 90;
/// The share of comment lines, in percent of all lines that are not blank, that the sources keep to as a whole.
const COMMENT_PERCENT: std::ops::RangeInclusive<usize> = 8..=30;

/// Sources that are too long to be read in one go.
#[must_use]
pub fn lengths(tree: &Tree) -> Vec<Finding> {
    tree.sources()
        .filter_map(|(path, source)| {
            let lines = source.length();
            (lines > FILE_LINES_MAX).then(|| {
                Finding::of(path, format!("has {lines} lines without its tests; at most {FILE_LINES_MAX}"))
            })
        })
        .collect()
}

/// Functions that do not fit a screen.
#[must_use]
pub fn functions(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, source) in tree.sources() {
        for function in source.functions().iter().filter(|function| function.lines > FUNCTION_LINES_MAX) {
            let says =
                format!("`{}` has {} lines; at most {FUNCTION_LINES_MAX}", function.name, function.lines);
            findings.push(Finding::at(path, function.line, says));
        }
    }
    findings
}

/// Sources that do not begin by saying what they are about.
#[must_use]
pub fn module_docs(tree: &Tree) -> Vec<Finding> {
    let is_silent = |text: &str| {
        !text
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty() && !line.starts_with("#!"))
            .is_some_and(|line| line.starts_with("//!"))
    };
    tree.texts()
        .filter(|(path, text)| path.ends_with(".rs") && !path.ends_with("/tests.rs") && is_silent(text))
        .map(|(path, _)| Finding::of(path, "does not begin with `//!` documentation"))
        .collect()
}

/// `unwrap` outside of tests.
#[must_use]
pub fn unwraps(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, source) in tree.sources() {
        for (line, code) in source.code_lines().filter(|(_, code)| code.contains(".unwrap()")) {
            let says = format!("unwraps outside of tests: {}", code.trim());
            findings.push(Finding::at(path, line, says));
        }
    }
    findings
}

/// The share of comments in the sources as a whole, where it leaves the band.
#[must_use]
pub fn comment_share(tree: &Tree) -> Vec<Finding> {
    let all = by_crate(tree).values().fold(LineCount::default(), |sum, count| sum.plus(*count));
    match all.percent() {
        Some(percent) if !COMMENT_PERCENT.contains(&percent) => {
            let (low, high) = (COMMENT_PERCENT.start(), COMMENT_PERCENT.end());
            let says = format!(
                "{percent} % of the sources' lines are comments; between {low} and {high} are wanted"
            );
            vec![Finding::of("crates", says)]
        }
        _ => Vec::new(),
    }
}

/// A table with the lines of each crate, for people.
#[must_use]
pub fn figures(tree: &Tree) -> String {
    let mut table = String::from("crate        code  comment  share\n");
    let mut sum = LineCount::default();
    for (name, count) in by_crate(tree) {
        row(&mut table, &name, count);
        sum = sum.plus(count);
    }
    row(&mut table, "all", sum);
    table
}

fn row(table: &mut String, name: &str, count: LineCount) {
    let share = count.percent().map_or_else(|| "-".to_owned(), |percent| format!("{percent} %"));
    let _ = writeln!(table, "{name:<10} {:>6} {:>8} {share:>6}", count.code, count.comment);
}

fn by_crate(tree: &Tree) -> BTreeMap<String, LineCount> {
    let mut crates: BTreeMap<String, LineCount> = BTreeMap::new();
    for (path, source) in tree.sources() {
        let name = path.strip_prefix("crates/").unwrap_or(path).split('/').next().unwrap_or(path);
        let sum = crates.entry(name.to_owned()).or_default();
        *sum = sum.plus(source.count());
    }
    crates
}

impl LineCount {
    fn plus(self, other: Self) -> Self {
        Self { code: self.code + other.code, comment: self.comment + other.comment }
    }

    /// Comments in percent of all lines; none where there is no line.
    fn percent(self) -> Option<usize> {
        (100 * self.comment).checked_div(self.code + self.comment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_found_and_its_tests_do_not_count() {
        let code = "//! Long.\n".to_owned() + &"const A: u8 = 1;\n".repeat(1199);
        let with_tests =
            format!("{code}#[cfg(test)]\nmod tests {{\n{}}}\n", "    const B: u8 = 1;\n".repeat(500));
        assert_eq!(lengths(&Tree::of(&[("crates/a/src/lib.rs", &with_tests)])), []);
        let longer = format!("{code}const C: u8 = 1;\n");
        assert_eq!(lengths(&Tree::of(&[("crates/a/src/lib.rs", &longer)])).len(), 1);
    }

    #[test]
    fn a_long_function_is_found() {
        let text = format!("fn long() {{\n{}}}\n", "    step();\n".repeat(89));
        let findings = functions(&Tree::of(&[("crates/a/src/lib.rs", &text)]));
        assert_eq!(findings, [Finding::at("crates/a/src/lib.rs", 1, "`long` has 91 lines; at most 90")]);
        let shorter = text.replacen("    step();\n", "", 1);
        assert_eq!(functions(&Tree::of(&[("crates/a/src/lib.rs", &shorter)])), []);
    }

    #[test]
    fn a_source_without_words_about_itself_is_found() {
        let tree = Tree::of(&[("a/src/lib.rs", "fn a() {}\n"), ("b/src/lib.rs", "#![allow(x)]\n//! B.\n")]);
        assert_eq!(
            module_docs(&tree),
            [Finding::of("a/src/lib.rs", "does not begin with `//!` documentation")]
        );
    }

    #[test]
    fn an_unwrap_is_found_outside_of_tests_and_strings_only() {
        let text = "fn a() { b().unwrap(); }\nconst S: &str = \".unwrap()\";\n#[cfg(test)]\nmod tests { fn t() { b().unwrap(); } }\n";
        let findings = unwraps(&Tree::of(&[("crates/a/src/lib.rs", text), ("crates/a/tests/t.rs", text)]));
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].line, 1);
    }

    #[test]
    fn too_few_and_too_many_comments_are_found() {
        let bare = "const A: u8 = 1;\n".repeat(20);
        assert_eq!(comment_share(&Tree::of(&[("crates/a/src/lib.rs", &bare)])).len(), 1);
        let chatty = "// a\n".repeat(20) + &bare;
        assert_eq!(comment_share(&Tree::of(&[("crates/a/src/lib.rs", &chatty)])).len(), 1);
        let calm = "// a\n".repeat(3) + &bare;
        assert_eq!(comment_share(&Tree::of(&[("crates/a/src/lib.rs", &calm)])), []);
    }
}
