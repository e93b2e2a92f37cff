//! The message files: complete, alike in the three languages, true to the glossary.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement, Resource};
use fluent_syntax::parser;
use pilote_spec::{CriterionCode, Reason, Refusal, Verdict};
use pilote_text::{Lang, Texts};

const LOCALES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/locales");
const GLOSSARY: &str = include_str!("../../../docs/glossary.md");

/// What a message says in one language: its literal text, the variables shown, and those that only choose.
#[derive(Debug, Default, Clone, PartialEq)]
struct Said {
    text: String,
    shown: BTreeSet<String>,
    chooses: BTreeSet<String>,
}

/// Every message and attribute of a language by key, with the file it stands in.
#[expect(clippy::unwrap_used, reason = "a file of messages that cannot be read is a failure of the test")]
fn messages(lang: Lang) -> BTreeMap<String, (String, Said)> {
    let mut messages = BTreeMap::new();
    for entry in std::fs::read_dir(Path::new(LOCALES).join(lang.code())).unwrap() {
        let path = entry.unwrap().path();
        let area = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let source = std::fs::read_to_string(&path).unwrap();
        let resource: Resource<String> = parser::parse(source)
            .unwrap_or_else(|(_, errors)| panic!("{} is no Fluent: {errors:?}", path.display()));
        for entry in resource.body {
            match entry {
                Entry::Message(message) => {
                    let key = message.id.name;
                    let attributes = message
                        .attributes
                        .iter()
                        .map(|attribute| (format!("{key}.{}", attribute.id.name), &attribute.value));
                    let value = message.value.iter().map(|value| (key.clone(), value));
                    for (key, pattern) in value.chain(attributes) {
                        let mut said = Said::default();
                        read_pattern(pattern, &mut said);
                        let earlier = messages.insert(key.clone(), (area.clone(), said));
                        assert!(earlier.is_none(), "{key} stands twice in {lang:?}");
                    }
                }
                Entry::Junk { content } => panic!("{}: {content}", path.display()),
                _ => {}
            }
        }
    }
    messages
}

fn read_pattern(pattern: &Pattern<String>, said: &mut Said) {
    for element in &pattern.elements {
        match element {
            PatternElement::TextElement { value } => said.text.push_str(value),
            PatternElement::Placeable { expression } => read_expression(expression, said),
        }
        said.text.push('\u{1}');
    }
}

fn read_expression(expression: &Expression<String>, said: &mut Said) {
    match expression {
        Expression::Select { selector, variants } => {
            if let InlineExpression::VariableReference { id } = selector {
                said.chooses.insert(id.name.clone());
            }
            variants.iter().for_each(|variant| read_pattern(&variant.value, said));
        }
        Expression::Inline(InlineExpression::VariableReference { id }) => {
            said.shown.insert(id.name.clone());
        }
        Expression::Inline(InlineExpression::Placeable { expression }) => read_expression(expression, said),
        Expression::Inline(_) => {}
    }
}

#[test]
fn every_key_stands_in_the_same_file_of_all_three_languages_with_the_same_variables() {
    let english = messages(Lang::En);
    let mut faults = Vec::new();
    for lang in [Lang::Fr, Lang::Ja] {
        let other = messages(lang);
        for (key, (area, said)) in &english {
            match other.get(key) {
                None => faults.push(format!("{key} is missing in {lang:?}")),
                Some((there, _)) if there != area => {
                    faults.push(format!("{key} stands in {there}.ftl in {lang:?}"));
                }
                Some((_, translated)) => {
                    // A language without plurals shows a number that another one spells out in a variant.
                    let known: BTreeSet<_> = said.shown.union(&said.chooses).collect();
                    let theirs: BTreeSet<_> = translated.shown.union(&translated.chooses).collect();
                    let lost: Vec<_> = said.shown.iter().filter(|name| !theirs.contains(name)).collect();
                    let strange: Vec<_> = theirs.difference(&known).collect();
                    // `x_shown` is the written form of the number `x`: showing either says the same.
                    let twin = |name: &str| match name.strip_suffix("_shown") {
                        Some(number) => number.to_owned(),
                        None => format!("{name}_shown"),
                    };
                    let strange: Vec<_> =
                        strange.into_iter().filter(|name| !known.contains(&twin(name))).collect();
                    let lost: Vec<_> =
                        lost.into_iter().filter(|name| !theirs.contains(&twin(name))).collect();
                    if !lost.is_empty() || !strange.is_empty() {
                        faults.push(format!("{key} in {lang:?}: lost {lost:?}, strange {strange:?}"));
                    }
                }
            }
        }
        let extra = other.keys().filter(|key| !english.contains_key(*key));
        faults.extend(extra.map(|key| format!("{key} is in {lang:?} only")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_file_of_messages_is_compiled_in() {
    for lang in Lang::ALL {
        let texts = Texts::new(lang);
        for (key, (area, _)) in messages(lang) {
            assert!(texts.find(&key, &[]).is_some(), "{key}: name the area `{area}` in src/texts.rs");
        }
    }
}

#[test]
fn every_reason_has_a_sentence_that_also_says_what_to_do() {
    for lang in Lang::ALL {
        let texts = Texts::new(lang);
        for reason in Reason::all() {
            let sentence = texts.refusal(&Refusal::new(reason));
            assert_ne!(sentence, format!("refusal-{reason}"), "{lang:?} has no sentence for {reason}");
            let stop = if lang == Lang::Ja { "。" } else { ". " };
            let sentences = sentence.matches(stop).count() + usize::from(lang != Lang::Ja);
            assert!(sentences >= 2, "{lang:?} {reason} says what is wrong and not what to do: {sentence}");
        }
    }
}

#[test]
fn every_criterion_has_a_name_and_a_sentence_for_each_verdict_it_can_reach() {
    // These verdicts are never reached: what the criterion counts is always known.
    let always_known =
        ["inputs-unique", "inputs-readable", "records-whole", "balance-adds-up", "nothing-pending"];
    for lang in Lang::ALL {
        let own: BTreeSet<String> = messages(lang).into_keys().collect();
        for code in CriterionCode::ALL {
            let code = code.code();
            assert!(own.contains(&format!("criterion-{code}")), "{lang:?} has no name for {code}");
            for verdict in Verdict::ALL {
                let reached = verdict != Verdict::Unknown || !always_known.contains(&code);
                let key = format!("criterion-{code}.{}", verdict.code());
                assert_eq!(own.contains(&key), reached, "{lang:?}: {key}");
            }
        }
        for verdict in Verdict::ALL {
            assert!(own.contains(&format!("verdict-{}", verdict.code())));
        }
    }
}

/// The rows of the glossary's first table: English, French, Japanese.
fn glossary() -> Vec<[String; 3]> {
    let rows = GLOSSARY.lines().skip_while(|line| !line.starts_with("|---|---|---|---|")).skip(1);
    rows.take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            [cells[0].to_owned(), cells[2].to_owned(), cells[3].to_owned()]
        })
        .collect()
}

#[test]
fn the_glossary_and_the_fixed_words_of_the_message_files_are_the_same() {
    let rows = glossary();
    assert!(rows.len() > 20);
    for (at, lang) in Lang::ALL.into_iter().enumerate() {
        let texts = Texts::new(lang);
        let fixed: BTreeSet<String> =
            messages(lang).into_keys().filter(|key| key.starts_with("word-")).collect();
        let listed: BTreeSet<String> = rows.iter().map(|row| format!("word-{}", row[0])).collect();
        assert_eq!(fixed, listed, "{lang:?}");
        for row in &rows {
            assert_eq!(texts.get(&format!("word-{}", row[0]), &[]), row[at], "{lang:?}");
        }
    }
}

/// Words of the glossary that English also uses in other senses, so that no translation can be asked of them.
const LOOSE: [&str; 4] = ["part", "plan", "pilot", "refused"];

#[test]
fn a_sentence_with_a_word_of_the_glossary_uses_the_fixed_word_in_the_other_languages() {
    let [english, french, japanese] = Lang::ALL.map(messages);
    let mut faults = Vec::new();
    for (key, (_, said)) in &english {
        // What stands between backticks or quotation marks is a key or a command, the same in every language.
        let outside = said.text.split('`').step_by(2);
        let prose: String = outside.flat_map(|text| text.split(['“', '”']).step_by(2)).collect();
        let words: BTreeSet<String> =
            prose.to_lowercase().split(|c: char| !c.is_alphabetic()).map(str::to_owned).collect();
        for [word, fr, ja] in glossary() {
            if LOOSE.contains(&word.as_str())
                || !(words.contains(&word) || words.contains(&format!("{word}s")))
            {
                continue;
            }
            // Letters are compared without the plural or feminine ending that follows.
            let french = french.get(key).map(|(_, said)| said.text.to_lowercase()).unwrap_or_default();
            if !french.contains(&fr) {
                faults.push(format!("{key}: `{word}` is `{fr}` in French, not in: {french}"));
            }
            let japanese = japanese.get(key).map(|(_, said)| said.text.clone()).unwrap_or_default();
            if !japanese.contains(&ja) {
                faults.push(format!("{key}: `{word}` is `{ja}` in Japanese, not in: {japanese}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
