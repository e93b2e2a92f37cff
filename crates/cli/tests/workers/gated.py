"""A worker for tests that answers an item once somebody writes a byte into the pipe `gate` of the project."""

import json
import os

read = os.fdopen(int(os.environ["PILOTE_READ_FD"]))
write = os.fdopen(int(os.environ["PILOTE_WRITE_FD"]), "w")


def say(message):
    write.write(json.dumps(message) + "\n")
    write.flush()


read.readline()
say({"type": "hello", "protocol": 1, "name": "gated"})
gate = open("gate", "rb", buffering=0)
for line in read:
    message = json.loads(line)
    if message["type"] == "end":
        break
    for item in message["items"]:
        gate.read(1)
        say({"type": "answer", "wire": item["wire"], "output": {"text": item["text"].upper()}})
    say({"type": "done", "batch": message["batch"]})
