//! The page of results, written by the program only.

use std::fmt::Write as _;
use std::process::Command;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::command;
use crate::repo::Repo;

/// The page.
pub const PAGE: &str = "docs/benchmarks.md";

/// The results of one benchmark, as they are kept between runs and shown on the page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Section {
    title: String,
    about: String,
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    claims: Vec<Claim>,
    /// Where and when it was measured.
    #[serde(default)]
    conditions: String,
}

/// Something that the figures must show.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Claim {
    says: String,
    holds: bool,
}

impl Section {
    /// An empty table.
    #[must_use]
    pub fn new(title: &str, about: &str, header: &[&str]) -> Self {
        Self {
            title: title.to_owned(),
            about: about.to_owned(),
            header: header.iter().map(|cell| (*cell).to_owned()).collect(),
            rows: Vec::new(),
            claims: Vec::new(),
            conditions: String::new(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: &[String]) {
        self.rows.push(cells.to_vec());
    }

    /// Adds something that must show, and whether it does.
    pub fn claim(&mut self, says: String, holds: bool) {
        self.claims.push(Claim { says, holds });
    }

    fn render(&self) -> String {
        let mut text = format!("## {}\n\n{}\n\n", self.title, self.about);
        let _ = writeln!(text, "| {} |\n|{}", self.header.join(" | "), "---|".repeat(self.header.len()));
        for row in &self.rows {
            let _ = writeln!(text, "| {} |", row.join(" | "));
        }
        text.push('\n');
        for claim in &self.claims {
            let _ = writeln!(
                text,
                "- {}: {}",
                if claim.holds { "holds" } else { "**does not hold**" },
                claim.says
            );
        }
        let _ =
            writeln!(text, "{}Measured {}.", if self.claims.is_empty() { "" } else { "\n" }, self.conditions);
        text
    }
}

/// Bytes as people read memory.
#[must_use]
pub fn mebibytes(bytes: f64) -> String {
    let mebibytes = bytes / 1024.0 / 1024.0;
    if mebibytes < 10.0 { format!("{mebibytes:.2}") } else { format!("{mebibytes:.0}") }
}

/// Keeps a benchmark's results with the conditions of this moment.
///
/// # Errors
/// When they cannot be written.
pub fn keep(repo: &Repo, name: &str, section: &Section) -> anyhow::Result<()> {
    let folder = repo.cache("bench/results");
    std::fs::create_dir_all(&folder)?;
    let section = Section { conditions: conditions(repo)?, ..section.clone() };
    std::fs::write(folder.join(format!("{name}.json")), serde_json::to_string_pretty(&section)?)?;
    Ok(())
}

/// Writes the page from all results that are kept.
///
/// # Errors
/// When the page cannot be written or kept results cannot be read.
pub fn write(repo: &Repo, names: &[&str]) -> anyhow::Result<()> {
    let mut sections = Vec::new();
    for name in names {
        let file = repo.cache("bench/results").join(format!("{name}.json"));
        if file.is_file() {
            let text = std::fs::read_to_string(&file)?;
            sections
                .push(serde_json::from_str(&text).with_context(|| format!("{} is damaged", file.display()))?);
        }
    }
    std::fs::write(repo.root().join(PAGE), render(&sections))?;
    command::say(&format!("\n{PAGE} is written"));
    Ok(())
}

fn render(sections: &[Section]) -> String {
    let mut text = String::from(
        "# Benchmarks\n\nThis page is written by `cargo xtask bench`; changes by hand are lost. Peers are measured in \
         the same run, in three interleaved rounds; figures are medians.\n",
    );
    for section in sections {
        text.push('\n');
        text.push_str(&section.render());
    }
    text
}

/// Day, commit, processor and compiler.
fn conditions(repo: &Repo) -> anyhow::Result<String> {
    let line = |command: &mut Command| command::capture(command).map(|text| text.trim().to_owned());
    let day = line(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
    let commit = line(repo.command("git").args(["describe", "--always", "--dirty"]))?;
    let rustc = line(&mut {
        let mut c = repo.command("rustc");
        c.arg("--version");
        c
    })?;
    let processors = std::thread::available_parallelism()?;
    let model = processor_name().unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    Ok(format!("on {day} at {commit}, {processors} processors of {model}, {rustc}"))
}

fn processor_name() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_shows_its_table_and_what_does_not_hold() {
        let mut section = Section::new("Waiting", "Starts.", &["command", "ms"]);
        section.row(&["x".to_owned(), "1.0".to_owned()]);
        section.claim("x in under 2 ms".to_owned(), true);
        section.claim("x in under 1 ms".to_owned(), false);
        section.conditions = "somewhere".to_owned();
        let page = render(&[section]);
        assert!(page.ends_with(
            "## Waiting\n\nStarts.\n\n| command | ms |\n|---|---|\n| x | 1.0 |\n\n- holds: x in under 2 ms\n\
             - **does not hold**: x in under 1 ms\n\nMeasured somewhere.\n"
        ), "{page}");
    }

    #[test]
    fn small_sizes_keep_two_decimals() {
        assert_eq!(mebibytes(1_048_576.0), "1.00");
        assert_eq!(mebibytes(104_857_600.0), "100");
    }
}
