"""A script with files and a checkpoint, run again and again on a disk that fails.

Files land a few at a time, time goes on, and `run` takes what is there; where it dies it is
started again, at once or when more has come, from what the disk has kept. In the end it is
drained. Then, of each query of the script:

- the last revision of every row key is the batch answer over the rows that did not expire;
- no revision of a row key is there twice;
- its error stream has each malformed line once, and each expired row once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from sqlwin.embedded import run as running
from sqlwin.embedded import script_query
from sqlwin.errors import SqlwinError
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.runtime.rows.error_stream import EXPIRED, IN_PART
from sqlwin.runtime.tasks.chain_task import ChainTask
from sqlwin.sql import script
from tests.faults.disk import FAULTS, Cached, Crash, Disk
from tests.faults.drawn_queries import (
    STREAMS,
    Question,
    Row,
    batch_answer,
    comparable,
    drawn,
    rows,
)

MALFORMED = '{"id": 0, "k": "a", "v": "many"}'
SINK = "CREATE SINK {0} WITH (connector = 'files', path = '{0}', format = 'json');\n"
FROM = " WITH (connector = 'files', path = '{}/*.jsonl', format = 'json')"
CHANGES = ("op", "emit", "revision", "row_key")
SECOND = 1_000_000


@dataclass
class Scripted:
    """crashes: how often it has died. malformed: lines of stream s."""

    home: Path
    random: Random
    questions: list[Question] = field(default_factory=list)
    landed: dict[str, list[Row]] = field(default_factory=lambda: {"s": [], "r": []})
    malformed: int = 0
    files: int = 0
    now: int = 0
    crashes: int = 0
    cached: Cached = field(default_factory=Cached)

    def simulate(self) -> None:
        first = drawn(self.random)
        others = [drawn(self.random)] if self.random.random() < 0.3 else []
        self.questions = [first, *(each for each in others if each.offset == first.offset)]
        parsed = self.script()
        for _ in range(self.random.randint(2, 3)):
            self.land()
            self.tries(parsed, self.random.randint(1, 2), drain=False)
        self.tries(parsed, 3, drain=True)
        for at, question in enumerate(self.questions):
            self.compare(at, question)

    def script(self) -> Script:
        offset = ", OFFSET id" if self.questions[0].offset else ""
        text = STREAMS.format(offset=offset, s=FROM.format("s"), r=FROM.format("r"))
        for at, question in enumerate(self.questions):
            text += SINK.format(f"out{at}")
            text += SINK.format(f"bad{at}") if question.expires else ""
            text += f"INSERT INTO out{at}\n{question.text.format(bad=f'bad{at}')};\n"
        return script(text)

    def land(self) -> None:
        """A file or two for each stream."""
        self.now += self.random.choice((0, 1, 20)) * SECOND
        for stream in ("s", "r"):
            for _ in range(self.random.randint(1, 2)):
                known = self.landed[stream]
                about = 12 * self.files
                new = rows(self.random, len(known), self.random.randint(0, 4), about)
                known += new
                self.write(stream, new + self.again(known))
        self.files += 1

    def again(self, known: list[Row]) -> list[Row]:
        if not known or not all(each.repeats for each in self.questions):
            return []
        return [self.random.choice(known)] if self.random.random() < 0.3 else []

    def write(self, stream: str, new: list[Row]) -> None:
        lines = [json.dumps({**row, "ts": row["ts"].isoformat()}) for row in new]
        if stream == "s" and self.random.random() < 0.3:
            lines.insert(self.random.randint(0, len(lines)), MALFORMED)
            self.malformed += 1
        folder = self.home / stream
        folder.mkdir(exist_ok=True)
        (folder / f"{len(list(folder.iterdir())):04}.jsonl").write_text(
            "".join(line + "\n" for line in lines)
        )

    def tries(self, parsed: Script, crashes: int, drain: bool) -> None:
        """Run until it ends by itself, or more is to land; after so many crashes none comes."""
        while True:
            fails = self.random.randint(1, 35) if crashes else None
            disk = Disk(self.home, self.random, fails, self.random.choice(FAULTS), self.cached)
            if self.ends(parsed, disk, drain):
                return
            crashes, self.crashes = crashes - 1, self.crashes + 1
            self.now += self.random.choice((0, 20)) * SECOND
            if not drain and self.random.random() < 0.3:
                return

    def ends(self, parsed: Script, disk: Disk, drain: bool) -> bool:
        options = RunOptions(self.home, self.home / "kept", drain)
        try:
            with disk.attached(), self.conditions():
                running.run(parsed, options)
        except Crash:
            return False
        except (SqlwinError, OSError):
            if disk.at is None or disk.done < disk.at:
                raise
            return False
        return True

    @contextmanager
    def conditions(self) -> Iterator[None]:
        """The time is ours, and segments are of a few rows, so that there are some to merge."""
        cut = partial(ChainTask, segment_rows=self.random.choice((1, 3, 1000)))
        with (
            patch.object(script_query, "now", lambda: self.now),
            patch.object(script_query, "ChainTask", cut),
        ):
            yield

    # --- what holds in the end ---

    def compare(self, at: int, question: Question) -> None:
        expired, missed = self.expired(at, question)
        taken = {
            name: [
                {**row, "missed": missed.get(row["id"])}
                for row in self.landed[name]
                if row["id"] not in expired
            ]
            for name in question.streams
        }
        found = [
            [value for name, value in row.items() if name not in CHANGES] for row in self.last(at)
        ]
        assert comparable(found) == batch_answer(question, taken), question

    def last(self, at: int) -> list[Row]:
        """The last revision of every row key that was not retracted."""
        found: dict[str, Row] = {}
        for row in lines_of(self.home / f"out{at}"):
            known = found.get(row["row_key"])
            assert known is None or row["revision"] > known["revision"], ("twice", row)
            found[row["row_key"]] = row
        return [row for row in found.values() if row["op"] != "-D"]

    def expired(self, at: int, question: Question) -> tuple[set[int], dict[int, datetime]]:
        """Ids of the rows that expired, and of those that miss windows that ended by an instant."""
        if not question.expires:
            return set(), {}
        errors = list(lines_of(self.home / f"bad{at}"))
        reasons = Counter(row["reason"].split(":")[0] for row in errors)
        assert reasons["malformed"] == self.malformed, reasons
        places = Counter((row["position"], row["reason"]) for row in errors)
        assert max(places.values(), default=1) == 1, places
        found = {reason: self._of(errors, reason) for reason in (EXPIRED, IN_PART)}
        missed = {json.loads(row["row"])["id"]: _ended(row) for row in found[IN_PART]}
        return {json.loads(row["row"])["id"] for row in found[EXPIRED]}, missed

    @staticmethod
    def _of(errors: list[Row], reason: str) -> list[Row]:
        return [row for row in errors if row["reason"].split(":")[0] == reason]


def _ended(error: Row) -> datetime:
    return datetime.fromisoformat(error["reason"].split()[-1].replace("Z", "+00:00"))


def lines_of(folder: Path) -> Iterator[dict[str, Any]]:
    """Of the files of a sink, as a reader sees them."""
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text().splitlines():
            yield json.loads(line)
