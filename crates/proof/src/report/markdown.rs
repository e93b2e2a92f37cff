//! The report as Markdown, for a ticket or a wiki: the words of the page, without its styles.
//!
//! Everything from outside is escaped, so that a name or an input never becomes a heading, a link or markup.

use std::fmt::Write as _;

use crate::report::page::{Fact, Line, Page};

/// The page in Markdown.
pub(super) fn markdown(page: &Page) -> String {
    let mut text = format!("# {}\n\n", plain(&page.project));
    if !page.purpose.is_empty() {
        let _ = write!(text, "{}\n\n", plain(&page.purpose));
    }
    facts(&mut text, page, &page.meta);
    let _ = write!(text, "\n## {} {}\n\n", page.verdict.mark, plain(&page.verdict.sentence));
    for note in &page.verdict.notes {
        let _ = writeln!(text, "- {}", plain(note));
    }
    heading(&mut text, &page.labels.balance);
    table(&mut text, &page.balance);
    heading(&mut text, &page.labels.criteria);
    page.criteria.iter().for_each(|line| criterion(&mut text, line));
    if !page.findings.is_empty() {
        heading(&mut text, &page.labels.findings);
        page.findings.iter().for_each(|line| criterion(&mut text, line));
    }
    refusals(&mut text, page);
    results(&mut text, page);
    heading(&mut text, &page.labels.measures);
    facts(&mut text, page, &page.measures);
    for chart in &page.charts {
        let _ = write!(text, "\n{}\n\n| | |\n|---|---:|\n", plain(&chart.caption));
        for row in &chart.rows {
            let _ = writeln!(text, "| {} | {} |", plain(&row.label), plain(&row.value));
        }
    }
    if !page.history.is_empty() {
        heading(&mut text, &page.labels.history);
        for entry in &page.history {
            let _ = writeln!(text, "- **{}** {}", plain(&entry.name), plain(&entry.value));
            for line in &entry.lines {
                let _ = writeln!(text, "  - {}", plain(line));
            }
        }
    }
    heading(&mut text, &page.labels.about);
    for fold in &page.folds {
        let _ = write!(text, "### {}\n\n", plain(&fold.name));
        facts(&mut text, page, &fold.facts);
        text.push('\n');
    }
    for line in &page.footer {
        let _ = write!(text, "{}\n\n", plain(line));
    }
    let _ = writeln!(text, "    {}", page.command);
    text
}

fn heading(text: &mut String, label: &str) {
    let _ = write!(text, "\n## {}\n\n", plain(label));
}

fn facts(text: &mut String, page: &Page, facts: &[Fact]) {
    for fact in facts {
        let value = if fact.class == "code" { code(&fact.value) } else { plain(&fact.value) };
        let _ = writeln!(text, "- {}{}{value}", plain(&fact.name), page.labels.colon);
    }
}

fn table(text: &mut String, facts: &[Fact]) {
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text.push_str(&row(facts.iter().map(|fact| plain(&fact.name)).collect()));
    text.push_str(&row(facts.iter().map(|_| "---:".to_owned()).collect()));
    text.push_str(&row(facts.iter().map(|fact| plain(&fact.value)).collect()));
}

fn criterion(text: &mut String, line: &Line) {
    let _ = write!(text, "- {} {}", line.mark, plain(&line.sentence));
    if !line.detail.is_empty() {
        let _ = write!(text, " {}", code(&line.detail));
    }
    if !line.concerned.is_empty() {
        let names: Vec<String> = line.concerned.iter().map(|name| code(name)).collect();
        let _ = write!(text, " {}", names.join(" "));
    }
    text.push('\n');
}

fn refusals(text: &mut String, page: &Page) {
    heading(text, &page.labels.refusals);
    if page.refusals.is_empty() {
        let _ = writeln!(text, "{}", plain(&page.labels.no_refusal));
    }
    for refusal in &page.refusals {
        let tag = if refusal.tag.is_empty() { String::new() } else { format!(" ({})", plain(&refusal.tag)) };
        let names: Vec<String> = refusal.names.iter().map(|name| format!(" {}", code(name))).collect();
        let (name, colon, reason) = (code(&refusal.name), &page.labels.colon, plain(&refusal.reason));
        let _ = writeln!(text, "- {name}{tag}{colon}{reason}{}", names.concat());
    }
}

fn results(text: &mut String, page: &Page) {
    heading(text, &page.labels.results);
    let _ = writeln!(text, "{}", plain(&page.results_note));
    for answer in &page.results {
        let _ = write!(text, "\n### {}\n\n", plain(&answer.name));
        for line in answer.excerpt.lines() {
            let _ = writeln!(text, "> {}\\", plain(line));
        }
        // The last line of a quotation needs no hard break.
        if text.ends_with("\\\n") {
            text.truncate(text.len() - 2);
            text.push('\n');
        }
        let _ = write!(text, "\n**{}**", plain(&answer.output.lines().collect::<Vec<_>>().join(" ")));
        let details: Vec<String> = answer.details.iter().map(|detail| plain(detail)).collect();
        let _ = writeln!(text, " {}", [vec![plain(&answer.length)], details].concat().join(" · "));
    }
}

/// Text in which nothing is markup. Underscores inside of words are none, and read better as they are.
fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for (at, c) in text.char_indices() {
        let begins = text[..at].trim().is_empty();
        let marks = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '&' | '~' => true,
            '_' => {
                let inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
                !(inside(text[..at].chars().next_back()) && inside(text[at + 1..].chars().next()))
            }
            // These begin a heading, a list or a rule where they stand first.
            '#' | '-' | '+' | '=' | '!' => begins,
            '.' | ')' => text[..at].trim().chars().all(|c| c.is_ascii_digit()) && !begins,
            _ => false,
        };
        if marks {
            escaped.push('\\');
        }
        escaped.push(if c.is_control() { ' ' } else { c });
    }
    escaped
}

/// Text set as code, between more backticks than it holds itself.
fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{fence}{space}{line}{space}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_becomes_markup() {
        assert_eq!(plain("# a *b* <i> [x](y) | 1"), "\\# a \\*b\\* \\<i\\> \\[x\\](y) \\| 1");
        assert_eq!(plain("1. first"), "1\\. first");
        assert_eq!(plain("snake_case and _emphasis_"), "snake_case and \\_emphasis\\_");
        assert_eq!(plain("line\nbreak"), "line break");
    }

    #[test]
    fn code_holds_its_own_backticks() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`a`"), "`` `a` ``");
    }
}
