//! Whether a program keeps to the worker protocol: it is started and spoken with as Pilote speaks and as a later Pilote
//! may, and each rule gets a verdict. What it computes is compared only with itself.

use std::collections::BTreeMap;

use pilote_spec::{EngineFacts, Guards, OutputSpec, Verdict, accept};
use serde_json::{Value, json};

use super::protocol::{Hello, PROTOCOL};
use super::{CREDITS_MAX, facts};
use crate::process::Surround;
use crate::{Answer, EngineFault};

mod session;

use session::Session;

/// Plain texts that any worker for texts can answer.
const TEXTS: [&str; 3] = [
    "The invoice of March was paid on the second of April.",
    "Le train de nuit pour Marseille part à vingt-deux heures.",
    "この文書は三ページあり、最後のページに署名があります。",
];

/// The rules, in the order in which they are checked.
pub const RULES: [&str; 11] = [
    "greeting",
    "answers",
    "names",
    "identity",
    "batches",
    "text-file",
    "odd-texts",
    "longest-line",
    "unknown-fields",
    "end",
    "other-version",
];

/// What was found of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The rule: one of [`RULES`].
    pub rule: &'static str,
    /// Whether the program keeps to it; unknown where it could not be tried.
    pub verdict: Verdict,
    /// What was seen.
    pub detail: String,
}

/// What was found of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Conformance {
    /// What the program says of itself, where it greets.
    pub worker: Option<EngineFacts>,
    /// Each rule, in the order of [`RULES`].
    pub checked: Vec<Checked>,
}

impl Conformance {
    /// Whether every rule holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.checked.iter().all(|checked| checked.verdict == Verdict::Holds)
    }

    fn note(&mut self, rule: &'static str, found: Option<Result<String, String>>) -> bool {
        let (verdict, detail) = match found {
            Some(Ok(detail)) => (Verdict::Holds, detail),
            Some(Err(detail)) => (Verdict::Fails, detail),
            None => (Verdict::Unknown, "the program does not greet".to_owned()),
        };
        self.checked.push(Checked { rule, verdict, detail });
        verdict == Verdict::Holds
    }
}

/// What is checked, and how.
pub struct Subject<'s> {
    /// The program and its parameters.
    pub config: &'s pilote_spec::Worker,
    /// What it is told to give.
    pub output: &'s OutputSpec,
    /// Whether what it gives is judged by that.
    pub judged: bool,
    /// What it gets of the world around.
    pub around: &'s Surround,
}

/// One rule in conversation: what was seen, or how it is broken.
type Rule = fn(&Subject<'_>, &mut Session) -> Result<String, String>;

/// The rules that are kept in conversation, between the greeting and the end.
const CONVERSATION: [(&str, Rule); 9] = [
    ("answers", answers),
    ("names", names),
    ("identity", identity),
    ("batches", batches),
    ("text-file", text_file),
    ("odd-texts", odd_texts),
    ("longest-line", longest_line),
    ("unknown-fields", unknown_fields),
    ("end", end),
];

/// Starts the program and goes through the rules; after a broken one with a new process, since the old one may have
/// lost the thread.
///
/// # Errors
/// When nothing can be started below the guard.
pub fn check(subject: &Subject<'_>) -> Result<Conformance, EngineFault> {
    let mut session = Session::start(subject, PROTOCOL)?;
    let greeting = session.greeting();
    let worker = greeting.as_ref().ok().map(|hello| facts(subject.config, BTreeMap::new(), hello.clone()));
    let mut found = Conformance { worker, checked: Vec::with_capacity(RULES.len()) };
    found.note("greeting", Some(greeting.and_then(|hello| well_greeted(&hello))));
    let mut in_thread = true;
    for (rule, keep) in CONVERSATION {
        if found.worker.is_none() {
            found.note(rule, None);
            continue;
        }
        if !in_thread {
            session = Session::start(subject, PROTOCOL)?;
            if let Err(said) = session.greeting() {
                found.note(rule, Some(Err(format!("started again, {said}"))));
                continue;
            }
        }
        in_thread = found.note(rule, Some(keep(subject, &mut session)));
    }
    drop(session);
    let other = match &found.worker {
        Some(_) => Some(other_version(subject)?),
        None => None,
    };
    found.note("other-version", other);
    Ok(found)
}

/// `credits` within bounds; a name is asked for by the greeting itself.
fn well_greeted(hello: &Hello) -> Result<String, String> {
    match hello.credits {
        1..=CREDITS_MAX => Ok(format!("{} {}, credits {}", hello.name, hello.version, hello.credits)),
        other => Err(format!("`credits` is {other}; 1 to {CREDITS_MAX} are taken")),
    }
}

fn texts(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| json!({ "text": text })).collect()
}

/// Each item has one answer before the batch's end, and an output is of the declared kind.
fn answers(subject: &Subject<'_>, session: &mut Session) -> Result<String, String> {
    let answers = session.ask(&texts(&TEXTS))?;
    let mut refused = 0;
    for answer in answers {
        match answer {
            Answer::Output(output) if subject.judged => {
                accept(subject.output, output).map_err(|refusal| {
                    format!("an output would be refused: {}", said(&Answer::Refused(refusal)))
                })?;
            }
            Answer::Output(_) => {}
            Answer::Refused(_) => refused += 1,
        }
    }
    Ok(format!("{} texts, {refused} refused", TEXTS.len()))
}

/// Names come back exactly as they were given, the largest number included.
fn names(_: &Subject<'_>, session: &mut Session) -> Result<String, String> {
    session.next_name = u64::MAX - 2;
    let asked = session.ask(&texts(&TEXTS[..2]));
    session.next_name = 1 << 20;
    asked.map(|_| format!("w{} and the one before", u64::MAX - 1))
}

/// The same texts in another order and alone give the same answers: each belongs to its text and not to its place.
fn identity(_: &Subject<'_>, session: &mut Session) -> Result<String, String> {
    let together = session.ask(&texts(&TEXTS))?;
    let reversed: Vec<&str> = TEXTS.iter().rev().copied().collect();
    let again = session.ask(&texts(&reversed))?;
    let guards = Guards::default();
    let differ = |text: &str, one: &Answer, other: &Answer, how: &str| {
        agree(&guards, one, other).map_err(|why| format!("`{text}` {how}: {why}"))
    };
    for ((text, one), other) in TEXTS.iter().zip(&together).zip(again.iter().rev()) {
        differ(text, one, other, "in another order")?;
    }
    for (text, one) in TEXTS.iter().zip(&together) {
        let alone = session.ask(&texts(&[text]))?;
        differ(text, one, alone.first().unwrap_or(one), "alone")?;
    }
    Ok("answers belong to their texts".to_owned())
}

fn agree(guards: &Guards, one: &Answer, other: &Answer) -> Result<(), String> {
    match (one, other) {
        (Answer::Output(one), Answer::Output(other)) => guards.disagreement(one, other).map_or(Ok(()), Err),
        (Answer::Refused(_), Answer::Refused(_)) => Ok(()),
        (one, other) => Err(format!("{}, then {}", said(one), said(other))),
    }
}

fn said(answer: &Answer) -> String {
    match answer {
        Answer::Output(output) => format!("an output of kind {}", output.kind()),
        Answer::Refused(refusal) => {
            let facts: Vec<String> =
                refusal.facts.iter().map(|(name, fact)| format!("{name} {fact}")).collect();
            format!("refused as {} ({})", refusal.reason, facts.join(", "))
        }
    }
}

/// As many batches as the greeting grants may be handed over before the first is done.
fn batches(_: &Subject<'_>, session: &mut Session) -> Result<String, String> {
    let count = session.credits + 1;
    let mut open = Vec::new();
    for number in 0..count {
        if open.len() == session.credits {
            session.hear(&mut open)?;
        }
        open.push(session.hand_over(&texts(&[TEXTS[number % TEXTS.len()], TEXTS[0]])));
    }
    while !open.is_empty() {
        session.hear(&mut open)?;
    }
    Ok(format!("{count} batches, {} at once", session.credits))
}

/// A text that comes as a file is the same text.
fn text_file(subject: &Subject<'_>, session: &mut Session) -> Result<String, String> {
    let path = subject.around.scratch.path().join("text");
    fs_err::write(&path, TEXTS[1]).map_err(|error| error.to_string())?;
    let from_line = session.ask(&texts(&[TEXTS[1]]))?;
    let from_file = session.ask(&[json!({ "text_file": path })])?;
    let _ = fs_err::remove_file(path);
    match (from_line.first(), from_file.first()) {
        (Some(one), Some(other)) => agree(&Guards::default(), one, other)
            .map(|()| "the same answer as from the line".to_owned())
            .map_err(|why| format!("the text from a file is answered otherwise: {why}")),
        _ => Err("no answer".to_owned()),
    }
}

/// Whatever a corpus holds gets an answer, refusals included; the program goes on afterwards.
fn odd_texts(_: &Subject<'_>, session: &mut Session) -> Result<String, String> {
    // What stands for bytes that were no UTF-8, line ends of every kind, no text at all, characters beyond 16 bits.
    let odd = [
        "\u{fffd}\u{fffd} broken",
        "a\nb\r\nc\u{2028}d\u{85}e",
        "",
        " \t ",
        "\0\u{1b}[31m",
        "😀 e\u{301} \u{202e}x",
        "\"\\/{}[]",
    ];
    session.ask(&texts(&odd))?;
    session.ask(&texts(&TEXTS[..1])).map_err(|why| format!("after odd texts, {why}"))?;
    Ok(format!("{} texts", odd.len()))
}

/// A line of exactly the greeting's `line_bytes_max` is read.
fn longest_line(_: &Subject<'_>, session: &mut Session) -> Result<String, String> {
    let empty = session.line_bytes(&[json!({ "text": "" })]);
    let text = "one more word "
        .repeat(session::LINE_BYTES_MAX)
        .chars()
        .take(session::LINE_BYTES_MAX - empty)
        .collect::<String>();
    session.ask(&[json!({ "text": text })])?;
    Ok(format!("{} bytes", session::LINE_BYTES_MAX))
}

/// A later Pilote may say more: what is not known is passed over.
fn unknown_fields(_: &Subject<'_>, session: &mut Session) -> Result<String, String> {
    let item = json!({ "text": TEXTS[0], "later": { "text": ["no", 1], "of": null } });
    session.ask(&[item])?;
    Ok("passed over".to_owned())
}

/// Told that nothing more comes, the program says nothing more and ends with status 0.
fn end(_: &Subject<'_>, session: &mut Session) -> Result<String, String> {
    session.end()
}

/// A program that is spoken to in another version never claims to speak it.
fn other_version(subject: &Subject<'_>) -> Result<Result<String, String>, EngineFault> {
    let mut session = Session::start(subject, PROTOCOL + 1)?;
    Ok(match session.greeting_of_any_version() {
        Ok(hello) if hello.protocol == PROTOCOL => Ok("greets with its own version".to_owned()),
        Ok(hello) => Err(format!("it greets in protocol {}, which is not written yet", hello.protocol)),
        Err(_) if session.has_ended() => Ok("ends without a greeting".to_owned()),
        Err(why) => Err(why),
    })
}
