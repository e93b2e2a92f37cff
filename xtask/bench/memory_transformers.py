"""Embeds batches of one shape with transformers and prints one JSON object with what the process held.

Usage: memory_transformers.py MODEL_DIR BATCH TOKENS THREADS HISTORY

The floor is read when the libraries are loaded and have computed with a model of a few numbers, the peak after the batch
was computed three times: as the first of the process (HISTORY `first`, every row of the vocabulary being read before), or
after the whole vocabulary was computed in pieces of one text (HISTORY `later`), as a corpus does.
"""

import copy
import json
import sys
import tempfile

import torch
from transformers import AutoConfig, AutoModel


def memory(field):
    with open("/proc/self/status", encoding="ascii") as file:
        line = next(line for line in file if line.startswith(field))
    return int(line.split()[1]) * 1024


def main():
    folder, batch, tokens, threads = sys.argv[1], *map(int, sys.argv[2:5])
    later = sys.argv[5] == "later"
    torch.set_num_threads(threads)
    config = AutoConfig.from_pretrained(folder)
    small = copy.deepcopy(config)
    small.hidden_size = small.intermediate_size = 24
    small.vocab_size, small.num_attention_heads, small.max_position_embeddings = 30, 2, 16
    with torch.inference_mode():
        # Read from a folder as the model is, so that the code which loads is in the floor too.
        with tempfile.TemporaryDirectory() as place:
            AutoModel.from_config(small).save_pretrained(place)
            AutoModel.from_pretrained(place).eval()(input_ids=torch.zeros((1, 8), dtype=torch.long))
        floor = memory("VmRSS:")
        model = AutoModel.from_pretrained(folder).eval()
        model.get_input_embeddings().weight.sum()
        for start in range(0, config.vocab_size - tokens, tokens) if later else ():
            model(input_ids=torch.arange(start, start + tokens).unsqueeze(0))
        ids = torch.arange(batch * tokens).remainder(config.vocab_size).reshape(batch, tokens)
        for _ in range(3):
            model(input_ids=ids, attention_mask=torch.ones_like(ids))
    print(json.dumps({"floor_bytes": floor, "peak_bytes": memory("VmHWM:")}))


if __name__ == "__main__":
    main()
