//! What the built-in engine asks of whatever turns tokens into vectors.

/// Turns sequences of tokens into one vector each. A faster one can take the place of another behind this trait.
pub trait Encoder: Send + Sync {
    /// Components of a vector.
    fn width(&self) -> usize;

    /// The longest sequence, special tokens included.
    fn longest(&self) -> usize;

    /// The vectors of `sequences`, in their order, pooled and normalised as the model's files say. A vector depends on
    /// its own sequence alone, to 1e-5 whatever stands beside it; the same call gives the same bytes.
    ///
    /// # Errors
    /// When a sequence is empty, too long, or holds a token that the model does not know.
    fn encode(&self, sequences: &[&[u32]]) -> Result<Encoded, EncoderError>;
}

/// What an [`Encoder`] computed.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    /// A vector for each sequence.
    pub vectors: Vec<Vec<f32>>,
    /// Tokens that were computed, padding included where the encoder pads.
    pub computed_tokens: u64,
}

/// Why an encoder cannot be built or cannot compute.
#[derive(Debug, thiserror::Error)]
pub enum EncoderError {
    /// A settings file of the model is not as expected.
    #[error("{file}: {detail}")]
    Settings {
        /// The file's name within the model.
        file: &'static str,
        /// What is wrong in it.
        detail: String,
    },
    /// The architecture is not one of those that are built in.
    #[error("the architecture `{found}` is not supported; supported: {supported}")]
    Architecture {
        /// `model_type` of the model's config.json.
        found: String,
        /// Those that are built in.
        supported: &'static str,
    },
    /// The weights are not as expected.
    #[error("model.safetensors: {detail}")]
    Weights {
        /// What is wrong in it.
        detail: String,
    },
    /// The tokenizer cannot be read or fails.
    #[error("tokenizer.json: {detail}")]
    Tokenizer {
        /// In its own words.
        detail: String,
    },
    /// A token that the model has no row for.
    #[error(
        "token {token} is beyond the {rows} rows of the model's table; tokenizer and weights do not belong together"
    )]
    Token {
        /// The token or position.
        token: usize,
        /// Rows of the table.
        rows: usize,
    },
    /// A sequence that cannot be computed.
    #[error("a sequence of {tokens} tokens; from 1 to {longest} can be computed")]
    Length {
        /// Its length.
        tokens: usize,
        /// The longest.
        longest: usize,
    },
    /// The tensor library failed.
    #[error("{0}")]
    Tensor(#[from] candle_core::Error),
}
