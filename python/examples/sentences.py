"""A worker of sentence-transformers: one vector for each text, on the processor unless told otherwise.

    "engine": {
      "kind": "worker",
      "command": ["python3", "src/sentences.py"],
      "parameters": { "model": "sentence-transformers/all-MiniLM-L6-v2", "device": "cpu" }
    }

with ``"output": { "kind": "vector", "width": 384 }``. A text of more tokens than the model takes is refused, since the
library would cut it in silence.
"""

from pilote import Refused, Vector, worker

MODEL = None


@worker(name="sentence-transformers")
def sentences(items):
    longest = MODEL.max_seq_length
    tokens = MODEL.tokenizer([item.text for item in items], truncation=False)["input_ids"]
    fits = [len(ids) <= longest for ids in tokens]
    texts = [item.text for item, fit in zip(items, fits) if fit]
    vectors = iter(MODEL.encode(texts, batch_size=32, convert_to_numpy=True) if texts else [])
    return [
        Vector(next(vectors)) if fit else Refused(f"{len(ids)} tokens, and the model takes {longest}")
        for ids, fit in zip(tokens, fits)
    ]


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
