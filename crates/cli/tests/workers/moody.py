"""A worker for tests: every text gets the category that stands in mood.txt, or with `turns` there, another one in each trial."""

from pathlib import Path

from pilote import Category, worker


def mood():
    said = Path("mood.txt").read_text(encoding="utf-8").strip()
    if said != "turns":
        return said
    turn = Path("turn.txt")
    count = int(turn.read_text(encoding="utf-8")) if turn.exists() else 0
    turn.write_text(str(count + 1), encoding="utf-8")
    return "ab"[count % 2]


MOOD = mood()


@worker(name="moody", version="1")
def moody(items):
    return [Category(MOOD, 0.9) for _ in items]


if __name__ == "__main__":
    moody.serve()
