"""The worker module of Pilote: turn a function over a batch into an engine.

    from pilote import Vector, worker

    @worker(name="my-encoder", version="1")
    def embed(items):
        return [Vector(encode(item.text)) for item in items]

    if __name__ == "__main__":
        embed.serve()

The function gets a list of items and gives a list of outputs of the same length and order. An item that cannot be
done is answered with ``Refused("why")``; an exception is tried again item by item, and the one that raises alone
is refused with the exception's words. Only the standard library is needed, from Python 3.9 on.
"""

from ._worker import (
    PROTOCOL,
    Category,
    Greeting,
    Item,
    Json,
    Refused,
    Text,
    Vector,
    Worker,
    worker,
)

__all__ = [
    "PROTOCOL",
    "Category",
    "Greeting",
    "Item",
    "Json",
    "Refused",
    "Text",
    "Vector",
    "Worker",
    "worker",
]
