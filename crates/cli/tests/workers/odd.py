"""A worker for tests that says more or less than it was asked, as its parameter or first argument `odd` says."""

import base64
import json
import os
import signal
import struct
import sys

read = os.fdopen(int(os.environ["PILOTE_READ_FD"]))
write = os.fdopen(int(os.environ["PILOTE_WRITE_FD"]), "w")


def say(message):
    write.write(json.dumps(message) + "\n")
    write.flush()


def interrupt_pilote():
    # The parent is the guard, whose parent is pilote.
    with open(f"/proc/{os.getppid()}/stat") as stat:
        os.kill(int(stat.read().rsplit(")", 1)[1].split()[1]), signal.SIGTERM)


def text_of(item):
    if "text" in item:
        return item["text"]
    with open(item["text_file"], encoding="utf-8", newline="") as file:
        return file.read()


hello = json.loads(read.readline())
odd = hello["parameters"].get("odd") or sys.argv[1]
say({"type": "hello", "protocol": hello["protocol"] if odd == "any version" else 1, "name": "odd"})
for line in read:
    message = json.loads(line)
    if message["type"] == "end":
        break
    if odd == "interrupts" and message["batch"] == "b1":
        interrupt_pilote()
    items = message["items"]
    if odd == "by order":
        items = [{**item, "text": text_of(other)} for item, other in zip(items, sorted(items, key=text_of))]
    for item in items:
        text = text_of(item)
        if odd == "silent" and text in ("skip", ""):
            continue
        if odd == "strict" and set(item) - {"wire", "text", "text_file"}:
            sys.exit("error: an unknown field")
        vector = base64.b64encode(struct.pack("<2f", len(text), sum(text.encode()) % 251)).decode()
        wire = "w%d" % float(item["wire"][1:]) if odd == "rounds" else item["wire"]
        answer = {"type": "answer", "wire": wire, "output": {"vector": vector}}
        say(answer)
        if odd == "repeated":
            say(answer)
        if odd == "unknown":
            say({**answer, "wire": "w18446744073709551000"})
    say({"type": "done", "batch": message["batch"]})
    if odd == "done":
        say({"type": "done", "batch": message["batch"]})
if odd == "after the end":
    say({"type": "answer", "wire": "w3", "output": {"vector": base64.b64encode(struct.pack("<2f", 1, 1)).decode()}})
if odd == "status":
    sys.exit(3)
