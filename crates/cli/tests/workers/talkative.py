"""A worker for tests that says a secret wherever a worker can say anything, each time escaped in another way."""

import json
import os
import sys

secret = os.environ["API_TOKEN"]
read = os.fdopen(int(os.environ["PILOTE_READ_FD"]))
write = os.fdopen(int(os.environ["PILOTE_WRITE_FD"]), "w", encoding="utf-8")


def say(message, **how):
    write.write(json.dumps(message, **how) + "\n")
    write.flush()


read.readline()
print("error: printed", secret)
print("error: logged", secret, file=sys.stderr)
say({"type": "setting-up", "note": secret})
say({"type": "hello", "protocol": 1, "name": "talks of " + secret, "parameters": {"p " + secret: secret}})
for line in read:
    message = json.loads(line)
    if message["type"] == "end":
        break
    for number, item in enumerate(message["items"]):
        answer = {"type": "answer", "wire": item["wire"]}
        if item["text"] == "refuse":
            answer["refused"] = {"detail": secret}
        elif item["text"] == "stray":
            say({**answer, "wire": secret, "refused": {"detail": secret}})
            answer["output"] = {"text": "plain"}
        elif item["text"] == "fail":
            say({"type": "failed", "batch": message["batch"], "error": "RuntimeError: " + secret})
            break
        else:
            answer["output"] = {"text": "it is " + secret, "made_with": {secret: [secret]}}
        say(answer, ensure_ascii=number % 2 == 0)
    else:
        say({"type": "done", "batch": message["batch"]})
