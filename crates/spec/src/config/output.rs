//! `output`: what an acceptable output is.

use std::collections::BTreeSet;

use super::decoding::{Decoder, Field, Table};
use super::fault::ConfigCode;
use super::find;
use crate::json::visible;
use crate::{Category, FileDecode, OneColour, OutputSpec};

/// Vectors are wider than this in no model.
const WIDTH_MAX: u32 = 1 << 20;
/// Extensions are shorter than this on every system.
const EXTENSION_MAX: usize = 16;

impl Decoder {
    /// `output`: the kind comes first, since it says which other keys there may be.
    pub(super) fn output(&mut self, field: &Field<'_>) -> Option<OutputSpec> {
        let shapes = [
            ("category", "output.category"),
            ("vector", "output.vector"),
            ("text", "output.text"),
            ("json", "output.json"),
            ("file", "output.file"),
        ];
        let shape = self.kind(field, &shapes)?;
        let table = self.table(field, shape)?;
        match shape {
            "output.category" => {
                let example = "[{ \"name\": ..., \"description\": ... }, ...]";
                let categories = self.required(&table, "categories", example, Self::categories)?;
                Some(OutputSpec::Category { categories })
            }
            "output.vector" => {
                let width = self.required(&table, "width", "384", |it, field| it.small(field, WIDTH_MAX))?;
                Some(OutputSpec::Vector { width })
            }
            "output.text" => Some(OutputSpec::Text {}),
            "output.json" => {
                let schema =
                    self.required(&table, "schema", "{ \"type\": \"object\" }", Self::json_schema)?;
                Some(OutputSpec::Json { schema })
            }
            _ => self.output_file(&table),
        }
    }

    fn output_file(&mut self, table: &Table<'_>) -> Option<OutputSpec> {
        let decodes = [
            ("any", FileDecode::Any),
            ("text", FileDecode::Text),
            ("json", FileDecode::Json),
            ("png", FileDecode::Png),
            ("exr", FileDecode::Exr),
        ];
        let colours = [("accept", OneColour::Accept), ("refuse", OneColour::Refuse)];
        let extension = self.required(table, "extension", "\"png\"", |it, field| {
            let text = it.text(field)?;
            let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
            if plain && (1..=EXTENSION_MAX).contains(&text.len()) {
                return Some(text);
            }
            it.wrong(field, "this is no extension", "write 1 to 16 letters and digits, without the dot")
        });
        let decode =
            self.defaulted(table, "decode", FileDecode::default(), |it, field| it.word(field, &decodes));
        let one_colour =
            self.defaulted(table, "one_colour", OneColour::default(), |it, field| it.word(field, &colours));
        if let (Some(OneColour::Refuse), Some(decode)) = (one_colour, decode)
            && !matches!(decode, FileDecode::Png | FileDecode::Exr)
        {
            let problem = "only of an image that is decoded the colours are known";
            let advice = "write \"decode\": \"png\" or \"exr\", or take the key out";
            let (place, path) = (table.place("one_colour"), table.path("one_colour"));
            self.report(ConfigCode::WrongValue, place, &path, problem, advice);
        }
        Some(OutputSpec::File { extension: extension?, decode: decode?, one_colour: one_colour? })
    }

    /// `schema`: it is compiled here, so that no trial begins with one that judges nothing.
    fn json_schema(&mut self, field: &Field<'_>) -> Option<serde_json::Value> {
        let schema = self.value(field)?;
        match crate::schema_fault(&schema) {
            None => Some(schema),
            Some(fault) => {
                let advice = "correct the schema; it may refer to its own `$defs`, and to nothing outside";
                self.wrong(field, visible(&fault.to_string()), advice)
            }
        }
    }

    /// The shape that the key `kind` of an object chooses, before its other keys can be judged.
    pub(super) fn kind<'s>(&mut self, field: &Field<'_>, kinds: &[(&str, &'s str)]) -> Option<&'s str> {
        let Some(node) = find(field.node, &["kind"]) else {
            // Something else than an object is reported as such; an object lacks its kind.
            if let crate::json::Value::Table(_) = &field.node.value {
                let known: Vec<String> = kinds.iter().map(|(word, _)| format!("\"{word}\"")).collect();
                let advice = format!("add \"kind\": {}", known.join(" or "));
                let path = format!("{}.kind", field.path);
                self.report(ConfigCode::MissingKey, field.node.at, &path, "the key is missing", advice);
                return None;
            }
            self.table(field, "")?;
            return None;
        };
        self.word(&Field { node, path: format!("{}.kind", field.path) }, kinds)
    }

    /// `categories`: names are compared as exact text, as results will bear them.
    fn categories(&mut self, field: &Field<'_>) -> Option<Vec<Category>> {
        let mut names = BTreeSet::new();
        let categories = self.list(field, |it, field| {
            let table = it.table(field, "categories")?;
            let name = it.required(&table, "name", "\"the category's name\"", |it, field| {
                let name = it.name(field)?;
                if name.trim() != name {
                    return it.wrong(field, "the name begins or ends with a space", "take the space out");
                }
                if !names.insert(name.clone()) {
                    let problem = format!("`{}` names two categories", visible(&name));
                    return it.wrong(field, problem, "give each category a name of its own");
                }
                Some(name)
            });
            let description = it.defaulted(&table, "description", String::new(), Self::said);
            let examples =
                it.defaulted(&table, "examples", Vec::new(), |it, field| it.list(field, Self::said));
            Some(Category { name: name?, description: description?, examples: examples? })
        })?;
        if categories.len() < 2 {
            let seen = if categories.is_empty() { "no category" } else { "one category" };
            let advice = "declare two or more: with fewer there is nothing to decide";
            return self.wrong(field, format!("{seen} is declared"), advice);
        }
        Some(categories)
    }

    /// A text that says something; line breaks may stand in it.
    fn said(&mut self, field: &Field<'_>) -> Option<String> {
        let text = self.text(field)?;
        if text.trim().is_empty() {
            return self.wrong(field, "the text is empty", "write a sentence, or leave it out");
        }
        Some(text)
    }
}
