"""Checks a copy with the public validators of its two formats, without a network.

Arguments: the copy (a folder). Prints what the validators say; the status is 0 when both are content.

The validator of RO-Crate fetches the JSON-LD context that a crate names. Here it finds it in its cache, where this
program puts the one that the package `rocrate` ships.
"""

import io
import os
import subprocess
import sys
import tempfile

import requests
import rocrate
from requests.adapters import BaseAdapter
from requests_cache import CachedSession
from urllib3 import HTTPResponse

CONTEXT = "https://w3id.org/ro/crate/1.2/context"


class Shipped(BaseAdapter):
    """Answers every request with the context that the package carries."""

    def send(self, request, **_):
        path = os.path.join(os.path.dirname(rocrate.__file__), "data", "ro-crate.jsonld")
        with open(path, "rb") as file:
            body = file.read()
        raw = HTTPResponse(
            body=io.BytesIO(body),
            status=200,
            headers={"Content-Type": "application/ld+json", "Content-Length": str(len(body))},
            preload_content=False,
            request_method="GET",
        )
        return requests.adapters.HTTPAdapter().build_response(request, raw)

    def close(self):
        pass


def warm(cache):
    session = CachedSession(
        cache_name=cache, expire_after=-1, backend="sqlite", allowable_methods=("GET",), allowable_codes=(200, 302, 404)
    )
    session.mount("https://", Shipped())
    session.get(CONTEXT, headers={"Accept": "application/ld+json, application/json"})
    session.get(CONTEXT)
    session.close()


def main():
    copy = sys.argv[1]
    scripts = os.path.dirname(sys.executable)
    bag = subprocess.run([sys.executable, "-m", "bagit", "--validate", copy])
    with tempfile.TemporaryDirectory() as folder:
        cache = os.path.join(folder, "http")
        warm(cache)
        asked = ["--offline", "--cache-path", cache, "--no-paging", "--verbose", os.path.join(copy, "data")]
        program = [os.path.join(scripts, "rocrate-validator"), "-y", "--disable-color", "validate"]
        crates = [
            subprocess.run([*program, "--profile-identifier", *profile, *asked])
            for profile in (
                ["ro-crate-1.2"],
                # The validator's profile of process runs is built on RO-Crate 1.1 and wants that version alone named.
                ["process-run-crate", "--skip-checks", "ro-crate-1.1_5.3"],
            )
        ]
    # The validator ends with 1 both for a crate that is wrong and for one that it could not look at: what it printed
    # tells which.
    sys.exit(1 if any(one.returncode for one in [bag, *crates]) else 0)


if __name__ == "__main__":
    main()
