//! `guards`: what is asked beside the items.

use super::decoding::{Decoder, Field};
use super::find;
use crate::guards::default_tolerance;
use crate::json::Node;
use crate::{Canary, Guards, OutputSpec, is_blank};

/// Items that are asked twice are fewer than this: they are a sample.
const SAMPLE_MAX: u64 = 1 << 20;
/// Two vectors are at most this far apart by cosine.
const TOLERANCE_MAX: f64 = 2.0;

impl Decoder {
    pub(super) fn guards(&mut self, field: &Field<'_>) -> Option<Guards> {
        let table = self.table(field, "guards")?;
        let canaries =
            self.defaulted(&table, "canaries", Vec::new(), |it, field| it.list(field, Self::canary));
        let sample = self.defaulted(&table, "sample", 0, |it, field| {
            it.count(field, 0, SAMPLE_MAX).and_then(|count| u32::try_from(count).ok())
        });
        let tolerance = self.defaulted(&table, "tolerance", default_tolerance(), |it, field| {
            it.number(field, 0.0, TOLERANCE_MAX)
        });
        Some(Guards { canaries: canaries?, sample: sample?, tolerance: tolerance? })
    }

    fn canary(&mut self, field: &Field<'_>) -> Option<Canary> {
        let table = self.table(field, "canaries")?;
        let text = self.required(&table, "text", "\"a text whose answer is known\"", |it, field| {
            let text = it.text(field)?;
            if is_blank(&text) {
                return it.wrong(field, "the text says nothing", "write a text whose answer is known");
            }
            Some(text)
        });
        let expected = self.required(&table, "expected", "the answer", Self::value);
        Some(Canary { text: text?, expected: expected? })
    }

    /// Each answer must be one that the declared output can be, and files have none.
    pub(super) fn guards_fit(&mut self, root: &Node, guards: &Guards, output: &OutputSpec) {
        let place = |keys: &[&str]| find(root, keys).map(|node| Field { node, path: keys.join(".") });
        let is_file = matches!(output, OutputSpec::File { .. });
        if let (true, true, Some(field)) = (is_file, guards.sample > 0, place(&["guards", "sample"])) {
            let problem = "files are never compared, so nothing is asked twice";
            self.wrong::<()>(&field, problem, "take the key out");
        }
        let Some(field) = place(&["guards", "canaries"]) else { return };
        for (at, canary) in guards.canaries.iter().enumerate() {
            if let Some(problem) = output.never_gives(&canary.expected) {
                let field = Field { node: field.node, path: format!("guards.canaries[{at}].expected") };
                self.wrong::<()>(
                    &field,
                    problem,
                    "write an answer that `output` can be, or take the canary out",
                );
            }
        }
    }
}
