//! `pilot`, `campaign`, `limits` and what they say of inputs.

use std::collections::{BTreeMap, BTreeSet};

use super::decoding::{Decoder, Field, Table};
use super::fault::ConfigCode;
use super::find;
use crate::json::{Node, Value, visible};
use crate::project::default_delimiter;
use crate::{
    Beyond, Campaign, Duplicates, Encoding, ExpectedRefusal, FaultCode, Inputs, Limits, NumberRange, Paths,
    Pilot, Reason,
};

/// Digits of an identifier at the most; 64 bits have no more.
const DIGITS_MAX: u32 = 18;

/// A form of `inputs`.
struct Form {
    /// The key that names the place.
    key: &'static str,
    /// What it is, in words.
    name: &'static str,
    /// The verb that goes with it.
    has: &'static str,
    /// The other keys that belong to it.
    keys: &'static [&'static str],
}

const FORMS: [Form; 7] = [
    Form { key: "directory", name: "a directory of texts", has: "has", keys: &["encoding"] },
    Form {
        key: "jsonl",
        name: "a file of records",
        has: "has",
        keys: &["id", "text", "columns", "encoding"],
    },
    Form {
        key: "csv",
        name: "a table in CSV",
        has: "has",
        keys: &["id", "text", "columns", "delimiter", "encoding"],
    },
    Form { key: "parquet", name: "a table in Parquet", has: "has", keys: &["id", "text", "columns"] },
    Form { key: "openai_batch", name: "a file of OpenAI Batch requests", has: "has", keys: &["columns"] },
    Form { key: "files", name: "files that are no text", has: "have", keys: &[] },
    Form { key: "range", name: "a range of numbers", has: "has", keys: &["needs"] },
];

/// The forms that are meant, by their keys.
fn named(forms: impl Iterator<Item = &'static Form>) -> String {
    forms.map(|form| format!("`{}`", form.key)).collect::<Vec<_>>().join(", ")
}

impl Decoder {
    /// `pilot`, and that its expected refusals leave at least one item to accept.
    pub(super) fn pilot(&mut self, field: &Field<'_>) -> Option<Pilot> {
        let table = self.table(field, "pilot")?;
        let inputs = self.required(&table, "inputs", "{ \"directory\": \"data/pilote\" }", Self::inputs);
        let count = self.required(&table, "count", "12", |it, field| it.count(field, 1, u64::MAX));
        let expected_refusals = self.defaulted(&table, "expected_refusals", Vec::new(), Self::refusals);
        let digests = self.optional(&table, "digests", Self::inside);
        if let (Some(count), Some(refusals)) = (count, &expected_refusals)
            && refusals.len() as u64 >= count
        {
            let problem = format!("refusals expected: {}, items: {count}", refusals.len());
            let advice = "expect fewer than there are items: a pilot must end with a result";
            let at = table.place("expected_refusals");
            self.report(ConfigCode::WrongValue, at, &table.path("expected_refusals"), problem, advice);
        }
        Some(Pilot {
            inputs: inputs?,
            count: count?,
            expected_refusals: expected_refusals?,
            digests: digests?,
        })
    }

    /// `campaign`; its share of refusals is compared with counts later, so only its bounds matter here.
    pub(super) fn campaign(&mut self, field: &Field<'_>) -> Option<Campaign> {
        let table = self.table(field, "campaign")?;
        let inputs = self.required(&table, "inputs", "{ \"directory\": \"data/corpus\" }", Self::inputs);
        let count =
            self.required(&table, "count", "the number of items", |it, field| it.count(field, 1, u64::MAX));
        let refused_max =
            self.required(&table, "refused_max", "0.01", |it, field| it.number(field, 0.0, 1.0));
        Some(Campaign { inputs: inputs?, count: count?, refused_max: refused_max? })
    }

    /// `expected_refusals`: an identifier that stands twice could only be met by one of them.
    fn refusals(&mut self, field: &Field<'_>) -> Option<Vec<ExpectedRefusal>> {
        let mut first: BTreeMap<String, String> = BTreeMap::new();
        self.list(field, |it, field| {
            let table = it.table(field, "expected_refusals")?;
            let id = it.required(&table, "id", "\"the item's identifier\"", |it, field| {
                let id = it.text(field)?;
                if id.is_empty() {
                    it.wrong(field, "the identifier is empty", "write the item's identifier")
                } else {
                    Some(id)
                }
            });
            let reason = it.required(&table, "reason", "\"empty\"", Self::reason);
            let (id, reason) = (id?, reason?);
            if let Some(earlier) = first.insert(id.clone(), field.path.clone()) {
                let problem = format!("`{}` is expected twice, first at {earlier}", visible(&id));
                return it.wrong(field, problem, "take one of them out");
            }
            Some(ExpectedRefusal { id, reason })
        })
    }

    /// A reason by its stable code. The type itself is an untagged choice of two lists, of which a deserialiser
    /// would only say that neither fits.
    fn reason(&mut self, field: &Field<'_>) -> Option<Reason> {
        let text = self.text(field)?;
        match Reason::all().find(|reason| reason.code() == text) {
            Some(reason) => Some(reason),
            None => {
                let known: Vec<&str> = Reason::all().map(Reason::code).collect();
                self.unknown_word(field, &text, &known)
            }
        }
    }

    /// Reports an expected refusal that no trial can end with.
    pub(super) fn refusals_possible(&mut self, root: &Node, pilot: &Pilot, duplicates: Duplicates) {
        let list = find(root, &["pilot", "expected_refusals"]).map(|node| &node.value);
        let Some(Value::List(nodes)) = list else { return };
        for (at, (refusal, node)) in pilot.expected_refusals.iter().zip(nodes).enumerate() {
            let (problem, advice) = match refusal.reason {
                Reason::Input(FaultCode::DuplicateId) if duplicates == Duplicates::Stop => (
                    "two items under one identifier stop the launch before anything is refused",
                    "write \"duplicates\": \"refuse\" in the outermost object",
                ),
                Reason::Input(FaultCode::NameNotUtf8 | FaultCode::BadId) => (
                    "an item refused for this reason has no identifier to expect it by",
                    "take such an item out of the pilot, or expect another one",
                ),
                _ => continue,
            };
            let path = format!("pilot.expected_refusals[{at}].reason");
            let place = find(node, &["reason"]).map_or(node.at, |reason| reason.at);
            self.report(ConfigCode::WrongValue, place, &path, problem, advice);
        }
    }

    /// `inputs`: which form is meant is told by the key that names the place, and the keys of another form are then
    /// reported as such rather than as unknown.
    fn inputs(&mut self, field: &Field<'_>) -> Option<Inputs> {
        let table = self.table(field, "inputs")?;
        let declared = FORMS.iter().filter_map(|form| Some((form, table.field(form.key)?)));
        let (form, place) = match declared.collect::<Vec<_>>().as_slice() {
            [] => {
                let advice = "add \"directory\": \"data/pilote\", or \"jsonl\" with \"id\" and \"text\"";
                let problem = format!("none of {} says where the items are", named(FORMS.iter()));
                self.report(ConfigCode::MissingKey, field.node.at, &field.path, problem, advice);
                return None;
            }
            [(form, place)] => (*form, place.clone()),
            [(first, _), (second, place), ..] => {
                let problem = format!("inputs are declared both as {} and as {}", first.name, second.name);
                let advice = format!("keep `{}` or `{}`", first.key, second.key);
                return self.wrong(place, problem, &advice);
            }
        };
        for key in FORMS.iter().flat_map(|other| other.keys).collect::<BTreeSet<_>>() {
            if table.field(key).is_some() && !form.keys.contains(key) {
                let problem = format!("{} {} no `{key}`", form.name, form.has);
                let homes = named(FORMS.iter().filter(|other| other.keys.contains(key)));
                let advice = format!("take the key out; it is for {homes}");
                self.report(ConfigCode::UnknownKey, table.place(key), &table.path(key), problem, advice);
            }
        }
        match form.key {
            "directory" => {
                let encoding = self.encoding(&table);
                let directory = self.inside(&place);
                Some(Inputs::Directory { directory: directory?, encoding: encoding? })
            }
            "files" => Some(Inputs::Files { files: self.inside(&place)? }),
            "range" => {
                let range = self.range(&place);
                let needs =
                    self.defaulted(&table, "needs", Vec::new(), |it, field| it.list(field, Self::inside));
                Some(Inputs::Range { range: range?, needs: needs? })
            }
            rows => self.rows(&table, rows, &place),
        }
    }

    /// Inputs in files of rows.
    fn rows(&mut self, table: &Table<'_>, form: &str, place: &Field<'_>) -> Option<Inputs> {
        let paths = self.paths(place);
        let columns = self.defaulted(table, "columns", BTreeMap::new(), Self::columns);
        if form == "openai_batch" {
            return Some(Inputs::OpenAiBatch { openai_batch: paths?, columns: columns? });
        }
        let id = self.required(table, "id", "\"the field that holds the identifier\"", Self::name);
        let text = self.required(table, "text", "\"the field that holds the text\"", Self::name);
        if id.is_some() && id == text {
            let problem = "identifier and text are the same field";
            let advice = "name the field that identifies a record under `id`";
            self.report(ConfigCode::WrongValue, table.place("text"), &table.path("text"), problem, advice);
        }
        if form == "parquet" {
            return Some(Inputs::Parquet { parquet: paths?, id: id?, text: text?, columns: columns? });
        }
        let encoding = self.encoding(table);
        if form == "jsonl" {
            let (jsonl, encoding) = (paths?, encoding?);
            return Some(Inputs::Jsonl { jsonl, id: id?, text: text?, columns: columns?, encoding });
        }
        let delimiter = self.defaulted(table, "delimiter", default_delimiter(), |it, field| {
            it.word(field, &[(",", ','), (";", ';'), ("|", '|'), ("\t", '\t')])
        });
        if let (Some('|'), Some(Encoding::ShiftJis)) = (delimiter, encoding) {
            let problem = "in Shift_JIS the byte of `|` is also the second half of other characters";
            let advice = "part the fields by another character, or save the file as UTF-8";
            let (at, path) = (table.place("delimiter"), table.path("delimiter"));
            self.report(ConfigCode::WrongValue, at, &path, problem, advice);
        }
        Some(Inputs::Csv {
            csv: paths?,
            id: id?,
            text: text?,
            columns: columns?,
            delimiter: delimiter?,
            encoding: encoding?,
        })
    }

    fn encoding(&mut self, table: &Table<'_>) -> Option<Encoding> {
        self.defaulted(table, "encoding", Encoding::default(), |it, field| {
            let encodings = [
                ("utf-8", Encoding::Utf8),
                ("shift_jis", Encoding::ShiftJis),
                ("euc-jp", Encoding::EucJp),
                ("windows-1252", Encoding::Windows1252),
            ];
            it.word(field, &encodings)
        })
    }

    /// One path inside the project, or a list of them.
    fn paths(&mut self, field: &Field<'_>) -> Option<Paths> {
        if !matches!(field.node.value, Value::List(_)) {
            return self.inside(field).map(Paths::One);
        }
        let paths = self.list(field, Self::inside)?;
        if paths.is_empty() {
            return self.wrong(field, "the list of paths is empty", "name one file at least");
        }
        Some(Paths::Several(paths))
    }

    /// Numbers from the first to the last.
    fn range(&mut self, field: &Field<'_>) -> Option<NumberRange> {
        let table = self.table(field, "range")?;
        let first = self.required(&table, "first", "1", Self::whole);
        let last = self.required(&table, "last", "250", Self::whole);
        let step = self.defaulted(&table, "step", 1, |it, field| it.small(field, u32::MAX));
        let digits = self.defaulted(&table, "digits", 1, |it, field| it.small(field, DIGITS_MAX));
        let (first, last) = (first?, last?);
        if first > last {
            let problem = format!("the last number, {last}, is below the first, {first}");
            let (at, path) = (table.place("last"), table.path("last"));
            self.report(ConfigCode::WrongValue, at, &path, problem, "write the smaller one under `first`");
            return None;
        }
        Some(NumberRange { first, last, step: step?, digits: digits? })
    }

    /// `columns`: any names, each with the field of the record that is passed through under it.
    fn columns(&mut self, field: &Field<'_>) -> Option<BTreeMap<String, String>> {
        let Value::Table(entries) = &field.node.value else {
            let advice = "write it as { \"name in the results\": \"field of the record\" }";
            let problem = "an object of columns is expected here";
            self.report(ConfigCode::WrongType, field.node.at, &field.path, problem, advice);
            return None;
        };
        let mut columns = Some(BTreeMap::new());
        for entry in entries {
            let path = format!("{}.{}", field.path, visible(&entry.key));
            if entry.key.trim().is_empty() || entry.key.chars().any(char::is_control) {
                let advice = "write the name that the column bears in the results";
                self.report(
                    ConfigCode::WrongValue,
                    entry.at,
                    &path,
                    "the name is empty or not on one line",
                    advice,
                );
                columns = None;
                continue;
            }
            let name = self.name(&Field { node: &entry.node, path });
            columns = columns.zip(name).map(|(mut columns, name)| {
                columns.insert(entry.key.clone(), name);
                columns
            });
        }
        columns
    }

    /// `limits`, each with its default.
    pub(super) fn limits(&mut self, field: &Field<'_>) -> Option<Limits> {
        let table = self.table(field, "limits")?;
        let default = Limits::default();
        let choices = [("refuse", Beyond::Refuse), ("truncate", Beyond::Truncate)];
        let bytes = self.defaulted(&table, "bytes", default.bytes, |it, field| it.count(field, 1, u64::MAX));
        let tokens = self.optional(&table, "tokens", |it, field| it.small(field, u32::MAX));
        let beyond = self.defaulted(&table, "beyond", default.beyond, |it, field| it.word(field, &choices));
        Some(Limits { bytes: bytes?, tokens: tokens?, beyond: beyond? })
    }
}
