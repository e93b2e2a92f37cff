//! A small reader of JSON that remembers where every key and value stands and keeps keys that stand twice.
//!
//! A deserialiser would be shorter, and would lose the line inside untagged choices, stop at the first fault and
//! let the last of two equal keys win. A configuration is small and written by hand: here its faults are worth more.

/// A place in the file, both numbers from 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// A value and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) at: Mark,
    pub(crate) value: Value,
}

/// A JSON value. A number stays in its own digits, since only the key knows what it must be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key with its value; keys of a table may repeat.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) at: Mark,
    pub(crate) node: Node,
}

/// What is wrong with the text as JSON, where, under which keys, and what to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SyntaxFault {
    pub(crate) at: Mark,
    pub(crate) path: String,
    pub(crate) problem: String,
    pub(crate) advice: String,
}

/// Lists and tables inside one another, at most; a configuration has five.
const DEPTH_MAX: usize = 64;

/// The value that `text` consists of.
///
/// # Errors
/// The first place where the text is no JSON, or where something follows the value.
pub(crate) fn read(text: &str) -> Result<Node, SyntaxFault> {
    let mut reader = Reader { rest: text, at: Mark { line: 1, column: 1 }, path: Vec::new() };
    reader.space();
    if reader.rest.is_empty() {
        return Err(reader.fault("the file is empty", "write the project's configuration into it"));
    }
    let node = reader.value()?;
    reader.space();
    match reader.peek() {
        None => Ok(node),
        Some(c) => Err(reader.stray(c, "the end of the file", "take out what follows the last bracket")),
    }
}

/// Where the byte at `offset` stands, all bytes before it being text.
pub(crate) fn mark_of(valid: &str) -> Mark {
    let mut reader = Reader { rest: valid, at: Mark { line: 1, column: 1 }, path: Vec::new() };
    while reader.bump().is_some() {}
    reader.at
}

/// A text of the file as messages may show it: no character that steers a terminal or turns its reading order.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// What a value is called in messages.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::Text(_) => "a text",
        Value::List(_) => "a list",
        Value::Table(_) => "an object",
    }
}

struct Reader<'t> {
    rest: &'t str,
    at: Mark,
    /// Keys and places in lists that lead to where the reader stands.
    path: Vec<String>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.rest = &self.rest[c.len_utf8()..];
        if c == '\n' {
            self.at = Mark { line: self.at.line.saturating_add(1), column: 1 };
        } else {
            self.at.column = self.at.column.saturating_add(1);
        }
        Some(c)
    }

    /// Passes white space. A carriage return is some of it, so lines that end in CR LF count once.
    fn space(&mut self) {
        while matches!(self.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.bump();
        }
    }

    fn fault(&self, problem: impl Into<String>, advice: impl Into<String>) -> SyntaxFault {
        SyntaxFault {
            at: self.at,
            path: self.path.concat().trim_start_matches('.').to_owned(),
            problem: problem.into(),
            advice: advice.into(),
        }
    }

    /// A fault at a character that has no business here, with the advice for what people write most often.
    fn stray(&self, c: char, expected: &str, advice: &str) -> SyntaxFault {
        let advice = match c {
            '/' | '#' => "JSON has no comments: take it out",
            '\'' | '‘' | '’' | '“' | '”' | '«' => {
                "write texts and keys between straight double quotes (\")"
            }
            _ => advice,
        };
        self.fault(
            format!("`{}` stands where {expected} is expected", visible(c.encode_utf8(&mut [0; 4]))),
            advice,
        )
    }

    /// A fault at the end of the text, which names where that which is still open began.
    fn ended(&self, inside: &str, opened: Mark) -> SyntaxFault {
        self.fault(
            format!(
                "the file ends inside the {inside} that opens at line {}, column {}",
                opened.line, opened.column
            ),
            "close it; the file may have been cut short",
        )
    }

    /// The value that begins here.
    fn value(&mut self) -> Result<Node, SyntaxFault> {
        let at = self.at;
        let value = match self.peek() {
            None => return Err(self.fault("the file ends where a value is expected", "write the value")),
            Some('{') => self.table()?,
            Some('[') => self.list()?,
            Some('"') => Value::Text(self.text()?),
            Some(c) if c == '-' || c.is_ascii_digit() => self.number()?,
            Some(c) if c.is_alphabetic() => self.word()?,
            Some(c @ (',' | '}' | ']')) => {
                return Err(self.stray(c, "a value", "write the value, or take out the comma before it"));
            }
            Some(c) => return Err(self.stray(c, "a value", "write a text, a number, a list or an object")),
        };
        Ok(Node { at, value })
    }

    /// `true`, `false`, `null`, or a word that JSON does not know.
    fn word(&mut self) -> Result<Value, SyntaxFault> {
        let length = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let value = match &self.rest[..length] {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            word => {
                let word: String = word.chars().take(40).collect();
                let advice = match word.as_str() {
                    "True" | "False" | "None" => "write true, false or null in small letters",
                    "NaN" | "Infinity" | "inf" | "nan" => "JSON has finite numbers only",
                    _ => "write texts between double quotes",
                };
                return Err(self.fault(format!("`{word}` is no JSON value"), advice));
            }
        };
        for _ in 0..length {
            self.bump();
        }
        Ok(value)
    }

    /// A number, with an underscore or a sign too many taken along so that the message shows what was written.
    fn number(&mut self) -> Result<Value, SyntaxFault> {
        let length = self.rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E' | '_'));
        let digits = &self.rest[..length.unwrap_or(self.rest.len())];
        if !is_number(digits) {
            let shown: String = digits.chars().take(40).collect();
            let advice = "write plain digits with a point for decimals, no leading zero, no separators";
            return Err(self.fault(format!("`{shown}` is no JSON number"), advice));
        }
        let digits = digits.to_owned();
        if !digits.parse::<f64>().is_ok_and(f64::is_finite) {
            return Err(self.fault("the number is too large", "write a smaller one"));
        }
        for _ in 0..digits.len() {
            self.bump();
        }
        Ok(Value::Number(digits))
    }

    /// A text between double quotes, on one line.
    fn text(&mut self) -> Result<String, SyntaxFault> {
        let opened = self.at;
        self.bump();
        let mut text = String::new();
        loop {
            match self.peek() {
                None => return Err(self.ended("text", opened)),
                Some('"') => {
                    self.bump();
                    return Ok(text);
                }
                Some('\\') => text.push(self.escape(opened)?),
                Some('\n' | '\r') => {
                    let problem = format!(
                        "the text that opens at column {} goes on over the line's end",
                        opened.column
                    );
                    let advice = "close it with \" on its own line, and write line breaks as \\n";
                    return Err(self.fault(problem, advice));
                }
                Some(c) if c < ' ' => {
                    let advice = "write tabs as \\t and other control characters as \\u00XX";
                    return Err(self.fault(
                        format!("a control character ({:#04x}) stands in a text", u32::from(c)),
                        advice,
                    ));
                }
                Some(c) => {
                    text.push(c);
                    self.bump();
                }
            }
        }
    }

    /// What follows a backslash. The fault is placed at the backslash, where the eye looks for it.
    fn escape(&mut self, opened: Mark) -> Result<char, SyntaxFault> {
        let start = self.fault("", "write a backslash itself as \\\\");
        self.bump();
        let Some(c) = self.bump() else { return Err(self.ended("text", opened)) };
        Ok(match c {
            '"' | '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode(start),
            c => {
                return Err(SyntaxFault {
                    problem: format!("`\\{}` is no escape of JSON", visible(c.encode_utf8(&mut [0; 4]))),
                    ..start
                });
            }
        })
    }

    /// The character of `\uXXXX`, or of the two that a character beyond U+FFFF takes.
    fn unicode(&mut self, start: SyntaxFault) -> Result<char, SyntaxFault> {
        let first = self.hex();
        let code = match first {
            Some(high @ 0xd800..=0xdbff) if self.rest.starts_with("\\u") => {
                self.bump();
                self.bump();
                self.hex()
                    .filter(|low| (0xdc00..=0xdfff).contains(low))
                    .map(|low| 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
            }
            other => other,
        };
        code.and_then(char::from_u32).ok_or_else(|| SyntaxFault {
            problem: "`\\u` is not followed by the four hexadecimal digits of a character".to_owned(),
            advice: "write the character itself".to_owned(),
            ..start
        })
    }

    /// Four hexadecimal digits, or none and nothing passed.
    fn hex(&mut self) -> Option<u32> {
        let digits = self.rest.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        let code = u32::from_str_radix(digits, 16).ok()?;
        for _ in 0..4 {
            self.bump();
        }
        Some(code)
    }

    /// A list, its entries numbered in the path from 0.
    fn list(&mut self) -> Result<Value, SyntaxFault> {
        let opened = self.open()?;
        let mut nodes = Vec::new();
        self.space();
        if self.peek() == Some(']') {
            self.bump();
            return Ok(Value::List(nodes));
        }
        loop {
            self.path.push(format!("[{}]", nodes.len()));
            nodes.push(self.value()?);
            self.path.pop();
            self.space();
            match self.peek() {
                Some(']') => break,
                Some(',') => self.after_comma(']')?,
                None => return Err(self.ended("list", opened)),
                Some(c) => return Err(self.stray(c, "`,` or `]`", "put a comma between two entries")),
            }
        }
        self.bump();
        Ok(Value::List(nodes))
    }

    /// An object. Keys are not compared here: who knows the path reports the ones that stand twice.
    fn table(&mut self) -> Result<Value, SyntaxFault> {
        let opened = self.open()?;
        let mut entries = Vec::new();
        self.space();
        if self.peek() == Some('}') {
            self.bump();
            return Ok(Value::Table(entries));
        }
        loop {
            entries.push(self.entry(opened)?);
            self.space();
            match self.peek() {
                Some('}') => break,
                Some(',') => self.after_comma('}')?,
                None => return Err(self.ended("object", opened)),
                Some(c) => return Err(self.stray(c, "`,` or `}`", "put a comma between two entries")),
            }
        }
        self.bump();
        Ok(Value::Table(entries))
    }

    /// A key, its colon and its value.
    fn entry(&mut self, opened: Mark) -> Result<Entry, SyntaxFault> {
        let at = self.at;
        match self.peek() {
            Some('"') => {}
            None => return Err(self.ended("object", opened)),
            Some(c) => return Err(self.stray(c, "a key", "write keys between double quotes")),
        }
        let key = self.text()?;
        self.path.push(format!(".{}", visible(&key)));
        self.space();
        match self.peek() {
            Some(':') => self.bump(),
            None => return Err(self.ended("object", opened)),
            Some(c) => return Err(self.stray(c, "`:`", "put a colon between a key and its value")),
        };
        self.space();
        let node = self.value()?;
        self.path.pop();
        Ok(Entry { key, at, node })
    }

    /// Enters a list or table. The depth is that of the path, since each level adds one step to it.
    fn open(&mut self) -> Result<Mark, SyntaxFault> {
        if self.path.len() >= DEPTH_MAX {
            let problem = format!("more than {DEPTH_MAX} lists and objects stand inside one another");
            return Err(self.fault(problem, "no configuration is that deep: take them out"));
        }
        let opened = self.at;
        self.bump();
        Ok(opened)
    }

    /// Passes a comma and refuses one that nothing follows.
    fn after_comma(&mut self, close: char) -> Result<(), SyntaxFault> {
        let comma = self.fault(format!("a comma stands before `{close}`"), "take the comma out");
        self.bump();
        self.space();
        if self.peek() == Some(close) { Err(comma) } else { Ok(()) }
    }
}

/// The grammar of numbers: `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`.
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

#[cfg(test)]
mod tests;
