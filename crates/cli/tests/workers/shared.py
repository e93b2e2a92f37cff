"""A worker for tests that says which devices it sees, leaves a mark once it has work, and answers an item for each
byte in the pipe `gate` of the project."""

import json
import os

read = os.fdopen(int(os.environ["PILOTE_READ_FD"]))
write = os.fdopen(int(os.environ["PILOTE_WRITE_FD"]), "w")


def say(message):
    write.write(json.dumps(message) + "\n")
    write.flush()


read.readline()
say({"type": "hello", "protocol": 1, "name": "shared", "credits": 1})
gate = open("gate", "rb", buffering=0)
devices = os.environ.get("CUDA_VISIBLE_DEVICES", "none")
for line in read:
    message = json.loads(line)
    if message["type"] == "end":
        break
    open("mark-" + devices + "-" + str(os.getpid()), "w").close()
    for item in message["items"]:
        gate.read(1)
        say({"type": "answer", "wire": item["wire"], "output": {"text": item["text"].upper()}})
    say({"type": "done", "batch": message["batch"]})
