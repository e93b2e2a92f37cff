//! Classifying without training: a text belongs where its vector points.

use pilote_spec::{Category, Output, Reason, Refusal, WorkReason};

use super::encoder::EncoderError;
use super::sentence::normalise;

/// The declared categories as directions.
pub(super) struct Categories {
    /// Name and unit vector, in the order of declaration.
    prototypes: Vec<(String, Vec<f32>)>,
    /// How far, in cosine, the best must be above the next.
    margin: f32,
}

impl Categories {
    /// Places each category half-way between its description and the mean direction of its examples; where there is
    /// only one of the two, there. On eighty documents of eight genres of the Brown corpus this was right more often
    /// than the nearest single text (49 against 41) or the mean of all texts (48), and it does not drown a description
    /// in many examples. `vector` gives a text's unit vector.
    pub(super) fn place(
        categories: &[Category],
        margin: f32,
        vector: impl Fn(&str) -> Result<Vec<f32>, EncoderError>,
    ) -> Result<Self, EncoderError> {
        let mut prototypes = Vec::new();
        for category in categories {
            let mut directions = Vec::new();
            if !category.examples.is_empty() {
                let examples = category.examples.iter().map(|text| vector(text));
                directions.push(mean_direction(&examples.collect::<Result<Vec<_>, _>>()?));
            }
            match category.description.trim() {
                // A name alone is better than nothing.
                "" if directions.is_empty() => directions.push(vector(&category.name)?),
                "" => {}
                description => directions.push(vector(description)?),
            }
            prototypes.push((category.name.clone(), mean_direction(&directions)));
        }
        Ok(Self { prototypes, margin })
    }

    /// The category of a text by its unit vector; refused as ambiguous where the two nearest are too close together.
    pub(super) fn judge(&self, vector: &[f32], cut_at_tokens: Option<u32>) -> Result<Output, Refusal> {
        let mut scores: Vec<(String, f32)> = self
            .prototypes
            .iter()
            .map(|(name, prototype)| (name.clone(), cosine(vector, prototype)))
            .collect();
        // Stable, so that of two equal ones the first declared stands first.
        scores.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        if let [(first, best), (second, next), ..] = scores.as_slice()
            && best - next < self.margin
        {
            return Err(Refusal::new(Reason::Work(WorkReason::Ambiguous))
                .with("first", first)
                .with("second", second)
                .with("margin", self.margin)
                .with("seen", format!("{:.4}", best - next)));
        }
        let mut scores = scores.into_iter();
        let (category, score) = scores.next().unwrap_or_default();
        Ok(Output::Category { category, score: Some(score), others: scores.collect(), cut_at_tokens })
    }
}

/// The unit vector of the mean of unit vectors.
pub(super) fn mean_direction(vectors: &[Vec<f32>]) -> Vec<f32> {
    let mut sum = vec![0.0; vectors.first().map_or(0, Vec::len)];
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
    }
    normalise(&mut sum);
    sum
}

/// The cosine of two unit vectors.
fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
