//! The words for what the deliverable's types say: verdicts, criteria, refusals.

use std::collections::BTreeMap;

use pilote_spec::{Criterion, Refusal, Verdict};

use crate::{Texts, printable};

/// Facts that criteria speak of. One that is absent, say in a file of an older version, reads as unknown.
const CRITERION_FACTS: [&str; 18] = [
    "absent",
    "accepted",
    "declared",
    "duplicated",
    "ended",
    "expected",
    "invented",
    "limit",
    "pending",
    "refused",
    "seen",
    "share",
    "stray",
    "unexpected",
    "wrong",
    "names",
    "name",
    "more",
];

impl Texts {
    /// The word of a verdict: `holds`, `tenu`, `成立`.
    #[must_use]
    pub fn verdict(&self, verdict: Verdict) -> String {
        self.get(&format!("verdict-{}", verdict.code()), &[])
    }

    /// The criterion's short name, for a table.
    #[must_use]
    pub fn criterion_name(&self, code: pilote_spec::CriterionCode) -> String {
        self.get(&format!("criterion-{}", code.code()), &[])
    }

    /// The criterion in a sentence with its figures and, where it does not hold, what to do and whom it concerns.
    #[must_use]
    pub fn criterion(&self, criterion: &Criterion) -> String {
        let unknown = self.get("unit-unknown", &[]);
        let mut facts: BTreeMap<&str, String> =
            CRITERION_FACTS.iter().map(|name| (*name, unknown.clone())).collect();
        for (name, value) in &criterion.facts {
            facts.insert(name, self.figure(name, value));
        }
        let args: Vec<(&str, &str)> = facts.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let key = format!("criterion-{}.{}", criterion.code.code(), criterion.verdict.code());
        let sentence = self.find(&key, &args).unwrap_or_else(|| self.get("criterion-unjudged", &[]));
        if criterion.concerned.is_empty() {
            return sentence;
        }
        let names = self.list(criterion.concerned.iter().map(String::as_str));
        self.get("criterion-concerning", &[("sentence", &sentence), ("names", &names)])
    }

    /// The refusal in a sentence that says what to do, with its facts behind it.
    #[must_use]
    pub fn refusal(&self, refusal: &Refusal) -> String {
        let sentence = self.get(&format!("refusal-{}", refusal.reason), &[]);
        if refusal.facts.is_empty() {
            return sentence;
        }
        let facts = refusal.facts.iter().map(|(name, value)| {
            let label =
                self.find(&format!("fact-{name}"), &[]).unwrap_or_else(|| printable(name).into_owned());
            self.get("fact", &[("label", &label), ("value", &self.figure(name, value))])
        });
        let facts: Vec<String> = facts.collect();
        let facts = facts.join(&self.get("fact-separator", &[]));
        self.get("refusal-with-facts", &[("sentence", &sentence), ("facts", &facts)])
    }

    /// Names one after the other, each made printable, as the language sets a list.
    #[must_use]
    pub fn list<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> String {
        let names: Vec<_> = names.into_iter().map(printable).collect();
        names.join(&self.get("list-separator", &[]))
    }

    /// A fact's value as people read it: shares in per cent, counts of a thousand and more with thousands set apart,
    /// everything else as it stands.
    fn figure(&self, name: &str, value: &str) -> String {
        match value.parse::<u64>() {
            _ if name == "share" => {
                value.parse::<f64>().map_or_else(|_| value.to_owned(), |share| self.percent(share, 2))
            }
            Ok(count) if count >= 1_000 && CRITERION_FACTS.contains(&name) => self.number(count),
            _ => value.to_owned(),
        }
    }
}
