#!/usr/bin/env python3
"""Makes the reference vectors of crates/engine/tests/fixtures with sentence-transformers.

    python3 scripts/reference_vectors.py --model DIR [--venv DIR]

DIR is a directory with all-MiniLM-L6-v2 (`cargo xtask setup` puts one below cache/models). The script makes a
virtual environment of its own with torch and sentence-transformers (about 6 GB) unless --venv names one that has
them. It writes

    minilm.json                 texts of every length group with their vectors
    tiny-NAME/                  random models of a few kilobytes, one for each architecture, and their vectors

The tests of the encoder compare with these files, so that they need neither Python nor torch. Run it again only when
a text or an architecture is added; the random models are seeded and come out the same with the same versions.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "crates/engine/tests/fixtures"

PARAGRAPH = (
    "The archive keeps the letters of the harbour office in the order in which they came. Each bundle is tied with a "
    "ribbon and bears the year, the name of the clerk and the number of sheets. When a bundle is lent, a card takes its "
    "place on the shelf, and the card says who has it, since when, and until when it may stay away. "
)

TEXTS = {
    "short": [
        "Yes.",
        "invoice",
        "Where is the station?",
        "Meeting moved to 3 p.m.",
        "naïve café, façade",
        "🙂",
        "3.14159",
    ],
    "usual": [
        "The parcel arrived on Tuesday with a torn corner, but the lamp inside was whole and works well.",
        "Please find enclosed the invoice for the repair of the heating, payable within thirty days without deduction.",
        PARAGRAPH.strip(),
        "def area(radius):\n    return 3.14159 * radius ** 2\n\nprint(area(2))",
        "Under the treaty of 1839 the river stays open to ships of all nations; tolls may cover the cost of the locks only.",
    ],
    "languages": [
        "Le dossier est complet, mais la signature du témoin manque à la dernière page.",
        "Die Lieferung verzögert sich um zwei Wochen, weil der Kran am Hafen ausgefallen ist.",
        "図書館は月曜日に休みますが、火曜日からは朝九時に開きます。",
        "契約書は二部作成し、双方が一部ずつ保管する。",
        "Срок подачи заявления истекает в пятницу.",
        "يفتح المتحف أبوابه عند الساعة التاسعة.",
        "El tren de las ocho sale hoy con veinte minutos de retraso.",
    ],
    "near-limit": [
        (PARAGRAPH * 3).strip(),
        (PARAGRAPH * 3 + "A second card lies in the drawer of the desk, so that nothing is lost with the first.").strip(),
        ("Tous les registres sont relus une fois par an. " * 16).strip(),
    ],
    "cut": [
        (PARAGRAPH * 8).strip(),
        "data " * 400,
    ],
}

TINY_TEXTS = ["yes", "the letters of the harbour office", "each bundle is tied with a ribbon", PARAGRAPH[:120]]


def environment(venv: Path) -> Path:
    """The interpreter of a virtual environment that has the libraries."""
    python = venv / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", "torch", "sentence-transformers"], check=True)
    return python


def versions() -> dict:
    import sentence_transformers
    import tokenizers
    import torch
    import transformers

    modules = (sentence_transformers, transformers, tokenizers, torch)
    return {module.__name__: module.__version__ for module in modules}


def encode(model, groups: dict) -> list:
    """One entry a text, each encoded alone so that no padding plays a part."""
    entries = []
    for group, texts in groups.items():
        for text in texts:
            vector = model.encode([text], convert_to_numpy=True, show_progress_bar=False)[0]
            tokens = len(model.tokenizer(text, truncation=False)["input_ids"])
            values = [round(float(value), 7) for value in vector]
            entries.append({"group": group, "tokens": tokens, "text": text, "vector": values})
    return entries


def write(path: Path, about: str, entries: list) -> None:
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in entries)
    head = json.dumps({"about": about, "versions": versions()}, ensure_ascii=False)
    path.write_text(f'{head[:-1]}, "entries": [\n{lines}\n]}}\n', encoding="utf-8")
    print(f"{path}: {len(entries)} vectors, {path.stat().st_size} bytes")


def tiny_tokenizer(special: dict):
    """A word-piece tokenizer of a few hundred pieces with the special tokens of an architecture."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordPiece(unk_token=special["unk_token"]))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    order = [special[name] for name in ("pad_token", "unk_token", "cls_token", "sep_token")]
    if special["pad_token"] == "<pad>":
        # RoBERTa's padding token is number 1, from which positions are counted.
        order = [special[name] for name in ("cls_token", "pad_token", "sep_token", "unk_token")]
    trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=order)
    tokenizer.train_from_iterator([PARAGRAPH, *TINY_TEXTS], trainer)
    first, last = special["cls_token"], special["sep_token"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in (first, last)],
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=48, **special)


def tiny_models() -> dict:
    """Configuration, special tokens and pooling of each random model, by name."""
    import transformers

    square = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    angled = {"pad_token": "<pad>", "unk_token": "<unk>", "cls_token": "<s>", "sep_token": "</s>"}
    # Wide initial weights, so that the layers really change something.
    common = {"vocab_size": 200, "initializer_range": 0.4, "hidden_dropout_prob": 0.0}
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    roberta = transformers.XLMRobertaConfig(
        **common, **sizes, max_position_embeddings=50, type_vocab_size=1, pad_token_id=1, bos_token_id=0, eos_token_id=2
    )
    bert = transformers.BertConfig(**common, **sizes, max_position_embeddings=48, hidden_act="gelu_new", layer_norm_eps=1e-5)
    distilbert = transformers.DistilBertConfig(
        vocab_size=200, initializer_range=0.4, dim=32, n_layers=2, n_heads=4, hidden_dim=64, max_position_embeddings=48
    )
    return {
        "tiny-xlm-roberta": (transformers.XLMRobertaModel, roberta, angled, ("cls",), True),
        "tiny-distilbert": (transformers.DistilBertModel, distilbert, square, ("mean",), False),
        "tiny-bert": (transformers.BertModel, bert, square, ("max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"), False),
    }


def make_tiny(name: str, build, config, special: dict, poolings: tuple, normalise: bool) -> None:
    import tempfile

    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Normalize, Pooling, Transformer

    torch.manual_seed(7)
    model = build(config)
    for parameter in model.parameters():
        # Biases and norms too: at their initial zeros and ones a mix-up would go unnoticed.
        torch.nn.init.normal_(parameter, 0.0, 0.4) if parameter.dim() > 1 else torch.nn.init.uniform_(parameter, 0.2, 1.2)
    with tempfile.TemporaryDirectory() as directory:
        model.save_pretrained(directory)
        tiny_tokenizer(special).save_pretrained(directory)
        modules = [Transformer(directory), Pooling(32, pooling_mode=poolings)]
        whole = SentenceTransformer(modules=modules + ([Normalize()] if normalise else []), device="cpu")
    target = FIXTURES / name
    whole.save_pretrained(str(target), create_model_card=False)
    for extra in ("special_tokens_map.json", "vocab.txt", "vocab.json", "merges.txt"):
        (target / extra).unlink(missing_ok=True)
    again = SentenceTransformer(str(target), device="cpu")
    write(target / "vectors.json", f"random {config.model_type}, seed 7", encode(again, {"tiny": TINY_TEXTS}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--venv", type=Path, default=Path("target/venv-reference"))
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.inside:
        command = [str(environment(arguments.venv)), __file__, "--inside", "--model", str(arguments.model)]
        sys.exit(subprocess.run(command).returncode)
    from sentence_transformers import SentenceTransformer

    FIXTURES.mkdir(parents=True, exist_ok=True)
    model = SentenceTransformer(str(arguments.model), device="cpu")
    write(FIXTURES / "minilm.json", "sentence-transformers/all-MiniLM-L6-v2", encode(model, TEXTS))
    for name, parts in tiny_models().items():
        make_tiny(name, *parts)


if __name__ == "__main__":
    main()
