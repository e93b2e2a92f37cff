"""A worker for the behaviour suite: each text in capitals, unless it begins with what it is to do instead."""

import os
import signal

from pilote import Refused, Text, worker


@worker(name="suite", version="1")
def suite(items):
    return [one(item.text) for item in items]


def one(text):
    if text.startswith("refuse"):
        return Refused("told to refuse")
    if text.startswith("die"):
        os.kill(os.getpid(), signal.SIGKILL)
    return Text(text.upper())


if __name__ == "__main__":
    suite.serve()
