//! A plan as a page: one file without scripts, in the reader's language, for a screen and for paper.

use askama::Template;
use pilote_size::measured::Verdict;
use pilote_size::picture::class;
use pilote_size::plan::{PERIODS, Plan, Statement};
use pilote_size::{OpenPoint, Sizing};
use pilote_text::Texts;

use crate::open_points;
use crate::plan_command::{projection_text, rows, title};
use crate::size_command::{card_name, code, part_name, picture, range, said, verdict_text};

/// The page, as `templates/plan.html` lays it out. `style` and the picture are made by this program, and all that
/// stands in the picture is escaped where it is drawn; every other text passes through the template's escaping.
#[derive(Template)]
#[template(path = "plan.html")]
struct Page {
    lang: &'static str,
    style: &'static str,
    eyebrow: String,
    title: String,
    model: String,
    notes: Vec<String>,
    candidates: Candidates,
    not_offered: String,
    memory: Memory,
    open_title: String,
    open: Vec<String>,
    groups: Vec<(String, Vec<String>)>,
    footer: String,
}

/// The table of candidates.
struct Candidates {
    title: String,
    none: String,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// The task's memory against each card.
struct Memory {
    title: String,
    note: String,
    picture: String,
    parts_title: String,
    head: Vec<String>,
    parts: Vec<Part>,
    cards: Vec<(String, String)>,
}

/// A part with the colour that it has in the picture.
struct Part {
    class: String,
    name: String,
    amount: String,
    origin: String,
    basis: String,
}

/// The page of a plan, with the picture and the parts of the task where one was sized.
///
/// # Errors
/// Where the template cannot be written, which no input leads to.
pub(crate) fn page(
    plan: &Plan,
    sizing: Option<&Sizing>,
    open: &[OpenPoint],
    lots: &str,
    texts: &Texts,
) -> Result<String, askama::Error> {
    let word = |name: &str| texts.get(&format!("plan-{name}"), &[]);
    let mut open = open_points::lines(open, texts).into_iter();
    let open_title = open.next().unwrap_or_default();
    let is_open =
        |sizing: &Sizing| sizing.cards.iter().any(|card| matches!(card.verdict, Verdict::Open { .. }));
    let mut notes = Vec::new();
    notes.extend(plan.examples.then(|| word("examples")));
    notes.extend(sizing.filter(|sizing| is_open(sizing)).map(|_| word("page-open-task")));
    let says = plan.statements.iter().filter(|one| **one != Statement::PricesAreExamples);
    let duration = projection_text(texts, &plan.projection).lines().map(str::to_owned).collect();
    let offered = texts.list(plan.not_offered.iter().map(String::as_str));
    let page = Page {
        lang: texts.lang().code(),
        style: pilote_proof::report::STYLE,
        eyebrow: word("page-title"),
        title: title(plan, lots, texts),
        model: sizing
            .map(|sizing| texts.get("size-model", &[("place", &sizing.model.place)]))
            .unwrap_or_default(),
        notes,
        candidates: candidates(plan, texts),
        not_offered: if plan.not_offered.is_empty() {
            String::new()
        } else {
            texts.get("plan-not-offered", &[("cards", &offered)])
        },
        memory: memory(sizing, texts),
        open_title,
        open: open.map(|line| line.trim().to_owned()).collect(),
        groups: vec![
            (word("page-says"), says.map(|one| word(&code(one))).collect()),
            (word("page-periods"), PERIODS.map(|days| word(&format!("suits-{days}"))).to_vec()),
            (word("page-duration"), duration),
        ],
        footer: texts.get("size-never-by-count", &[]),
    };
    page.render()
}

fn candidates(plan: &Plan, texts: &Texts) -> Candidates {
    let mut rows = rows(plan, texts).into_iter().map(|row| row.to_vec());
    let head = rows.next().unwrap_or_default();
    Candidates {
        title: texts.get("plan-page-candidates", &[]),
        none: texts.get("plan-none", &[]),
        head,
        rows: rows.collect(),
    }
}

fn memory(sizing: Option<&Sizing>, texts: &Texts) -> Memory {
    let word = |name: &str| texts.get(&format!("plan-page-{name}"), &[]);
    let mut memory = Memory {
        title: word("memory"),
        note: word("no-task"),
        picture: String::new(),
        parts_title: word("parts"),
        head: ["part", "amount", "origin", "basis"].map(word).to_vec(),
        parts: Vec::new(),
        cards: Vec::new(),
    };
    let Some((sizing, share)) = sizing.and_then(|sizing| Some((sizing, sizing.estimate.fullest()?))) else {
        return memory;
    };
    memory.note = word("memory-note");
    if !share.unknown.is_empty() {
        let parts: Vec<String> = share.unknown.iter().map(|part| part_name(texts, *part)).collect();
        let parts = texts.list(parts.iter().map(String::as_str));
        memory.note = texts.get("plan-page-memory-unknown", &[("note", &memory.note), ("parts", &parts)]);
    }
    memory.picture = picture(sizing, texts);
    let mut drawn = 0;
    for part in &share.parts {
        let figure = &part.figure;
        // The picture colours the parts that have an amount, in this order.
        let class = figure.amount.map(|_| class(drawn)).unwrap_or_default();
        drawn += usize::from(figure.amount.is_some());
        memory.parts.push(Part {
            class,
            name: part_name(texts, part.part),
            amount: figure
                .amount
                .map_or_else(|| texts.get("size-unknown", &[]), |amount| range(texts, amount)),
            origin: texts.get(&format!("size-origin-{}", code(&figure.origin)), &[]),
            basis: said(texts, figure.phrase.as_ref(), &figure.basis),
        });
    }
    memory.parts.push(Part {
        class: String::new(),
        name: texts.get("size-total", &[]),
        amount: range(texts, share.known),
        origin: String::new(),
        basis: String::new(),
    });
    memory.cards = verdicts(sizing, texts);
    memory
}

/// What each card's verdict is; neighbours of one verdict stand together.
fn verdicts(sizing: &Sizing, texts: &Texts) -> Vec<(String, String)> {
    let mut groups: Vec<(Vec<String>, String)> = Vec::new();
    for card in &sizing.cards {
        let (name, verdict) = (card_name(&card.card, texts), verdict_text(texts, &card.verdict));
        match groups.last_mut() {
            Some((names, said)) if *said == verdict => names.push(name),
            _ => groups.push((vec![name], verdict)),
        }
    }
    groups.into_iter().map(|(names, said)| (texts.list(names.iter().map(String::as_str)), said)).collect()
}
