"""What the pinned PySpark answers for every case, kept beside them.

    python -m tests.functions.record                  # all subjects
    python -m tests.functions.record strings dates

One line a case in `answers/<subject>.jsonl.gz`: the expression, Spark's type, the rows' values in
the form of `canonical`; or why Spark refuses it. The first line has the digest of the values.
Only the pinned PySpark writes these files.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from tests.functions.matrix import HERE, Case, cases, subjects
from tests.functions.oracle import Answer, Oracle, session
from tests.functions.values import digest

ANSWERS = HERE / "answers"


def recorded(subject: str) -> dict[str, Answer]:
    """By expression."""
    return unpacked(ANSWERS / f"{subject}.jsonl.gz")


def unpacked(path: Path) -> dict[str, Answer]:
    """By expression. LookupError where the values are not those that were recorded."""
    head, *lines = gzip.decompress(path.read_bytes()).decode("utf-8").strip("\n").split("\n")
    if json.loads(head)["values"] != digest():
        raise LookupError(f"values.py is not what {path.name} was recorded with")
    return dict(_answer(line) for line in lines)


def _answer(line: str) -> tuple[str, Answer]:
    found = json.loads(line)
    return found["e"], Answer(
        found.get("type", ""), tuple(found.get("rows", ())), found.get("no", "")
    )


def line(case: Case, answer: Answer) -> str:
    outcome = (
        {"no": answer.refused} if answer.refused else {"type": answer.type, "rows": answer.rows}
    )
    return json.dumps({"e": case.text, **outcome}, ensure_ascii=False, separators=(",", ":"))


def pack(path: Path, lines: Iterable[str]) -> None:
    text = "\n".join([json.dumps({"values": digest()}), *lines]) + "\n"
    # mtime: the same answers are the same file
    path.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))


def record(wanted: Iterable[str]) -> None:
    with session() as spark:
        oracle = Oracle(spark)
        for subject in wanted:
            began = time.monotonic()
            lines = [line(case, oracle.answer(case)) for case in cases(subject)]
            pack(ANSWERS / f"{subject}.jsonl.gz", lines)
            print(f"{subject}: {len(lines)} in {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    record(sys.argv[1:] or subjects())
