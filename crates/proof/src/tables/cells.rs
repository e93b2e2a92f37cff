//! The columns of a table of results, and the cells of a row.

use pilote_spec::{ExactJson, Inputs, Item, Output, OutputSpec, Trial};

use super::Told;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Whole,
    Float,
    Text,
    /// Vectors of one width.
    Vector(u32),
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Whether every row has a value.
    pub(super) required: bool,
}

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    None,
    Whole(i64),
    Float(f32),
    Text(String),
    Vector(Vec<f32>),
}

/// The columns of a trial's tables: place, identifier and version of the item, what became of it, the output, then the
/// columns that are passed through under their names. One that bears a name of ours is called `column.NAME`.
#[derive(Debug)]
pub(super) struct Cells {
    pub(super) columns: Vec<Column>,
    output: Vec<&'static str>,
    passed: Vec<String>,
}

impl Cells {
    pub(super) fn of(trial: &Trial) -> Self {
        let column = |name: &str, kind, required| Column { name: name.to_owned(), kind, required };
        let mut columns = vec![
            column("position", Kind::Whole, true),
            column("id", Kind::Text, false),
            column("sha256", Kind::Text, false),
            column("outcome", Kind::Text, true),
            column("reason", Kind::Text, false),
            column("facts", Kind::Text, false),
        ];
        let output: Vec<(&'static str, Kind)> = match &trial.project.output {
            OutputSpec::Category { .. } => {
                vec![("category", Kind::Text), ("score", Kind::Float), ("cut_at_tokens", Kind::Whole)]
            }
            OutputSpec::Vector { width } => {
                vec![("vector", Kind::Vector(*width)), ("cut_at_tokens", Kind::Whole)]
            }
            OutputSpec::Text {} => vec![("text", Kind::Text), ("made_with", Kind::Text)],
            OutputSpec::Json { .. } => vec![("value", Kind::Text), ("made_with", Kind::Text)],
            OutputSpec::File { .. } => {
                vec![("file", Kind::Text), ("file_sha256", Kind::Text), ("bytes", Kind::Whole)]
            }
        };
        columns.extend(output.iter().map(|(name, kind)| column(name, *kind, false)));
        let passed: Vec<String> = passed(trial);
        for name in &passed {
            let taken = columns.iter().any(|one| one.name == *name);
            let name = if taken { format!("column.{name}") } else { name.clone() };
            columns.push(Column { name, kind: Kind::Text, required: false });
        }
        Self { columns, output: output.into_iter().map(|(name, _)| name).collect(), passed }
    }

    /// The cells of an item, as many as there are columns.
    pub(super) fn row(&self, item: &Item, told: &Told<'_>) -> Vec<Cell> {
        let mut cells = vec![
            Cell::Whole(item.position.0.try_into().unwrap_or(i64::MAX)),
            text(item.id.as_ref().map(|id| id.0.clone())),
            text(item.digest.map(|digest| digest.to_string())),
        ];
        match told {
            Told::Refused(refusal) => {
                let facts = (!refusal.facts.is_empty()).then(|| json(&refusal.facts));
                cells.extend([
                    Cell::Text("refused".to_owned()),
                    Cell::Text(refusal.reason.code().to_owned()),
                    text(facts),
                ]);
                cells.extend(self.output.iter().map(|_| Cell::None));
            }
            Told::Accepted(output) => {
                cells.extend([Cell::Text("accepted".to_owned()), Cell::None, Cell::None]);
                cells.extend(self.output.iter().map(|name| of_output(output, name)));
            }
        }
        cells.extend(self.passed.iter().map(|name| text(item.columns.get(name).map(ExactJson::plain))));
        cells
    }
}

/// The names under which columns are passed through.
pub(super) fn passed(trial: &Trial) -> Vec<String> {
    match trial.inputs() {
        Inputs::Jsonl { columns, .. }
        | Inputs::Csv { columns, .. }
        | Inputs::Parquet { columns, .. }
        | Inputs::OpenAiBatch { columns, .. } => columns.keys().cloned().collect(),
        Inputs::Directory { .. } | Inputs::Files { .. } | Inputs::Range { .. } => Vec::new(),
    }
}

/// The value that an output has in one of the columns of its kind.
fn of_output(output: &Output, name: &str) -> Cell {
    let whole = |value: Option<u64>| {
        value.and_then(|value| i64::try_from(value).ok()).map_or(Cell::None, Cell::Whole)
    };
    match (output, name) {
        (Output::Category { category, .. }, "category") => Cell::Text(category.clone()),
        (Output::Category { score: Some(score), .. }, "score") => Cell::Float(*score),
        (Output::Vector { values, .. }, "vector") => Cell::Vector(values.clone()),
        (Output::Category { cut_at_tokens, .. } | Output::Vector { cut_at_tokens, .. }, "cut_at_tokens") => {
            whole(cut_at_tokens.map(u64::from))
        }
        (Output::Text { text, .. }, "text") => Cell::Text(text.clone()),
        (Output::Json { value, .. }, "value") => Cell::Text(value.as_str().to_owned()),
        (Output::Text { made_with, .. } | Output::Json { made_with, .. }, "made_with") => {
            if made_with.is_empty() { Cell::None } else { Cell::Text(json(made_with)) }
        }
        (Output::File { payload, .. }, "file") => Cell::Text(payload.clone()),
        (Output::File { digest, .. }, "file_sha256") => Cell::Text(digest.to_string()),
        (Output::File { bytes, .. }, "bytes") => whole(Some(*bytes)),
        _ => Cell::None,
    }
}

fn text(value: Option<String>) -> Cell {
    value.map_or(Cell::None, Cell::Text)
}

/// Names and values as JSON; a map of texts always makes some.
fn json(map: &impl serde::Serialize) -> String {
    serde_json::to_string(map).unwrap_or_default()
}
