"""Embeds the texts of a file with sentence-transformers in the batches that Pilote would make of them.

Usage: embed_batches.py MODEL_DIR ROWS BATCH VECTORS

ROWS holds one JSON object with `text` a line. Shortest texts first, then by place, BATCH at a time. The vectors are
written to VECTORS as little-endian f32 in that order.
"""

import json
import sys

import sentence_transformers


def main():
    model_dir, rows, size, vectors = sys.argv[1:]
    with open(rows, encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    model = sentence_transformers.SentenceTransformer(model_dir, device="cpu")
    order = sorted(range(len(texts)), key=lambda at: (len(texts[at]), at))
    with open(vectors, "wb") as file:
        for start in range(0, len(order), int(size)):
            batch = [texts[at] for at in order[start : start + int(size)]]
            file.write(model.encode(batch, batch_size=32, convert_to_numpy=True).astype("<f4").tobytes())
    print(json.dumps({"items": len(texts)}))


if __name__ == "__main__":
    main()
