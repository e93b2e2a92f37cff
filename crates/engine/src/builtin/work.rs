//! What becomes of one batch: texts to tokens, tokens to vectors, vectors to answers.

use std::sync::atomic::{AtomicBool, Ordering};

use pilote_spec::{BatchMeasures, Beyond, FaultCode, Output, Reason, Refusal, WorkReason};
use rayon::prelude::*;

use super::categories::{Categories, mean_direction};
use super::encoder::{Encoder, EncoderError};
use super::sentence::normalise;
use super::tokens::Tokens;
use crate::{Answer, Batch, Content, WireId};

/// Everything that does not change between batches.
pub(super) struct Work {
    pub(super) tokens: Tokens,
    pub(super) encoder: Box<dyn Encoder>,
    pub(super) pool: rayon::ThreadPool,
    /// Tokens that are computed at once, shared among the threads.
    pub(super) batch_tokens: usize,
    /// The longest input in tokens, special ones included; none where long ones are read in windows.
    pub(super) limit: Option<usize>,
    pub(super) beyond: Beyond,
    /// The categories; none to give the vectors themselves.
    pub(super) categories: Option<Categories>,
    /// What the process held before it read the model, and after; none where the system does not tell.
    pub(super) floor_bytes: Option<u64>,
    pub(super) loaded_bytes: Option<u64>,
}

/// The answers of a batch and what it took.
pub(super) struct Done {
    pub(super) answers: Vec<(WireId, Answer)>,
    pub(super) measures: BatchMeasures,
}

/// What can be computed of a text.
struct Prepared {
    /// One sequence, or the windows of a long text.
    sequences: Vec<Vec<u32>>,
    cut_at_tokens: Option<u32>,
}

/// Vectors in the order of the sequences, and the tokens computed for them.
struct Vectors {
    vectors: Vec<Vec<f32>>,
    computed_tokens: u64,
}

impl Work {
    /// Computes a batch; none when `stop` was set meanwhile.
    pub(super) fn run(&self, batch: &Batch, stop: &AtomicBool) -> Result<Option<Done>, EncoderError> {
        let prepared: Vec<Result<Prepared, Refusal>> = self
            .pool
            .install(|| batch.requests.par_iter().map(|request| self.prepare(&request.content)).collect());
        let sequences: Vec<&[u32]> =
            prepared.iter().flatten().flat_map(|text| text.sequences.iter().map(Vec::as_slice)).collect();
        let Some(Vectors { vectors, computed_tokens }) = self.encode(&sequences, stop)? else {
            return Ok(None);
        };
        let tokens = sequences.iter().map(|sequence| sequence.len() as u64).sum();
        let longest_tokens = sequences.iter().map(|sequence| sequence.len() as u64).max();
        let mut vectors = vectors.into_iter();
        let mut answers = Vec::with_capacity(batch.requests.len());
        for (request, text) in batch.requests.iter().zip(&prepared) {
            let answer = match text {
                Ok(text) => {
                    self.answer(vectors.by_ref().take(text.sequences.len()).collect(), text.cut_at_tokens)
                }
                Err(refusal) => Err(refusal.clone()),
            };
            answers.push((request.wire, answer.map_or_else(Answer::Refused, Answer::Output)));
        }
        let measures = BatchMeasures {
            tokens: Some(tokens),
            padded_tokens: Some(computed_tokens),
            longest_tokens,
            floor_bytes: self.floor_bytes,
            loaded_bytes: self.loaded_bytes,
            ..Default::default()
        };
        Ok(Some(Done { answers, measures }))
    }

    /// The unit vector of a text of any length.
    pub(super) fn direction(&self, text: &str) -> Result<Vec<f32>, EncoderError> {
        let tokens = self.tokens.of(text)?;
        let windows: Vec<Vec<u32>> = self.windows(&tokens);
        let sequences: Vec<&[u32]> = windows.iter().map(Vec::as_slice).collect();
        let vectors = self.encode(&sequences, &AtomicBool::new(false))?.map(|found| found.vectors);
        Ok(direction_of(vectors.unwrap_or_default()))
    }

    fn windows(&self, tokens: &[u32]) -> Vec<Vec<u32>> {
        let windows = self.tokens.windows(tokens, self.encoder.longest());
        windows.into_iter().map(|window| self.tokens.sequence(window)).collect()
    }

    /// Makes sequences of a text, or says why there are none.
    fn prepare(&self, content: &Content) -> Result<Prepared, Refusal> {
        let Content::Text(text) = content else {
            let refusal = Refusal::new(Reason::Input(FaultCode::UnsupportedKind));
            return Err(refusal.with("detail", "the built-in engine reads text"));
        };
        let mut tokens = self
            .tokens
            .of(text)
            .map_err(|error| Refusal::new(Reason::Work(WorkReason::ByEngine)).with("detail", error))?;
        if tokens.is_empty() || text.trim().is_empty() {
            return Err(Refusal::new(Reason::Input(FaultCode::Empty)).with("detail", "no tokens"));
        }
        let mut cut_at_tokens = None;
        let seen = tokens.len() + self.tokens.special();
        if let Some(limit) = self.limit.filter(|&limit| seen > limit) {
            match self.beyond {
                Beyond::Refuse => {
                    let refusal = Refusal::new(Reason::Work(WorkReason::TooLong));
                    return Err(refusal.with("limit", limit).with("seen", seen));
                }
                Beyond::Truncate => {
                    tokens.truncate(limit - self.tokens.special());
                    cut_at_tokens = u32::try_from(limit).ok();
                }
            }
        }
        Ok(Prepared { sequences: self.windows(&tokens), cut_at_tokens })
    }

    /// Computes sequences in groups of nearly equal length, the longest first so that no thread ends long after the
    /// others. Groups depend on the sequences, the parameters and the number of threads.
    fn encode(&self, sequences: &[&[u32]], stop: &AtomicBool) -> Result<Option<Vectors>, EncoderError> {
        let groups = group(sequences, self.batch_tokens, self.pool.current_num_threads());
        let compute = |group: &Vec<usize>| {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let members: Vec<&[u32]> = group.iter().map(|&at| sequences[at]).collect();
            self.encoder.encode(&members).map(Some)
        };
        let encoded: Vec<_> = self.pool.install(|| groups.par_iter().with_max_len(1).map(compute).collect());
        let mut found = Vectors { vectors: vec![Vec::new(); sequences.len()], computed_tokens: 0 };
        for (group, encoded) in groups.iter().zip(encoded) {
            let Some(encoded) = encoded? else { return Ok(None) };
            found.computed_tokens += encoded.computed_tokens;
            for (&at, vector) in group.iter().zip(encoded.vectors) {
                found.vectors[at] = vector;
            }
        }
        Ok(Some(found))
    }

    fn answer(&self, vectors: Vec<Vec<f32>>, cut_at_tokens: Option<u32>) -> Result<Output, Refusal> {
        let usable = |vector: &Vec<f32>| {
            vector.iter().all(|value| value.is_finite()) && vector.iter().any(|&value| value != 0.0)
        };
        if !vectors.iter().all(usable) {
            return Err(Refusal::new(Reason::Work(WorkReason::NotFinite)));
        }
        match &self.categories {
            Some(categories) => categories.judge(&direction_of(vectors), cut_at_tokens),
            None => {
                Ok(Output::Vector { values: vectors.into_iter().next().unwrap_or_default(), cut_at_tokens })
            }
        }
    }
}

/// The direction of a text by its windows, which are of one length and so count the same.
fn direction_of(mut windows: Vec<Vec<f32>>) -> Vec<f32> {
    windows.iter_mut().for_each(|vector| normalise(vector));
    mean_direction(&windows)
}

/// Groups sequences by length, longest first, such that a group padded to its longest stays within its thread's share
/// of `batch_tokens`; a longer sequence is a group of its own. Small batches are shared out too.
fn group(sequences: &[&[u32]], batch_tokens: usize, threads: usize) -> Vec<Vec<usize>> {
    let total: usize = sequences.iter().map(|sequence| sequence.len()).sum();
    let budget = (batch_tokens / threads).min(total.div_ceil(threads));
    let mut order: Vec<usize> = (0..sequences.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(sequences[at].len()));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut longest = 0;
    for at in order {
        match groups.last_mut() {
            Some(group) if (group.len() + 1) * longest <= budget => group.push(at),
            _ => {
                longest = sequences[at].len();
                groups.push(vec![at]);
            }
        }
    }
    groups
}
