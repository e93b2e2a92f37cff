"""A worker of sentence-transformers: one vector for each text, on the processor unless told otherwise.

    "engine": {
      "kind": "worker",
      "command": ["python3", "src/sentences.py"],
      "parameters": { "model": "sentence-transformers/all-MiniLM-L6-v2", "device": "cpu" }
    }

with ``"output": { "kind": "vector", "width": 384 }``. A text of more tokens than the model takes is refused, since the
library would cut it in silence.
"""

import unicodedata

from pilote import Refused, Vector, worker

MODEL = None


@worker(name="sentence-transformers")
def sentences(items):
    beyond = [tokens_beyond(item.text) for item in items]
    texts = [item.text for item, tokens in zip(items, beyond) if tokens is None]
    vectors = iter(MODEL.encode(texts, batch_size=32, convert_to_numpy=True) if texts else [])
    longest = MODEL.max_seq_length
    return [
        Vector(next(vectors)) if tokens is None else Refused(f"{tokens} tokens, and the model takes {longest}")
        for tokens in beyond
    ]


def tokens_beyond(text):
    """The tokens of a text that the model would cut, else None."""
    # A token takes one character or more, and two mark the ends: a short text fits without being counted.
    if len(unicodedata.normalize("NFKC", text)) + 2 <= MODEL.max_seq_length:
        return None
    tokens = len(MODEL.tokenizer(text, truncation=False)["input_ids"])
    return tokens if tokens > MODEL.max_seq_length else None


@sentences.setup
def setup(greeting):
    global MODEL
    import sentence_transformers

    parameters = greeting.parameters
    device = parameters.get("device", "cpu")
    MODEL = sentence_transformers.SentenceTransformer(parameters["model"], device=device)
    return {
        "version": sentence_transformers.__version__,
        "device": device,
        "longest_tokens": MODEL.max_seq_length,
        "parameters": {"model": parameters["model"]},
    }


if __name__ == "__main__":
    sentences.serve()
