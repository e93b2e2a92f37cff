"""Gives every text of a file back through a datatrove pipeline and prints one JSON object with what it took.

Usage: echo_datatrove.py ROWS OUTPUT

ROWS is a folder of files with one JSON object with `id` and `text` a line; OUTPUT is a folder that is made.
"""

import json
import os
import sys
import time

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter


def echo(data, rank=0, world_size=1):
    for document in data:
        document.text = str(document.text)
        yield document


def main():
    rows, output = sys.argv[1:]
    workers = os.cpu_count()
    start = time.perf_counter()
    LocalPipelineExecutor(
        pipeline=[JsonlReader(rows), echo, JsonlWriter(f"{output}/rows", compression=None)],
        tasks=workers,
        workers=workers,
        logging_dir=f"{output}/logs",
    ).run()
    seconds = time.perf_counter() - start
    used = os.times()
    folder = f"{output}/rows"
    items = sum(sum(1 for _ in open(os.path.join(folder, name), "rb")) for name in os.listdir(folder))
    processor = used.user + used.system + used.children_user + used.children_system
    print(json.dumps({"items": items, "seconds": seconds, "processor_seconds": processor}))


if __name__ == "__main__":
    main()
