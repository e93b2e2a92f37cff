"""Runs a command to its end and prints one JSON object: status, wall and processor seconds, peak memory, output.

Usage: measure.py COMMAND [ARGUMENT ...]

The one yardstick for every peer in whatever language. Peak memory is what the kernel kept for the process itself
(ru_maxrss), in bytes.
"""

import json
import os
import subprocess
import sys
import time


def main():
    start = time.perf_counter()
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    # ru_maxrss counts kibibytes on Linux and bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    print(
        json.dumps(
            {
                "status": os.waitstatus_to_exitcode(status),
                "seconds": wall,
                "processor_seconds": usage.ru_utime + usage.ru_stime,
                "peak_bytes": usage.ru_maxrss * unit,
                "output": output.decode("utf-8", "replace"),
            }
        )
    )


if __name__ == "__main__":
    main()
