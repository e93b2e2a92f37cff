//! A Rust source cut into code, comments, strings and tests, as far as the checks need it.
//!
//! This is no parser: it knows where comments and literals begin and end and how braces nest. That is enough to
//! find functions, test modules and the share of comments, and it cannot be misled by a brace inside a string.

use std::ops::Range;

/// A source, with everything that is no code blanked out.
#[derive(Debug)]
pub struct Source<'a> {
    text: &'a str,
    /// The text with comments and the insides of literals replaced by spaces; line ends stay.
    code: String,
    /// Lines (from 0) that belong to `#[cfg(test)]` items.
    tests: Vec<Range<usize>>,
}

/// A function with a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The line of the word `fn`, from 1.
    pub line: usize,
    /// Lines from the word `fn` to the closing brace.
    pub lines: usize,
}

/// Lines of a source by what they hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineCount {
    /// Lines with code, blank ones left out.
    pub code: usize,
    /// Lines with nothing but a comment or documentation.
    pub comment: usize,
}

impl<'a> Source<'a> {
    /// Cuts a source.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        let code = masked(text);
        let tests = test_items(&code);
        Self { text, code, tests }
    }

    /// The lines of code outside of tests with their numbers from 1, comments and literals blanked.
    pub fn code_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code
            .lines()
            .enumerate()
            .filter(|(line, _)| !self.is_test(*line))
            .map(|(line, text)| (line + 1, text))
    }

    /// Lines of the file, those of tests left out.
    #[must_use]
    pub fn length(&self) -> usize {
        self.code_lines().count()
    }

    /// Lines of code and of comments outside of tests.
    #[must_use]
    pub fn count(&self) -> LineCount {
        let mut count = LineCount::default();
        for ((number, code), text) in self.code.lines().enumerate().zip(self.text.lines()) {
            if self.is_test(number) || text.trim().is_empty() {
                continue;
            }
            if code.trim().is_empty() {
                count.comment += 1;
            } else {
                count.code += 1;
            }
        }
        count
    }

    /// The functions with a body outside of tests, inner ones included.
    #[must_use]
    pub fn functions(&self) -> Vec<Function> {
        let mut found = Vec::new();
        for (at, _) in self.code.match_indices("fn ") {
            let starts_word = !self.code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let name: String =
                self.code[at + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let first = line_of(&self.code, at);
            if !starts_word || name.is_empty() || self.is_test(first) {
                continue;
            }
            if let Some(body) = body(&self.code, at) {
                let lines = line_of(&self.code, body.end - 1) - first + 1;
                found.push(Function { name, line: first + 1, lines });
            }
        }
        found
    }

    /// The modules that are declared here and lie in files of their own. Where a `#[path]` says otherwise, none
    /// is named.
    #[must_use]
    pub fn outer_modules(&self) -> Vec<String> {
        let mut modules = Vec::new();
        let mut moved = false;
        for line in self.code.lines().map(str::trim) {
            let rest = ["mod ", "pub mod ", "pub(crate) mod ", "pub(super) mod "]
                .iter()
                .find_map(|p| line.strip_prefix(p));
            if let Some(name) = rest.and_then(|rest| rest.strip_suffix(';')).filter(|_| !moved) {
                modules.push(name.trim().to_owned());
            }
            moved = line.starts_with("#[path");
        }
        modules
    }

    fn is_test(&self, line: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&line))
    }
}

/// What the cutter is inside of.
enum Inside {
    Code,
    LineComment,
    BlockComment(u32),
    Text,
    RawText(usize),
}

/// The text with comments and the insides of literals replaced by spaces.
fn masked(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut inside = Inside::Code;
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        let taken;
        (inside, taken) = match inside {
            Inside::Code => enter(&chars, at),
            Inside::LineComment if rest[0] == '\n' => (Inside::Code, 1),
            Inside::BlockComment(depth) if rest.starts_with(&['*', '/']) => {
                (if depth == 1 { Inside::Code } else { Inside::BlockComment(depth - 1) }, 2)
            }
            Inside::BlockComment(depth) if rest.starts_with(&['/', '*']) => {
                (Inside::BlockComment(depth + 1), 2)
            }
            Inside::Text if rest[0] == '\\' => (Inside::Text, 2),
            Inside::Text if rest[0] == '"' => (Inside::Code, 1),
            Inside::RawText(hashes) if closes_raw(rest, hashes) => (Inside::Code, 1 + hashes),
            same => (same, 1),
        };
        let is_code = taken == 1 && matches!(inside, Inside::Code) && rest[0] != '"';
        for &c in rest.iter().take(taken) {
            out.push(if c == '\n' || is_code { c } else { ' ' });
        }
        at += taken;
    }
    out
}

/// What begins at a place in code, and how many characters its opening takes. A character literal is taken whole.
fn enter(chars: &[char], at: usize) -> (Inside, usize) {
    let rest = &chars[at..];
    if rest.starts_with(&['/', '/']) {
        return (Inside::LineComment, 2);
    }
    if rest.starts_with(&['/', '*']) {
        return (Inside::BlockComment(1), 2);
    }
    if rest[0] == '"' {
        return (Inside::Text, 1);
    }
    let begins_word =
        at == 0 || !(chars[at - 1].is_alphanumeric() || chars[at - 1] == '_') || chars[at - 1] == 'b';
    if rest[0] == 'r' && begins_word {
        let hashes = rest[1..].iter().take_while(|c| **c == '#').count();
        if rest.get(1 + hashes) == Some(&'"') {
            return (Inside::RawText(hashes), 2 + hashes);
        }
    }
    if rest[0] == '\'' {
        if rest.get(1) == Some(&'\\') {
            let closing = rest.iter().skip(3).position(|c| *c == '\'').unwrap_or(0);
            return (Inside::Code, closing + 4);
        }
        if rest.get(2) == Some(&'\'') {
            return (Inside::Code, 3);
        }
    }
    (Inside::Code, 1)
}

fn closes_raw(rest: &[char], hashes: usize) -> bool {
    rest[0] == '"' && rest.len() > hashes && rest[1..=hashes].iter().all(|c| *c == '#')
}

/// The bytes of the first item body after `from`: from its opening to behind its closing brace. None where the
/// item ends with a semicolon.
fn body(code: &str, from: usize) -> Option<Range<usize>> {
    let mut nested = 0_u32;
    let mut opening = None;
    let mut braces = 0_u32;
    for (offset, c) in code[from..].char_indices() {
        match (c, opening) {
            ('(' | '[', None) => nested += 1,
            (')' | ']', None) => nested = nested.saturating_sub(1),
            (';', None) if nested == 0 => return None,
            ('{', None) if nested == 0 => {
                opening = Some(from + offset);
                braces = 1;
            }
            ('{', Some(_)) => braces += 1,
            ('}', Some(start)) => {
                braces -= 1;
                if braces == 0 {
                    return Some(start..from + offset + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The lines of every item that is only built for tests.
fn test_items(code: &str) -> Vec<Range<usize>> {
    let mut items = Vec::new();
    for (at, attribute) in code.match_indices("#[cfg(test)]") {
        let first = line_of(code, at);
        let after = at + attribute.len();
        let last = match body(code, after) {
            Some(body) => line_of(code, body.end - 1),
            None => line_of(code, after + code[after..].find(';').unwrap_or(0)),
        };
        items.push(first..last + 1);
    }
    items
}

/// The line of a byte, from 0.
fn line_of(text: &str, at: usize) -> usize {
    text[..at].bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_code_stays() {
        let text = "let a = \"} // no\"; // } yes\nlet b = '{'; let c: &'static str = r#\"\"}\"#;\n/* { /* } */ */ let d = b'\\'';\n";
        let code = masked(text);
        assert!(!code.contains('}') && !code.contains('{'), "{code}");
        assert!(code.contains("let d = b") && code.contains("&'static str"), "{code}");
        assert_eq!(code.lines().count(), text.lines().count());
    }

    #[test]
    fn an_escaped_quote_does_not_end_a_string() {
        assert_eq!(masked(r#"f("a\"}"); g()"#), "f(      ); g()");
    }

    #[test]
    fn functions_are_measured_from_their_first_to_their_last_line() {
        let text = "trait T { fn no_body(&self) -> [u8; 4]; }\nfn one() {}\n\nfn three(\n) {\n}\n";
        let functions = Source::new(text).functions();
        let found: Vec<_> = functions.iter().map(|f| (f.name.as_str(), f.line, f.lines)).collect();
        assert_eq!(found, [("one", 2, 1), ("three", 4, 3)]);
    }

    #[test]
    fn the_test_part_is_left_out() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";
        let source = Source::new(text);
        assert_eq!(source.length(), 2);
        assert_eq!(source.functions().len(), 2);
        let outer = Source::new("#[cfg(test)]\nmod tests;\nfn c() {}\n");
        assert_eq!(outer.length(), 1);
    }

    #[test]
    fn comment_lines_are_counted_apart_from_code() {
        let count = Source::new("//! About.\n\n/// A.\nfn a() {} // after code\n").count();
        assert_eq!(count, LineCount { code: 1, comment: 2 });
    }
}
