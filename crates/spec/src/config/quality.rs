//! `quality`: what a change must keep to.

use super::decoding::{Decoder, Field};
use super::fault::ConfigCode;
use crate::Quality;

/// The measures that can be asked for, with the least value that makes sense of each.
const MINIMA: [(&str, f64); 4] =
    [("agreement_min", 0.0), ("cosine_min", -1.0), ("accuracy_min", 0.0), ("fields_min", 0.0)];

impl Decoder {
    /// `quality`: a bar that asks for something, and what it is measured against.
    pub(super) fn quality(&mut self, field: &Field<'_>) -> Option<Quality> {
        let table = self.table(field, "quality")?;
        let reference = self.optional(&table, "reference", |it, field| {
            let name = it.name(field)?;
            let plain = !name.contains(['/', '\\']) && name != "." && name != "..";
            if plain {
                return Some(name);
            }
            it.wrong(field, "the text is no name of a trial", "write the name of a directory below runs/")
        });
        let labels = self.optional(&table, "labels", Self::inside);
        let minima =
            MINIMA.map(|(key, least)| self.optional(&table, key, |it, field| it.number(field, least, 1.0)));
        let [agreement_min, cosine_min, accuracy_min, fields_min] = minima;
        if minima.iter().all(|minimum| matches!(minimum, Some(None))) {
            let advice = "add \"agreement_min\": 0.99, or one of cosine_min, accuracy_min, fields_min";
            self.report(ConfigCode::MissingKey, field.node.at, &field.path, "nothing is asked for", advice);
            return None;
        }
        if matches!(accuracy_min, Some(Some(_))) && matches!(labels, Some(None)) {
            let advice = "add \"labels\": \"data/labels.jsonl\", a file of objects with `id` and `label`";
            let at = table.place("accuracy_min");
            let problem = "there are no labels to count right answers by";
            self.report(ConfigCode::MissingKey, at, &table.path("accuracy_min"), problem, advice);
            return None;
        }
        Some(Quality {
            reference: reference?,
            labels: labels?,
            agreement_min: agreement_min?,
            cosine_min: cosine_min?,
            accuracy_min: accuracy_min?,
            fields_min: fields_min?,
        })
    }
}
