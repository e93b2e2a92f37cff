"""A worker for tests that gives each text back as the JSON that it is, without reading it."""

import json
import os

read = os.fdopen(int(os.environ["PILOTE_READ_FD"]))
write = os.fdopen(int(os.environ["PILOTE_WRITE_FD"]), "w")


def say(line):
    write.write(line + "\n")
    write.flush()


read.readline()
say('{"type":"hello","protocol":1,"name":"parrot"}')
for line in read:
    message = json.loads(line)
    if message["type"] == "end":
        break
    for item in message["items"]:
        say('{"type":"answer","wire":"%s","output":{"json":%s}}' % (item["wire"], item["text"].strip()))
    say('{"type":"done","batch":"%s"}' % message["batch"])
