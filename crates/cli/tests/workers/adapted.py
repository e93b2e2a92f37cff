"""A worker for tests that names a category by its greeting's adapter: `loud` changes it, `broken` is not known."""

import json
import os

read = os.fdopen(int(os.environ["PILOTE_READ_FD"]))
write = os.fdopen(int(os.environ["PILOTE_WRITE_FD"]), "w")


def say(message):
    write.write(json.dumps(message) + "\n")
    write.flush()


greeting = json.loads(read.readline())
adapter = greeting["parameters"].get("adapter")
if adapter == "broken":
    raise LookupError("no adapter of this name")
names = [category["name"] for category in greeting["output"]["categories"]]
category = names[-1] if greeting["parameters"].get("mark") else names[0]
say({"type": "hello", "protocol": 1, "name": "adapted"})
for line in read:
    message = json.loads(line)
    if message["type"] == "end":
        break
    for item in message["items"]:
        say({"type": "answer", "wire": item["wire"], "output": {"category": category, "score": 0.5}})
    say({"type": "done", "batch": message["batch"]})
