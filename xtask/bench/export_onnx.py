"""Writes a sentence encoder as an fp32 ONNX graph: token states from input_ids and attention_mask.

Usage: export_onnx.py MODEL_DIR FILE
"""

import sys

import torch
from transformers import AutoModel


class TokenStates(torch.nn.Module):
    """The encoder with its one output that the pooling needs."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids, attention_mask):
        return self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state


def main():
    model_dir, file = sys.argv[1:]
    encoder = AutoModel.from_pretrained(model_dir, attn_implementation="eager").eval()
    # Two tensors of their own: the exporter would take one tensor given twice for a single input.
    ids = torch.full((2, 7), 1037, dtype=torch.int64)
    mask = torch.ones(2, 7, dtype=torch.int64)
    batch, length = torch.export.Dim("batch", min=1, max=4096), torch.export.Dim("length", min=2, max=512)
    axes = {0: batch, 1: length}
    torch.onnx.export(
        TokenStates(encoder),
        (ids, mask),
        file,
        input_names=["input_ids", "attention_mask"],
        output_names=["states"],
        dynamic_shapes={"input_ids": axes, "attention_mask": axes},
        external_data=False,
        dynamo=True,
    )


if __name__ == "__main__":
    main()
