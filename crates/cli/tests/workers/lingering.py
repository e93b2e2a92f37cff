"""A worker for tests that leaves a double-forked grandchild, then never answers."""

import os
import time

from pilote import worker


def mark(folder, name, pid):
    part = os.path.join(folder, name + ".part")
    with open(part, "w") as file:
        file.write(str(pid))
    os.rename(part, os.path.join(folder, name))


@worker(name="lingering")
def lingering(items):
    time.sleep(600)


@lingering.setup
def setup(greeting):
    folder = greeting.parameters["marks"]
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            mark(folder, "grandchild", os.getpid())
            time.sleep(600)
        os._exit(0)
    os.wait()
    mark(folder, "worker", os.getpid())


if __name__ == "__main__":
    lingering.serve()
