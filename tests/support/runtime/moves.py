"""A script that is run in parts, on whichever host, its checkpoint moved in between."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.checkpoint.export_file import bucket, exporting, opened, write
from sqlwin.runtime.checkpoint.rebuckets import rebucketed
from sqlwin.runtime.checkpoint.snapshot import bound_again
from sqlwin.spark.stages.buckets import bucket_of
from sqlwin.spark.stages.program import Program
from sqlwin.sql import script
from tests.faults.drawn_queries import (
    CHAINED,
    DAY,
    JOINED,
    POLICIES,
    STREAMS,
    UNBOUNDED,
    WINDOWED,
    Question,
    batch_answer,
    comparable,
    rows,
)

CHANGES = ("op", "emit", "revision", "row_key")
FROM = " WITH (connector = 'files', path = '{}/*.jsonl', format = 'json')"
SINK = "CREATE SINK {0} WITH (connector = 'files', path = '{0}', format = 'json');\n"
LIVED = {
    name: (
        text.replace("SELECT ", "SELECT /*+ STATE_TTL('s' = '9 hours', 'r' = '8 hours') */ ", 1),
        answer,
    )
    for name, (text, answer) in JOINED.items()
    if name in ("join", "outer", "asof")
}


def question(name: str, policy: str = "early", offset: bool = False) -> Question:
    """One of `drawn_queries` by name; of a join with a TTL for each side, with `_ttl` behind."""
    if name in WINDOWED:
        select, batch = WINDOWED[name]
        return Question(name, f"{select}\n{POLICIES[policy]}{DAY}", batch, ("s",), offset)
    if name.endswith("_ttl"):
        return Question(name, *LIVED[name.removesuffix("_ttl")], ("s", "r"), offset)
    if name in JOINED:
        return Question(name, *JOINED[name], ("s", "r"), offset)
    return Question(name, *{**CHAINED, **UNBOUNDED}[name], ("s",), offset)


ALL = (*WINDOWED, *CHAINED, *UNBOUNDED, *JOINED, *(f"{name}_ttl" for name in LIVED))


class Moved:
    """The questions as one script in a folder, and what landed for it."""

    def __init__(self, home: Path, questions: Sequence[Question], seed: int = 7) -> None:
        self.home, self.random = home, Random(seed)
        self.questions: Sequence[Question] = questions
        self.landed: dict[str, list[dict[str, object]]] = {"s": [], "r": []}
        self.files = 0

    @property
    def text(self) -> str:
        offset = ", OFFSET id" if self.questions[0].offset else ""
        text = STREAMS.format(offset=offset, s=FROM.format("s"), r=FROM.format("r"))
        for at, each in enumerate(self.questions):
            text += SINK.format(f"out{at}") + f"INSERT INTO out{at}\n{each.text};\n"
        return text

    @property
    def script(self) -> Script:
        return script(self.text)

    def land(self, count: int = 12) -> None:
        """A file for each stream, most of its rows later than those before; where messages have
        offsets, some of those before come again."""
        for stream, known in self.landed.items():
            new = rows(self.random, len(known), count, 15 + 25 * self.files)
            again = (
                self.random.sample(known, min(3, len(known))) if self.questions[0].offset else []
            )
            known += new
            (self.home / stream).mkdir(exist_ok=True)
            lines = [json.dumps({**row, "ts": row["ts"].isoformat()}) for row in (*new, *again)]  # type: ignore[union-attr, attr-defined]
            file = self.home / stream / f"{self.files:04}.jsonl"
            file.write_text("".join(line + "\n" for line in lines))
        self.files += 1

    def check(self) -> None:
        """The last revision of each row key is the batch answer, and no revision is there twice."""
        for at, each in enumerate(self.questions):
            found = [
                [value for name, value in row.items() if name not in CHANGES]
                for row in self._last(at)
            ]
            taken = {
                name: [{**row, "missed": None} for row in self.landed[name]]
                for name in each.streams
            }
            assert comparable(found) == batch_answer(each, taken), each

    def _last(self, at: int) -> list[dict[str, object]]:
        found: dict[str, dict[str, object]] = {}
        for file in sorted((self.home / f"out{at}").glob("*.jsonl")):
            for row in map(json.loads, file.read_text().splitlines()):
                known = found.get(row["row_key"])
                assert known is None or row["revision"] > known["revision"], ("twice", at, row)
                found[row["row_key"]] = row
        return [row for row in found.values() if row["op"] != "-D"]


def cut_again(file: Path, to: Path, buckets: int) -> None:
    """An export as if a checkpoint of so many buckets had made it."""
    with opened(file) as (about, blobs), exporting(to) as made:
        bound = bound_again(about.text, about.queries[0].plan)
        program = Program(bound.queries, 2, buckets)
        stages = [
            rebucketed(
                lowered,
                [bucket(blobs, stage, number) for number in range(about.buckets[stage])],
                len(program.labels[stage]),
                bucket_of,
            )
            for stage, lowered in enumerate(program.lowered)
        ]
        write(made, replace(about, buckets=[len(each) for each in stages]), stages)
