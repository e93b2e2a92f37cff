"""The conversation of ``docs/worker-protocol.md``, seen from the worker."""

from __future__ import annotations

import array
import base64
import errno
import json
import math
import os
import queue
import sys
import threading
import time
import traceback
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Callable, Iterable, Mapping, Optional, Sequence, Union

PROTOCOL = 1

# Pilote waits for the greeting as long as it is declared to; these lines only tell a log that set-up goes on.
_SIGN_OF_LIFE_SECONDS = 5.0


@dataclass(frozen=True)
class Item:
    """One input: its opaque name, its text or its file, and the fields of its row that the project passes through."""

    wire: str
    text: Optional[str] = None
    file: Optional[str] = None
    columns: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Greeting:
    """What Pilote says first: what an acceptable output is, and the declared parameters."""

    output: Mapping[str, Any]
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class Category:
    """One of the declared categories, its score where there is one, and the other scores, best first."""

    category: str
    score: Optional[float] = None
    others: Sequence[tuple[str, float]] = ()
    cut_at_tokens: Optional[int] = None


@dataclass(frozen=True)
class Vector:
    """A vector of finite numbers; ``cut_at_tokens`` where the input was cut and cutting is declared."""

    values: Iterable[float]
    cut_at_tokens: Optional[int] = None


@dataclass(frozen=True)
class Text:
    """A text and what made it (parameters, tokens, finish reason)."""

    text: str
    made_with: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Json:
    """A JSON value, never repaired."""

    value: Any
    made_with: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Refused:
    """This item cannot be done, and why."""

    detail: str


Output = Union[Category, Vector, Text, Json, Refused]
BatchFunction = Callable[[list[Item]], Sequence[Output]]


class Worker:
    """A batch function with what Pilote has to know of it."""

    def __init__(
        self,
        function: BatchFunction,
        *,
        name: str,
        version: str = "",
        credits: int = 2,
        device: str = "cpu",
        precision: str = "f32",
        longest_tokens: Optional[int] = None,
        parameters: Optional[Mapping[str, str]] = None,
    ) -> None:
        self.function = function
        self.facts: dict[str, Any] = {
            "name": name,
            "version": version,
            "credits": credits,
            "device": device,
            "precision": precision,
            "parameters": dict(parameters or {}),
        }
        if longest_tokens is not None:
            self.facts["longest_tokens"] = longest_tokens
        self._setup: Optional[Callable[[Greeting], Optional[Mapping[str, Any]]]] = None

    def __call__(self, items: list[Item]) -> Sequence[Output]:
        return self.function(items)

    def setup(self, function: Callable[[Greeting], Optional[Mapping[str, Any]]]) -> Callable[..., Any]:
        """Registers what runs once before the first batch: load the model here, not at import. A mapping that it
        returns is added to what the worker says of itself (``device``, ``precision``, ``model`` ...)."""
        self._setup = function
        return function

    def serve(self) -> None:
        """Speaks with Pilote until it says that nothing more comes."""
        try:
            read = os.fdopen(int(os.environ["PILOTE_READ_FD"]), "rb")
            write = os.fdopen(int(os.environ["PILOTE_WRITE_FD"]), "wb")
        except KeyError as missing:
            sys.exit(f"error: {missing.args[0]} is not set: a worker is started by pilote")
        _Conversation(self, read, write).run()


def worker(**facts: Any) -> Callable[[BatchFunction], Worker]:
    """Makes a worker of a function over a batch; the keyword arguments are those of :class:`Worker`."""
    return lambda function: Worker(function, **facts)


class _Conversation:
    """Reads on one thread and computes and writes on the other, so that batches wait here and not in the pipe."""

    def __init__(self, served: Worker, read: BinaryIO, write: BinaryIO) -> None:
        self.served = served
        self.read = read
        self.write = write
        self.lock = threading.Lock()
        self.messages: queue.Queue[Optional[dict[str, Any]]] = queue.Queue()

    def run(self) -> None:
        hello = json.loads(self.read.readline())
        if hello.get("protocol") != PROTOCOL:
            sys.exit(f"error: pilote speaks protocol {hello.get('protocol')}, this module {PROTOCOL}")
        facts = {**self.served.facts, **self._set_up(Greeting(hello["output"], hello["parameters"]))}
        self._say({"type": "hello", "protocol": PROTOCOL, **facts})
        threading.Thread(target=self._listen, name="pilote reader", daemon=True).start()
        while (message := self.messages.get()) is not None:
            self._work(message)

    def _set_up(self, greeting: Greeting) -> Mapping[str, Any]:
        if self.served._setup is None:
            return {}
        ready = threading.Event()

        def give_signs_of_life() -> None:
            while not ready.wait(_SIGN_OF_LIFE_SECONDS):
                self._say({"type": "setting-up", "note": "set-up is running"})

        threading.Thread(target=give_signs_of_life, name="pilote set-up", daemon=True).start()
        try:
            return self.served._setup(greeting) or {}
        finally:
            ready.set()

    def _listen(self) -> None:
        for line in self.read:
            message = json.loads(line)
            if message["type"] == "end":
                break
            self.messages.put(message)
        self.messages.put(None)

    def _work(self, message: Mapping[str, Any]) -> None:
        start = time.monotonic()
        items = [_item(item) for item in message["items"]]
        try:
            outputs = self._outputs(items)
            lines = [_answer(item, output) for item, output in zip(items, outputs)]
        except Exception as error:  # noqa: BLE001 - whatever the user's function raises is reported
            traceback.print_exc()
            self._say({"type": "failed", "batch": message["batch"], "error": _words(error)})
            return
        compute_us = int((time.monotonic() - start) * 1e6)
        done = {"type": "done", "batch": message["batch"], "measures": {"compute_us": compute_us, **_peak()}}
        self._say(*lines, done)

    def _outputs(self, items: list[Item]) -> Sequence[Output]:
        try:
            return self._checked(items)
        except Exception as error:  # noqa: BLE001
            if len(items) == 1 or _is_machine_fault(error):
                raise
            first = error
            traceback.print_exc()
        outputs = [self._alone(item) for item in items]
        # Where every item fails alone, the function is at fault and not the items.
        if all(isinstance(output, Exception) for output in outputs):
            raise first
        return [Refused(_words(output)) if isinstance(output, Exception) else output for output in outputs]

    def _alone(self, item: Item) -> Union[Output, Exception]:
        try:
            return self._checked([item])[0]
        except Exception as error:  # noqa: BLE001
            if _is_machine_fault(error):
                raise
            return error

    def _checked(self, items: list[Item]) -> Sequence[Output]:
        outputs = list(self.served.function(items))
        if len(outputs) != len(items):
            raise ValueError(f"the worker's function gave {len(outputs)} outputs for {len(items)} items")
        return outputs

    def _say(self, *messages: Mapping[str, Any]) -> None:
        lines = "".join(json.dumps(message, allow_nan=False, separators=(",", ":")) + "\n" for message in messages)
        with self.lock:
            self.write.write(lines.encode())
            self.write.flush()


def _item(item: Mapping[str, Any]) -> Item:
    text = item.get("text")
    if text is None and "text_file" in item:
        with open(item["text_file"], encoding="utf-8", newline="") as file:
            text = file.read()
    return Item(item["wire"], text, item.get("file"), item.get("columns", {}))


def _answer(item: Item, output: Output) -> dict[str, Any]:
    if isinstance(output, Refused):
        return {"type": "answer", "wire": item.wire, "refused": {"detail": output.detail}}
    return {"type": "answer", "wire": item.wire, "output": _wire_output(output)}


def _wire_output(output: Output) -> dict[str, Any]:
    if isinstance(output, Vector):
        wire: dict[str, Any] = {"vector": _base64(output.values)}
    elif isinstance(output, Category):
        wire = {"category": output.category, "others": [[name, float(score)] for name, score in output.others]}
        if output.score is not None:
            if not math.isfinite(output.score):
                raise ValueError(f"the score of {output.category!r} is {output.score}")
            wire["score"] = float(output.score)
    elif isinstance(output, Text):
        return {"text": output.text, "made_with": dict(output.made_with)}
    elif isinstance(output, Json):
        return {"json": output.value, "made_with": dict(output.made_with)}
    else:
        raise TypeError(f"{type(output).__name__} is no output: Category, Vector, Text, Json or Refused is expected")
    if output.cut_at_tokens is not None:
        wire["cut_at_tokens"] = output.cut_at_tokens
    return wire


def _base64(values: Iterable[float]) -> str:
    # numpy arrays and torch tensors have a faster way than one number after another.
    to_array = getattr(values, "astype", None)
    if to_array is not None:
        return base64.b64encode(to_array("<f4").tobytes()).decode()
    floats = array.array("f", values)
    if sys.byteorder == "big":
        floats.byteswap()
    return base64.b64encode(floats.tobytes()).decode()


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _is_machine_fault(error: Exception) -> bool:
    """Memory and devices fail for the batch as a whole: no item is to be refused for them."""
    words = _words(error).lower()
    if isinstance(error, OSError):
        return error.errno in (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC)
    return isinstance(error, MemoryError) or any(
        sign in words for sign in ("out of memory", "cuda error", "hip error", "cublas", "cudnn")
    )


def _peak() -> dict[str, int]:
    """Peak memory of this process in bytes; nothing where it cannot be read."""
    try:
        import resource
    except ImportError:
        return {}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"peak_bytes": peak if sys.platform == "darwin" else peak * 1024}
