//! The report in words: every string that the template sets, in one language.

use std::collections::BTreeMap;
use std::time::Duration;

use askama::Template;
use pilote_spec::{
    Criterion, CriterionCode, Item, Output, Reason, Refusal, Stamp, TrialEvent, TrialKind, Verdict,
};
use pilote_text::{Texts, printable};

use crate::excerpt::{self, Excerpt};
use crate::finding::{Finding, Grade};
use crate::report::chart::{self, Chart};
use crate::report::facts::{Facts, Sample};
use crate::report::{Ladder, calendar};

/// Up to so many refusals, each is told by itself.
const REFUSALS_TOLD: usize = 20;

/// Names shown of the items that were refused for one reason.
const NAMES_SHOWN: usize = 12;

/// The page, as `templates/report.html` lays it out.
#[derive(Template)]
#[template(path = "report.html")]
pub(super) struct Page {
    pub(super) lang: &'static str,
    pub(super) title: String,
    pub(super) labels: Labels,
    pub(super) project: String,
    pub(super) purpose: String,
    pub(super) meta: Vec<Fact>,
    pub(super) verdict: Banner,
    pub(super) pieces: Vec<Piece>,
    pub(super) balance: Vec<Fact>,
    pub(super) criteria: Vec<Line>,
    pub(super) findings: Vec<Line>,
    pub(super) refusals: Vec<Refused>,
    pub(super) results: Vec<Answer>,
    pub(super) results_note: String,
    pub(super) measures: Vec<Fact>,
    pub(super) charts: Vec<Chart>,
    pub(super) ladder: Climbed,
    pub(super) history: Vec<Past>,
    pub(super) folds: Vec<Fold>,
    pub(super) footer: Vec<String>,
    pub(super) command: String,
}

/// Headings and fixed sentences.
pub(super) struct Labels {
    pub(super) skip: String,
    pub(super) eyebrow: String,
    pub(super) balance: String,
    pub(super) criteria: String,
    pub(super) findings: String,
    pub(super) refusals: String,
    pub(super) no_refusal: String,
    pub(super) results: String,
    pub(super) measures: String,
    pub(super) history: String,
    pub(super) colon: String,
    pub(super) about: String,
}

/// A name with its value; `class` styles it.
pub(super) struct Fact {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) class: &'static str,
}

/// The verdict at the top.
pub(super) struct Banner {
    pub(super) class: &'static str,
    pub(super) mark: &'static str,
    pub(super) sentence: String,
    pub(super) notes: Vec<String>,
}

/// A piece of the bar under the heading of the balance.
pub(super) struct Piece {
    pub(super) class: &'static str,
    pub(super) from: String,
    pub(super) width: String,
}

/// A criterion or a finding.
pub(super) struct Line {
    pub(super) class: &'static str,
    pub(super) mark: &'static str,
    pub(super) sentence: String,
    pub(super) word: String,
    pub(super) detail: String,
    pub(super) concerned: Vec<String>,
}

/// A refused item, or many that were refused for one reason.
pub(super) struct Refused {
    pub(super) name: String,
    pub(super) tag: String,
    pub(super) reason: String,
    pub(super) names: Vec<String>,
}

/// An accepted item.
pub(super) struct Answer {
    pub(super) name: String,
    pub(super) length: String,
    pub(super) has_excerpt: bool,
    pub(super) excerpt: String,
    pub(super) output: String,
    pub(super) details: Vec<String>,
}

/// The ladder before the trial; empty where none is known.
#[derive(Default)]
pub(super) struct Climbed {
    pub(super) title: String,
    pub(super) ending: String,
    pub(super) lines: Vec<Line>,
}

/// A trial of the history.
pub(super) struct Past {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) lines: Vec<String>,
}

/// Facts that are folded away.
pub(super) struct Fold {
    pub(super) name: String,
    pub(super) facts: Vec<Fact>,
}

/// Words of one language for the facts of one trial.
pub(super) struct Writer<'a> {
    pub(super) facts: &'a Facts,
    pub(super) texts: &'a Texts,
}

impl Page {
    /// Puts `facts` into the words of `texts`.
    pub(super) fn new(facts: &Facts, texts: &Texts) -> Self {
        let writer = Writer { facts, texts };
        let project = shown(&facts.trial.project.name);
        Self {
            lang: texts.lang().code(),
            title: format!("{project} · {}", shown(&facts.trial.name)),
            labels: writer.labels(),
            purpose: shown(&facts.trial.project.purpose),
            meta: writer.meta(),
            verdict: writer.verdict(),
            pieces: writer.pieces(),
            balance: writer.balance(),
            criteria: facts
                .verification
                .criteria
                .iter()
                .map(|criterion| writer.criterion(criterion))
                .collect(),
            findings: facts.verification.findings.iter().map(|finding| writer.finding(finding)).collect(),
            refusals: writer.refusals(),
            results: facts.samples.iter().map(|sample| writer.answer(sample)).collect(),
            results_note: writer.results_note(),
            measures: writer.measures(),
            charts: writer.charts(),
            ladder: Climbed::default(),
            history: writer.history(),
            folds: writer.folds(),
            footer: vec![
                writer.say("offline", &[("version", env!("CARGO_PKG_VERSION"))]),
                writer.word("check"),
            ],
            command: format!("pilote verify {}", shown(&facts.directory)),
            project,
        }
    }

    /// The page with the ladder that was climbed before the trial.
    pub(super) fn after(mut self, ladder: Option<&Ladder>) -> Self {
        let Some(ladder) = ladder else { return self };
        let lines = ladder.rungs.iter().map(|rung| {
            let class = rung.passed.map_or("unknown", |passed| if passed { "holds" } else { "fails" });
            Line {
                class,
                mark: if rung.passed.is_none() { "-" } else { mark(class) },
                sentence: shown(&rung.name),
                word: shown(&rung.verdict),
                detail: String::new(),
                concerned: rung.lines.iter().map(|line| shown(line)).collect(),
            }
        });
        self.ladder =
            Climbed { title: shown(&ladder.title), ending: shown(&ladder.ending), lines: lines.collect() };
        self
    }
}

impl Writer<'_> {
    pub(super) fn word(&self, key: &str) -> String {
        self.texts.get(&format!("report-{key}"), &[])
    }

    pub(super) fn say(&self, key: &str, args: &[(&str, &str)]) -> String {
        self.texts.get(&format!("report-{key}"), args)
    }

    pub(super) fn fact(&self, key: &str, value: impl Into<String>) -> Fact {
        Fact { name: self.word(key), value: value.into(), class: "" }
    }

    fn kind(&self) -> &'static str {
        match self.facts.trial.kind {
            TrialKind::Pilot => "pilot",
            TrialKind::Campaign => "campaign",
        }
    }

    fn labels(&self) -> Labels {
        Labels {
            skip: self.word("skip"),
            eyebrow: self.word(&format!("eyebrow-{}", self.kind())),
            balance: self.word("balance"),
            criteria: self.word("criteria"),
            findings: self.word("findings"),
            refusals: self.word("refusals"),
            no_refusal: self.word("no-refusal"),
            results: self.word("results"),
            measures: self.word("measures"),
            history: self.word("history"),
            colon: self.word("colon"),
            about: self.word("about"),
        }
    }

    fn meta(&self) -> Vec<Fact> {
        let trial = &self.facts.trial;
        let engine = format!("{} {}", shown(&trial.engine.name), shown(&trial.engine.version));
        let mut meta = vec![
            self.fact("meta-trial", shown(&trial.name)),
            self.fact("meta-started", calendar(trial.started)),
            self.fact("meta-engine", engine),
        ];
        meta.extend(
            trial.engine.model.as_ref().map(|model| self.fact("meta-model", shown(&model.reference))),
        );
        meta
    }

    /// One sentence; the gravest thing decides.
    fn verdict(&self) -> Banner {
        let verification = &self.facts.verification;
        let of_verdict = |verdict| {
            verification
                .criteria
                .iter()
                .filter(|criterion| {
                    criterion.verdict == verdict && criterion.code != CriterionCode::CopyWhole
                })
                .count()
        };
        let (fails, unknown) = (of_verdict(Verdict::Fails), of_verdict(Verdict::Unknown));
        let balance = verification.balance.clone().unwrap_or_default();
        let number = |count: u64| self.texts.number(count);
        let (class, sentence) = if verification.errors > 0 {
            ("fails", self.say("damaged", &[("count", &verification.errors.to_string())]))
        } else if balance.pending > 0 {
            let (pending, declared) = (number(balance.pending), number(balance.declared));
            ("unknown", self.say("unfinished", &[("pending_shown", &pending), ("declared_shown", &declared)]))
        } else if fails > 0 {
            ("fails", self.say("fails", &[("kind", self.kind()), ("count", &fails.to_string())]))
        } else if unknown > 0 {
            ("unknown", self.say("unknown", &[("count", &unknown.to_string())]))
        } else {
            let expected = self.facts.trial.kind == TrialKind::Pilot && balance.refused > 0;
            let key = if expected { "holds-expected" } else { "holds" };
            let args = [
                ("kind", self.kind()),
                ("accepted", &balance.accepted.to_string()),
                ("accepted_shown", &number(balance.accepted)),
                ("refused", &balance.refused.to_string()),
                ("refused_shown", &number(balance.refused)),
            ];
            ("holds", self.say(key, &args))
        };
        Banner { class, mark: mark(class), sentence, notes: self.notes() }
    }

    fn notes(&self) -> Vec<String> {
        let trial = &self.facts.trial;
        let mut notes = Vec::new();
        notes.extend(trial.limit.map(|limit| self.say("limit", &[("limit", &limit.to_string())])));
        notes.extend(trial.retries.as_ref().map(|retries| {
            self.say("retries", &[("trial", &retries.trial), ("reason", &retries.reason.to_string())])
        }));
        notes.extend(trial.since.as_ref().map(|since| {
            let (same, asked) = (since.taken_over.to_string(), since.asked.to_string());
            self.say("since", &[("trial", &since.trial), ("same", &same), ("asked", &asked)])
        }));
        if self.facts.verification.subject == crate::Subject::Copy {
            return notes;
        }
        match &self.facts.copy {
            None => notes.push(self.word("copy-none")),
            Some(copy) if !copy.whole => notes.push(self.word("copy-damaged")),
            Some(copy) => {
                notes.push(self.say("copy-whole", &[("files", &copy.files.to_string())]));
                let same = copy.same_file_system == Some(true);
                notes.push(self.word(if same { "same-system" } else { "no-backup" }));
            }
        }
        notes
    }

    fn pieces(&self) -> Vec<Piece> {
        let balance = self.facts.verification.balance.clone().unwrap_or_default();
        let mut from = 0;
        [("accepted", balance.accepted), ("refused", balance.refused), ("pending", balance.pending)]
            .into_iter()
            .map(|(class, count)| {
                let piece = Piece {
                    class,
                    from: chart::share(from, balance.declared),
                    width: chart::share(count, balance.declared),
                };
                from += count;
                piece
            })
            .collect()
    }

    fn balance(&self) -> Vec<Fact> {
        let balance = self.facts.verification.balance.clone().unwrap_or_default();
        let figure =
            |key: &str, count: u64, class| Fact { class, ..self.fact(key, self.texts.number(count)) };
        // What should be nothing stands back while it is, and stands out when it is not.
        let nothing = |count: u64| if count == 0 { "zero" } else { "wrong" };
        vec![
            figure("declared", balance.declared, ""),
            figure("accepted", balance.accepted, "accepted"),
            figure("refused", balance.refused, "refused"),
            figure("pending", balance.pending, if balance.pending == 0 { "zero" } else { "pending" }),
            figure("missing", balance.missing, nothing(balance.missing)),
            figure("duplicated", balance.duplicated, nothing(balance.duplicated)),
            figure("invented", balance.invented, nothing(balance.invented)),
        ]
    }

    fn criterion(&self, criterion: &Criterion) -> Line {
        let class = criterion.verdict.code();
        // The names stand below the sentence, each for itself, so the sentence goes without them.
        let bare = Criterion { concerned: Vec::new(), ..criterion.clone() };
        Line {
            class,
            mark: mark(class),
            sentence: self.texts.criterion(&bare),
            word: self.texts.verdict(criterion.verdict),
            detail: String::new(),
            concerned: criterion.concerned.iter().map(|name| shown(name)).collect(),
        }
    }

    fn finding(&self, finding: &Finding) -> Line {
        let class = if finding.grade == Grade::Error { "fails" } else { "unknown" };
        let code = self.texts.get(&format!("finding-{}", finding.code.code()), &[]);
        Line {
            class,
            mark: mark(class),
            sentence: self.say("finding", &[("code", &code), ("place", &finding.place)]),
            word: String::new(),
            detail: shown(&finding.detail),
            concerned: Vec::new(),
        }
    }

    /// Few refusals are told one by one with what was seen of each, many by their reasons.
    fn refusals(&self) -> Vec<Refused> {
        let facts = self.facts;
        if facts.refusals.len() <= REFUSALS_TOLD && facts.more_refusals.is_empty() {
            let told = facts.refusals.iter().map(|(item, refusal)| Refused {
                name: self.name(item),
                tag: self.expected(item, refusal),
                reason: self.texts.refusal(refusal),
                names: Vec::new(),
            });
            return told.collect();
        }
        let mut by_reason: BTreeMap<Reason, (u64, Vec<String>)> = BTreeMap::new();
        for (item, refusal) in &facts.refusals {
            let (count, names) = by_reason.entry(refusal.reason).or_default();
            *count += 1;
            names.push(self.name(item));
        }
        for (reason, more) in &facts.more_refusals {
            by_reason.entry(*reason).or_default().0 += more;
        }
        let grouped = by_reason.into_iter().map(|(reason, (count, mut names))| {
            names.truncate(NAMES_SHOWN);
            let more = count - names.len() as u64;
            if more > 0 {
                let args = [("count", &*more.to_string()), ("count_shown", &self.texts.number(more))];
                names.push(self.say("more", &args));
            }
            Refused {
                name: self.say(
                    "refused-items",
                    &[("count", &count.to_string()), ("count_shown", &self.texts.number(count))],
                ),
                tag: reason.to_string(),
                reason: self.texts.refusal(&Refusal::new(reason)),
                names,
            }
        });
        grouped.collect()
    }

    /// Whether a pilot announced this refusal; of a campaign there is nothing to say.
    fn expected(&self, item: &Item, refusal: &Refusal) -> String {
        if self.facts.trial.kind != TrialKind::Pilot {
            return String::new();
        }
        let announced = self.facts.trial.project.pilot.expected_refusals.iter().any(|expected| {
            item.id.as_ref().is_some_and(|id| id.as_str() == expected.id) && expected.reason == refusal.reason
        });
        self.word(if announced { "expected" } else { "unexpected" })
    }

    fn name(&self, item: &Item) -> String {
        match &item.id {
            Some(id) => shown(id.as_str()),
            None => self.say("unnamed", &[("position", &item.position.to_string())]),
        }
    }

    fn results_note(&self) -> String {
        let (count, total) = (self.facts.samples.len() as u64, self.facts.accepted);
        let args = [
            ("count", &*count.to_string()),
            ("count_shown", &self.texts.number(count)),
            ("total_shown", &self.texts.number(total)),
        ];
        match count {
            0 => self.word("results-none"),
            _ if count == total => self.say("results-all", &args),
            _ => self.say("results-sample", &args),
        }
    }

    fn answer(&self, sample: &Sample) -> Answer {
        let (output, details) = match &sample.output {
            Some(output) => self.output(output),
            None => (self.texts.get("finding-output-unacceptable", &[]), Vec::new()),
        };
        let (has_excerpt, excerpt) = match &sample.excerpt {
            Excerpt::Text(text) => (true, lines_shown(text)),
            Excerpt::Absent => (false, self.word("text-absent")),
            Excerpt::Changed => (false, self.word("text-changed")),
            Excerpt::Unreadable => (false, self.word("text-unreadable")),
        };
        Answer {
            name: self.name(&sample.item),
            length: self.chars(sample.item.chars),
            has_excerpt,
            excerpt,
            output,
            details,
        }
    }

    fn chars(&self, count: u64) -> String {
        self.say("chars", &[("count", &count.to_string()), ("count_shown", &self.texts.number(count))])
    }

    /// An output in a line, and what stands below it.
    fn output(&self, output: &Output) -> (String, Vec<String>) {
        let cut =
            |tokens: &Option<u32>| tokens.map(|tokens| self.say("cut", &[("tokens", &tokens.to_string())]));
        match output {
            Output::Category { category, score: best, others, cut_at_tokens } => {
                let score = |score: &f32| self.texts.decimal(f64::from(*score), 3);
                let mut details: Vec<String> =
                    best.iter().map(|best| self.say("score", &[("score", &score(best))])).collect();
                details.extend(others.iter().take(2).map(|(other, value)| {
                    self.say("next", &[("category", other), ("score", &score(value))])
                }));
                details.extend(cut(cut_at_tokens));
                (shown(category), details)
            }
            Output::Vector { values, cut_at_tokens } => {
                let first: Vec<String> =
                    values.iter().take(4).map(|value| self.texts.decimal(f64::from(*value), 3)).collect();
                let mut details =
                    vec![self.say("vector-start", &[("values", &format!("{} …", first.join("  ")))])];
                details.extend(cut(cut_at_tokens));
                (self.say("vector", &[("width", &values.len().to_string())]), details)
            }
            Output::VectorAt { width, .. } => {
                (self.say("vector", &[("width", &width.to_string())]), Vec::new())
            }
            Output::Text { text, .. } => (lines_shown(&excerpt::start(text)), Vec::new()),
            Output::Json { value, .. } => (shown(&excerpt::start(&value.to_string())), Vec::new()),
            Output::FileMade { path } => (shown(path), Vec::new()),
            Output::File { payload, bytes, .. } => {
                (self.say("file", &[("name", payload), ("size", &self.texts.storage(*bytes))]), Vec::new())
            }
        }
    }

    fn measures(&self) -> Vec<Fact> {
        let lines = || self.facts.journal.measures.iter().flat_map(|writer| &writer.lines);
        let absent = || self.word("not-measured");
        let batches = lines().count() as u64;
        let (items, took): (u64, u64) = lines().fold((0, 0), |(items, took), line| {
            (items + line.items, took + line.measures.compute_us.unwrap_or(line.took_us))
        });
        let time = self.texts.duration(Duration::from_micros(took));
        let took_value = self.say("took-value", &[("time", &time), ("batches", &batches.to_string())]);
        // A rate names its count; of nothing there is none.
        let rate = (took > 0).then(|| {
            #[expect(clippy::cast_precision_loss, reason = "a rate of two digits for people")]
            let rate = items as f64 / (took as f64 / 1e6);
            let rate = self.texts.decimal(rate, if rate < 1.0 { 3 } else { 1 });
            let shown = self.texts.number(items);
            self.say("rate-value", &[("rate", &rate), ("items", &items.to_string()), ("items_shown", &shown)])
        });
        let tokens = lines().map(|line| line.measures.tokens.zip(line.measures.padded_tokens));
        let tokens = tokens.collect::<Option<Vec<_>>>().filter(|all| !all.is_empty()).map(|all| {
            let (tokens, padded): (u64, u64) =
                all.into_iter().fold((0, 0), |sum, two| (sum.0 + two.0, sum.1 + two.1));
            let [tokens, padding] =
                [tokens, padded.saturating_sub(tokens)].map(|count| self.texts.number(count));
            self.say("tokens-value", &[("tokens", &tokens), ("padding", &padding)])
        });
        let peak = lines().filter_map(|line| line.measures.peak_bytes).max();
        let mut facts = vec![
            self.fact("took", if batches > 0 { took_value } else { absent() }),
            self.fact("rate", rate.unwrap_or_else(absent)),
            self.fact("tokens", tokens.unwrap_or_else(absent)),
            self.fact("peak", peak.map_or_else(absent, |bytes| self.texts.memory(bytes))),
        ];
        facts.extend(self.resumed());
        facts
    }

    fn resumed(&self) -> Option<Fact> {
        let events = self.facts.journal.events.iter().flat_map(|writer| &writer.lines);
        let starts: Vec<(Stamp, u64)> = events
            .filter_map(|line| match line.event {
                TrialEvent::Started { wall, resumed: true, carried_over, .. } => Some((wall, carried_over)),
                _ => None,
            })
            .collect();
        let (_, carried) = starts.iter().max()?;
        let (times, items) = (starts.len().to_string(), self.texts.number(*carried));
        Some(self.fact("carried", self.say("carried-value", &[("times", &times), ("items", &items)])))
    }

    fn folds(&self) -> Vec<Fold> {
        let fold = |key: &str, facts: Vec<Fact>| Fold { name: self.word(key), facts };
        let mut folds = vec![fold("fold-program", self.program())];
        folds.extend(
            self.facts.trial.engine.model.as_ref().map(|model| fold("fold-model", self.model(model))),
        );
        folds.push(fold("fold-machine", self.machine()));
        let files = self.facts.written.iter().flat_map(|written| &written.files);
        let files: Vec<Fact> =
            files.map(|(name, facts)| code(shown(name), facts.sha256.to_string())).collect();
        if !files.is_empty() {
            folds.push(fold("fold-files", files));
        }
        let noted = self.noted();
        if !noted.is_empty() {
            folds.push(fold("fold-notes", noted));
        }
        folds
    }

    fn program(&self) -> Vec<Fact> {
        let trial = &self.facts.trial;
        let engine = &trial.engine;
        let digest = trial.program.digest.map_or_else(|| self.word("unread"), |digest| digest.to_string());
        let mut facts = vec![
            self.fact("program", shown(&trial.program.version)),
            code(self.word("program-digest"), digest),
            code(self.word("config-digest"), trial.config.to_string()),
            self.fact("meta-engine", format!("{} {}", shown(&engine.name), shown(&engine.version))),
            self.fact("device", shown(&engine.device)),
            self.fact("precision", shown(&engine.precision)),
            self.fact("part-items", self.texts.number(trial.part_items)),
            self.fact("batch-items", self.texts.number(trial.batch_items)),
        ];
        facts.extend(engine.longest_tokens.map(|tokens| {
            let tokens = self.texts.number(tokens.into());
            self.fact("longest", self.say("longest-value", &[("tokens", &tokens)]))
        }));
        facts.extend(engine.parameters.iter().map(|(name, value)| code(shown(name), shown(value))));
        facts
    }

    fn model(&self, model: &pilote_spec::ModelFacts) -> Vec<Fact> {
        let licence = model.licence.as_deref().map_or_else(|| self.word("licence-none"), shown);
        let mut facts =
            vec![code(self.word("reference"), shown(&model.reference)), self.fact("licence", licence)];
        facts.extend(model.files.iter().map(|(name, digest)| code(shown(name), digest.to_string())));
        facts
    }

    fn machine(&self) -> Vec<Fact> {
        let machine = &self.facts.trial.machine;
        let text = |value: &Option<String>| value.as_deref().map_or_else(|| self.word("unread"), shown);
        let number = |value: Option<String>| value.unwrap_or_else(|| self.word("unread"));
        let mut facts = vec![
            self.fact("system", text(&machine.system)),
            self.fact("kernel", text(&machine.kernel)),
            self.fact("processor", text(&machine.processor)),
            self.fact("processors", number(machine.processors.map(|count| count.to_string()))),
            self.fact("memory", number(machine.memory_bytes.map(|bytes| self.texts.memory(bytes)))),
        ];
        if machine.cards.is_empty() {
            facts.push(self.fact("cards", self.word("card-none")));
        }
        for (number, card) in (1_u32..).zip(&machine.cards) {
            let memory = card.memory_bytes.map(|bytes| self.texts.memory(bytes)).unwrap_or_default();
            let driver = card.driver.as_deref().map(shown).unwrap_or_default();
            let value = [shown(&card.name), memory, driver].into_iter().filter(|part| !part.is_empty());
            facts.push(Fact {
                name: self.say("card", &[("number", &number.to_string())]),
                value: value.collect::<Vec<_>>().join(" · "),
                class: "",
            });
        }
        facts
    }

    /// Notes and failures in the writers' own words, which are never translated.
    fn noted(&self) -> Vec<Fact> {
        let lines = self.facts.journal.events.iter().flat_map(|writer| &writer.lines);
        lines
            .filter_map(|line| match &line.event {
                TrialEvent::Noted { note, detail } => Some(code(shown(note), shown(detail))),
                TrialEvent::Failed { step, first_error, advice, cause, .. } => {
                    let cause = cause.as_deref().and_then(|cause| {
                        let said = self.texts.find(&format!("cause-{cause}"), &[])?;
                        Some([said, self.texts.get(&format!("cause-{cause}.next"), &[])].join(" "))
                    });
                    let more = cause.as_ref().or(advice.as_ref());
                    let more = more.map(|more| format!(" ({more})")).unwrap_or_default();
                    Some(code(shown(step), shown(&format!("{first_error}{more}"))))
                }
                _ => None,
            })
            .collect()
    }
}

fn code(name: String, value: String) -> Fact {
    Fact { name, value, class: "code" }
}

/// Text from outside without anything that could turn its reading order or hide; the template escapes it.
pub(super) fn shown(text: &str) -> String {
    printable(text).into_owned()
}

/// [`shown`], line by line: an excerpt keeps its line ends.
fn lines_shown(text: &str) -> String {
    text.lines().map(shown).collect::<Vec<_>>().join("\n")
}

fn mark(class: &str) -> &'static str {
    match class {
        "holds" => "✓",
        "fails" => "✗",
        _ => "?",
    }
}
