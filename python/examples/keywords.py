"""A worker of a plain function: the first declared category whose name stands in the text.

    "engine": { "kind": "worker", "command": ["python3", "src/keywords.py"] }

with ``"output": { "kind": "category", "categories": [...] }``.
"""

from pilote import Category, Refused, worker

NAMES = []


@worker(name="keywords", version="1")
def keywords(items):
    return [keyword(item.text) for item in items]


def keyword(text):
    for name in NAMES:
        if name.lower() in text.lower():
            return Category(name)
    return Refused("none of the categories stands in the text")


@keywords.setup
def setup(greeting):
    NAMES.extend(category["name"] for category in greeting.output["categories"])


if __name__ == "__main__":
    keywords.serve()
