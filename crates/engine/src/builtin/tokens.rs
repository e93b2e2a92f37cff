//! From text to sequences of tokens, none of them cut without a word.

use std::path::Path;

use tokenizers::Tokenizer;

use super::encoder::EncoderError;
use super::sentence::Sentence;

/// Tokens by which consecutive windows of a long text overlap, at most: enough for a sentence that would be torn.
const OVERLAP_MAX: usize = 32;

/// The tokenizer of a model with its own cutting and padding switched off.
pub(super) struct Tokens {
    tokenizer: Tokenizer,
    /// Special tokens that stand before and behind each sequence.
    before: Vec<u32>,
    behind: Vec<u32>,
    lower_case: bool,
    prompt: String,
}

impl Tokens {
    /// Reads `tokenizer.json`.
    pub(super) fn open(dir: &Path, sentence: &Sentence) -> Result<Self, EncoderError> {
        let mut tokenizer = Tokenizer::from_file(dir.join("tokenizer.json")).map_err(in_own_words)?;
        tokenizer.with_truncation(None).map_err(in_own_words)?;
        tokenizer.with_padding(None);
        // One token with and without the special ones shows where they stand.
        let bare = tokenizer.encode_fast("a", false).map_err(in_own_words)?;
        let full = tokenizer.encode_fast("a", true).map_err(in_own_words)?;
        let (bare, full) = (bare.get_ids(), full.get_ids());
        let at = (0..full.len()).find(|&at| !bare.is_empty() && full[at..].starts_with(bare));
        let at = at.ok_or_else(|| EncoderError::Tokenizer { detail: "the text `a` has no tokens".into() })?;
        Ok(Self {
            before: full[..at].to_vec(),
            behind: full[at + bare.len()..].to_vec(),
            lower_case: sentence.lower_case,
            prompt: sentence.prompt.clone(),
            tokenizer,
        })
    }

    /// How many special tokens a sequence has.
    pub(super) fn special(&self) -> usize {
        self.before.len() + self.behind.len()
    }

    /// The tokens of a text without the special ones.
    pub(super) fn of(&self, text: &str) -> Result<Vec<u32>, EncoderError> {
        let text = format!("{}{text}", self.prompt);
        let text = if self.lower_case { text.to_lowercase() } else { text };
        Ok(self.tokenizer.encode_fast(text, false).map_err(in_own_words)?.get_ids().to_vec())
    }

    /// The sequence that a model is given for some tokens of a text.
    pub(super) fn sequence(&self, tokens: &[u32]) -> Vec<u32> {
        [self.before.as_slice(), tokens, self.behind.as_slice()].concat()
    }

    /// Cuts the tokens of a text into windows such that no sequence is longer than `longest`. Every token is in a
    /// window, all windows of a text are of one length, and neighbours overlap.
    pub(super) fn windows<'a>(&self, tokens: &'a [u32], longest: usize) -> Vec<&'a [u32]> {
        let room = longest.saturating_sub(self.special()).max(1);
        if tokens.len() <= room {
            return vec![tokens];
        }
        let overlap = OVERLAP_MAX.min(room / 4);
        let count = (tokens.len() - overlap).div_ceil(room - overlap);
        // The last start is such that the last window ends with the text; the others are spread evenly before it.
        let last = tokens.len() - room;
        (0..count).map(|at| last * at / (count - 1)).map(|start| &tokens[start..start + room]).collect()
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` asks for")]
fn in_own_words(error: tokenizers::Error) -> EncoderError {
    EncoderError::Tokenizer { detail: error.to_string() }
}
