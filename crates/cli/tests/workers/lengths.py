"""A worker for tests: a vector of the text's length in characters and in bytes, or what the text tells it to do."""

import os
import signal
import sys
import time

from pilote import Category, Refused, Text, Vector, worker


@worker(name="lengths", version="1", parameters={"unit": "characters"})
def lengths(items):
    outputs = []
    for item in items:
        print("stray print about", item.wire)
        if item.text == "refuse":
            outputs.append(Refused("told to refuse"))
        elif item.text == "raise":
            raise ValueError("told to raise")
        elif item.text == "die":
            print("error: told to die", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGSEGV)
        elif item.text == "hang":
            time.sleep(600)
        elif item.text == "nan":
            outputs.append(Category("a", float("nan")))
        elif item.text == "text":
            outputs.append(Text("a text", {"temperature": 0}))
        else:
            outputs.append(Vector([len(item.text), len(item.text.encode())]))
    return outputs


if __name__ == "__main__":
    lengths.serve()
