"""Gives every text of a file back through Ray Data's map_batches and prints one JSON object with what it took.

Usage: echo_ray.py ROWS BATCH OUTPUT

ROWS holds one JSON object with `id` and `text` a line; OUTPUT is a folder that is made. Starting Ray is left out of
the wall seconds; the processor seconds are those of every process of Ray that this one started.
"""

import json
import os
import sys
import time

import ray


def processor_seconds():
    """User and system time of this process and everything below it, from /proc."""
    parents, times = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[pid], times[pid] = fields[1], sum(map(int, fields[11:15]))
    total = 0
    for pid, ticks in times.items():
        above = pid
        while above in parents and above != str(os.getpid()):
            above = parents[above]
        total += ticks if above == str(os.getpid()) else 0
    return total / os.sysconf("SC_CLK_TCK")


def echo(batch):
    return {"id": batch["id"], "text": batch["text"].copy()}


def main():
    rows, batch, output = sys.argv[1:]
    ray.init(num_cpus=os.cpu_count(), include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    start, before = time.perf_counter(), processor_seconds()
    data = ray.data.read_json(rows, lines=True).map_batches(echo, batch_size=int(batch), batch_format="numpy")
    data.write_json(output)
    seconds, processor = time.perf_counter() - start, processor_seconds() - before
    items = ray.data.read_json(output, lines=True).count()
    print(json.dumps({"items": items, "seconds": seconds, "processor_seconds": processor}))


if __name__ == "__main__":
    main()
