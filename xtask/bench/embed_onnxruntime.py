"""Embeds every line of a file with ONNX Runtime and prints one JSON object with what it took.

Usage: embed_onnxruntime.py MODEL_DIR ONNX_FILE TEXTS THREADS [VECTORS]

Texts are sorted by length into batches of 32, as sentence-transformers does it; mean pooling and normalisation are
done with numpy. Tokenising belongs to what is measured, loading does not.
"""

import json
import sys
import time

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

BATCH = 32
TOKENS_MAX = 256


def embed(session, tokenizer, texts):
    encodings = tokenizer.encode_batch(texts)
    order = sorted(range(len(texts)), key=lambda i: -len(encodings[i].ids))
    vectors = np.empty((len(texts), 384), dtype=np.float32)
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        length = max(len(encodings[i].ids) for i in chosen)
        ids = np.zeros((len(chosen), length), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, i in enumerate(chosen):
            count = len(encodings[i].ids)
            ids[row, :count] = encodings[i].ids
            mask[row, :count] = 1
        states = session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        weights = mask[:, :, None].astype(np.float32)
        pooled = (states * weights).sum(axis=1) / weights.sum(axis=1)
        vectors[chosen] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
    return vectors


def main():
    model_dir, onnx_file, texts_file, threads, *vectors_file = sys.argv[1:]
    with open(texts_file, encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    tokenizer = Tokenizer.from_file(f"{model_dir}/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.enable_truncation(TOKENS_MAX)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(threads)
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(onnx_file, options, providers=["CPUExecutionProvider"])
    embed(session, tokenizer, texts[:8])
    wall, processor = time.perf_counter(), time.process_time()
    vectors = embed(session, tokenizer, texts)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    if vectors_file:
        vectors.astype("<f4").tofile(vectors_file[0])
    print(json.dumps({"items": len(texts), "seconds": wall, "processor_seconds": processor}))


if __name__ == "__main__":
    main()
