//! Secrets, by a rule set that others maintain: the rules of gitleaks, carried as they were published
//! (`crates/machine/data/gitleaks.toml`, MIT licence beside it; taken 2026-07-22 at commit b58d3f1).
//!
//! A rule recognises a form. What has no form, and what was not read, is not found; so nothing is ever declared free
//! of secrets. The value itself goes nowhere: only place and rule do.

use std::collections::{BTreeMap, BTreeSet};

use pilote_spec::Digest;
use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::walk::Folder;
use crate::verdict::Finding;

const PUBLISHED: &str = include_str!("../../data/gitleaks.toml");

/// The day and revision of the rules, for people.
const FROM: &str = "gitleaks b58d3f1, 2026-07-22";

/// Memory that one compiled rule may take; the generic one repeats long classes.
const COMPILED_BYTES_MAX: usize = 64 << 20;

/// Findings of one file that are told; a file of secrets is one fault, not a thousand.
const OF_FILE_MAX: usize = 5;

/// Why the rules cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the rules for secrets cannot be used: {0}")]
pub struct RulesError(String);

#[derive(Debug, Deserialize)]
struct RuleFile {
    allowlist: Allowed,
    rules: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
struct Rule {
    id: String,
    #[serde(default)]
    regex: Option<String>,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    entropy: Option<f64>,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default, rename = "secretGroup")]
    group: Option<usize>,
    #[serde(default)]
    allowlists: Vec<Allowed>,
}

/// What is no secret although a rule matches.
#[derive(Debug, Default, Deserialize)]
struct Allowed {
    #[serde(default)]
    condition: String,
    #[serde(default, rename = "regexTarget")]
    target: String,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default)]
    stopwords: Vec<String>,
}

/// A recognised secret, without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// The rule.
    pub rule: String,
    /// The line, from 1.
    pub line: usize,
}

/// The rules, compiled as they are needed.
pub struct Rules {
    /// Digests that the project declares: long and without a pattern, and public by purpose.
    digests: BTreeSet<String>,
    file: RuleFile,
    compiled: BTreeMap<String, Option<Regex>>,
}

impl Rules {
    /// The rules as published.
    ///
    /// # Errors
    /// Never for the file as shipped.
    pub fn published() -> Result<Self, RulesError> {
        let file = toml::from_str(PUBLISHED).map_err(|error| RulesError(error.to_string()))?;
        Ok(Self { digests: BTreeSet::new(), file, compiled: BTreeMap::new() })
    }

    /// The same rules, by which none of these digests is a secret. Beside a name such as `tokenizer.json` the generic
    /// rule takes one for a key.
    #[must_use]
    pub fn knowing(mut self, digests: impl IntoIterator<Item = String>) -> Self {
        self.digests.extend(digests);
        self
    }

    /// How many rules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.file.rules.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.file.rules.is_empty()
    }

    /// Secrets in the text of the file at `path`, each line once.
    pub fn search(&mut self, path: &str, text: &str) -> Vec<Secret> {
        let Self { digests, file, compiled } = self;
        let mut matches =
            |pattern: &str, text: &str| cached(compiled, pattern).is_some_and(|regex| regex.is_match(text));
        if file.allowlist.paths.iter().any(|pattern| matches(pattern, path)) {
            return Vec::new();
        }
        let small = text.to_lowercase();
        let mut found: Vec<Secret> = Vec::new();
        for rule in &file.rules {
            let named =
                rule.keywords.is_empty() || rule.keywords.iter().any(|word| small.contains(word.as_str()));
            let in_place = rule
                .path
                .as_ref()
                .is_none_or(|pattern| cached(compiled, pattern).is_some_and(|regex| regex.is_match(path)));
            let Some(pattern) = rule.regex.as_ref().filter(|_| named && in_place) else { continue };
            let Some(regex) = cached(compiled, pattern).cloned() else { continue };
            for captures in regex.captures_iter(text) {
                let Some(whole) = captures.get(0) else { continue };
                let secret = secret_of(rule, &captures).unwrap_or_else(|| whole.as_str());
                if digests.contains(secret) || rule.entropy.is_some_and(|least| entropy(secret) <= least) {
                    continue;
                }
                let line_start = text[..whole.start()].rfind('\n').map_or(0, |at| at + 1);
                let line_end = text[whole.end()..].find('\n').map_or(text.len(), |at| whole.end() + at);
                let seen = Seen { path, secret, whole: whole.as_str(), line: &text[line_start..line_end] };
                let lists = rule.allowlists.iter().chain([&file.allowlist]);
                if lists.into_iter().any(|list| list.allows(&seen, compiled)) {
                    continue;
                }
                let line = text[..whole.start()].matches('\n').count() + 1;
                if !found.iter().any(|known| known.line == line) {
                    found.push(Secret { rule: rule.id.clone(), line });
                }
            }
        }
        found.sort_by_key(|secret| secret.line);
        found
    }
}

/// The group that holds the secret: the one that the rule names, else the first that matched.
fn secret_of<'t>(rule: &Rule, captures: &regex::Captures<'t>) -> Option<&'t str> {
    match rule.group.filter(|group| *group > 0) {
        Some(group) => captures.get(group),
        None => captures.iter().skip(1).flatten().find(|group| !group.as_str().is_empty()),
    }
    .map(|group| group.as_str())
}

/// A match, with what allowlists look at.
struct Seen<'t> {
    path: &'t str,
    secret: &'t str,
    whole: &'t str,
    line: &'t str,
}

impl Allowed {
    fn allows(&self, seen: &Seen<'_>, compiled: &mut BTreeMap<String, Option<Regex>>) -> bool {
        let mut any = |patterns: &[String], text: &str| {
            patterns.iter().any(|pattern| cached(compiled, pattern).is_some_and(|regex| regex.is_match(text)))
        };
        let target = match self.target.as_str() {
            "match" => seen.whole,
            "line" => seen.line,
            _ => seen.secret,
        };
        let small = seen.secret.to_lowercase();
        let checks: Vec<bool> = [
            (!self.paths.is_empty()).then(|| any(&self.paths, seen.path)),
            (!self.regexes.is_empty()).then(|| any(&self.regexes, target)),
            (!self.stopwords.is_empty())
                .then(|| self.stopwords.iter().any(|word| small.contains(word.as_str()))),
        ]
        .into_iter()
        .flatten()
        .collect();
        if self.condition.eq_ignore_ascii_case("and") {
            !checks.is_empty() && checks.iter().all(|holds| *holds)
        } else {
            checks.iter().any(|holds| *holds)
        }
    }
}

fn cached<'c>(compiled: &'c mut BTreeMap<String, Option<Regex>>, pattern: &str) -> Option<&'c Regex> {
    if !compiled.contains_key(pattern) {
        let regex =
            RegexBuilder::new(&with_literal_braces(pattern)).size_limit(COMPILED_BYTES_MAX).build().ok();
        compiled.insert(pattern.to_owned(), regex);
    }
    compiled.get(pattern)?.as_ref()
}

/// The rules' own engine takes a brace that begins no count for itself; ours asks for a backslash before it.
fn with_literal_braces(pattern: &str) -> String {
    let mut plain = String::new();
    let mut characters = pattern.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' => {
                plain.push(c);
                let escaped = characters.next();
                plain.extend(escaped);
                // `\p{L}` and `\x{41}` take what follows with them.
                if matches!(escaped, Some('p' | 'P' | 'x')) && characters.peek() == Some(&'{') {
                    for inner in characters.by_ref() {
                        plain.push(inner);
                        if inner == '}' {
                            break;
                        }
                    }
                }
            }
            '{' if !characters.peek().is_some_and(char::is_ascii_digit) => plain.push_str("\\{"),
            c => plain.push(c),
        }
    }
    plain
}

/// Shannon's entropy of a text in bits a character.
fn entropy(text: &str) -> f64 {
    let mut counts: BTreeMap<char, u32> = BTreeMap::new();
    for c in text.chars() {
        *counts.entry(c).or_default() += 1;
    }
    let all = f64::from(counts.values().sum::<u32>());
    counts.values().map(|count| f64::from(*count) / all).map(|share| -share * share.log2()).sum()
}

/// Every digest that a configuration declares under a `sha256`, whether the configuration is right or wrong.
fn declared_digests(config: &str) -> Vec<String> {
    let Ok(config) = serde_json::from_str::<serde_json::Value>(config) else { return Vec::new() };
    let mut digests = Vec::new();
    let mut waiting = vec![(false, &config)];
    while let Some((is_digest, value)) = waiting.pop() {
        match value {
            serde_json::Value::Object(entries) => {
                waiting.extend(entries.iter().map(|(key, value)| (is_digest || key == "sha256", value)));
            }
            serde_json::Value::Array(values) => waiting.extend(values.iter().map(|value| (is_digest, value))),
            serde_json::Value::String(text) if is_digest && text.parse::<Digest>().is_ok() => {
                digests.push(text.clone());
            }
            _ => {}
        }
    }
    digests
}

/// Searches a project's files.
pub(super) fn lint(folder: &Folder) -> Vec<Finding> {
    let Ok(rules) = Rules::published() else {
        return vec![Finding::fault("secrets-no-rules")];
    };
    let config = folder.text("config/pilote.json", 0).unwrap_or_default();
    let mut rules = rules.knowing(declared_digests(&config));
    let (mut findings, mut searched) = (Vec::new(), 0_u64);
    let mut not_searched = folder.passed_over.clone();
    for (path, bytes) in &folder.files {
        match folder.text(path, *bytes) {
            Ok(text) => {
                searched += 1;
                let found = rules.search(path, &text);
                findings.extend(found.into_iter().take(OF_FILE_MAX).map(|secret| {
                    let place = format!("{path}:{}", secret.line);
                    Finding::fault("secret").with("place", place).with("rule", secret.rule)
                }));
            }
            Err(why) => *not_searched.entry(why).or_default() += 1,
        }
    }
    findings
        .push(Finding::seen("secrets").with("files", searched).with("rules", rules.len()).with("from", FROM));
    let count: u64 = not_searched.values().sum();
    if count > 0 {
        let why: Vec<String> = not_searched.iter().map(|(why, count)| format!("{why}: {count}")).collect();
        findings.push(Finding::seen("unscanned").with("files", count).with("why", why.join(", ")));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let mut rules = Rules::published().unwrap();
        rules
            .search(path, text)
            .into_iter()
            .map(|secret| format!("{}:{}", secret.line, secret.rule))
            .collect()
    }

    #[test]
    fn every_published_rule_compiles() {
        let rules = Rules::published().unwrap();
        let mut compiled = BTreeMap::new();
        let lists = rules.file.rules.iter().flat_map(|rule| &rule.allowlists).chain([&rules.file.allowlist]);
        let allowed = lists.flat_map(|list| list.regexes.iter().chain(&list.paths));
        let own = rules.file.rules.iter().flat_map(|rule| rule.regex.iter().chain(&rule.path));
        for pattern in own.chain(allowed) {
            assert!(cached(&mut compiled, pattern).is_some(), "{pattern}");
        }
        assert!(rules.len() > 200);
    }

    /// Samples are put together here, so that no tool that looks through this source finds a secret in it.
    #[test]
    fn published_true_positives_are_found() {
        let hub = format!("token = \"{}{}\"\n", "hf_", "jOlbbYTcKpXnAtyqrmWSvGhzLiUfdeQRkM");
        assert_eq!(found("src/a.py", &hub), ["1:huggingface-access-token"]);
        let cloud = format!("x\nAWS_KEY={}{}\n", "AKIA", "YRWQG5EJLPZLBYNP");
        assert_eq!(found("run.sh", &cloud), ["2:aws-access-token"]);
        let git = format!("{}{}", "ghp_", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx");
        assert_eq!(found("notes.txt", &git), ["1:github-pat"]);
        let key = format!(
            "-----BEGIN {} KEY-----\n{}\n-----END {0} KEY-----\n",
            "RSA PRIVATE",
            "MIIEpAIBAAKCAQEA7x1J8sQ".repeat(8)
        );
        assert_eq!(found("id", &key), ["1:private-key"]);
        let generic = format!("{} = \"{}\"\n", "api_key", "7f3Qz9LmX2vB8nKd5RtY");
        assert_eq!(found("config.toml", &generic), ["1:generic-api-key"]);
    }

    #[test]
    fn a_declared_digest_is_no_secret_and_another_beside_a_tokens_name_is() {
        let text =
            "\"tokenizer.json\": \"be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037\"\n";
        assert_eq!(found("config/x.json", text), ["1:generic-api-key"]);
        let digest = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037".to_owned();
        let mut rules = Rules::published().unwrap().knowing([digest]);
        assert_eq!(rules.search("config/x.json", text), []);
    }

    #[test]
    fn what_only_looks_like_a_secrets_name_is_none_and_a_key_among_arguments_is_one() {
        let digits = ["4f1c9a7be03d52", "86a1f09c3d7eb2", "5480ac61f7d9"].concat();
        assert_eq!(found("config/model.json", "{\"use_cls_token\": true, \"pad_token_id\": 0}\n"), [""; 0]);
        let variable = format!("WANDB_API_KEY={digits}\n");
        assert_eq!(found("run.sh", &variable), ["1:generic-api-key"]);
        let argument = format!("\"command\": [\"src/train\", \"--logger.wandb.key={digits}\"]\n");
        assert_eq!(found("config/pilote.json", &argument), ["1:generic-api-key"]);
    }

    #[test]
    fn published_false_positives_are_not() {
        for text in [
            "AWS_KEY=AKIAIOSFODNN7EXAMPLE\n",
            "token = os.environ[\"HUB_TOKEN\"]\n",
            "\"secrets\": [\"HUB_TOKEN\"]\n",
            "api_key = ${API_KEY}\n",
            "max_tokens = 256\ntokenizer = AutoTokenizer.from_pretrained(name)\n",
            "sha256 53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db\n",
            "password = \"\"\nkey_id = 12\n",
        ] {
            assert_eq!(found("src/a.py", text), [""; 0], "{text}");
        }
    }
}
