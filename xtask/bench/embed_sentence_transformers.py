"""Embeds every line of a file with sentence-transformers and prints one JSON object with what it took.

Usage: embed_sentence_transformers.py MODEL_DIR TEXTS THREADS [VECTORS]

The model is loaded and has embedded a few texts before the clock starts. With VECTORS, the vectors are written there
as little-endian f32, so that engines can be compared.
"""

import json
import sys
import time

import torch
from sentence_transformers import SentenceTransformer


def main():
    model_dir, texts_file, threads, *vectors_file = sys.argv[1:]
    torch.set_num_threads(int(threads))
    with open(texts_file, encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    model = SentenceTransformer(model_dir, device="cpu")
    model.encode(texts[:8], batch_size=32, normalize_embeddings=True)
    wall, processor = time.perf_counter(), time.process_time()
    vectors = model.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    if vectors_file:
        vectors.astype("<f4").tofile(vectors_file[0])
    print(json.dumps({"items": len(texts), "seconds": wall, "processor_seconds": processor}))


if __name__ == "__main__":
    main()
