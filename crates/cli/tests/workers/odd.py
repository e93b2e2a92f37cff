"""A worker for tests that says more or less than it was asked, as its parameter `odd` says."""

import base64
import json
import os
import struct

read = os.fdopen(int(os.environ["PILOTE_READ_FD"]))
write = os.fdopen(int(os.environ["PILOTE_WRITE_FD"]), "w")


def say(message):
    write.write(json.dumps(message) + "\n")
    write.flush()


odd = json.loads(read.readline())["parameters"]["odd"]
say({"type": "hello", "protocol": 1, "name": "odd"})
for line in read:
    message = json.loads(line)
    if message["type"] == "end":
        break
    for item in message["items"]:
        if odd == "silent" and item["text"] == "skip":
            continue
        vector = base64.b64encode(struct.pack("<2f", len(item["text"]), 1)).decode()
        answer = {"type": "answer", "wire": item["wire"], "output": {"vector": vector}}
        say(answer)
        if odd == "repeated":
            say(answer)
        if odd == "unknown":
            say({**answer, "wire": "w18446744073709551000"})
    say({"type": "done", "batch": message["batch"]})
