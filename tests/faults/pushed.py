"""A query that rows are pushed to, with a store on a disk that fails.

A batch has its rows and its time, and comes again as it was where a new process asks for it by
`offsets()`. Outputs are taken in one of two ways:

- *standalone*: `results` and then `flush`. What was taken and not flushed is taken again, so it
  does not count before.
- *automatic*: a callback takes them, and refuses one in five. What was sent and not written is
  sent again, as it was; what was written never is.

In the end the last revision of every row key is the batch answer.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from sqlwin.embedded.checkpoint.durable_store import DurableStore
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.errors import InputDisabled, SqlwinError
from sqlwin.plan.ir.statements import Script
from sqlwin.sql import script
from tests.faults.disk import FAULTS, Cached, Crash, Disk
from tests.faults.drawn_queries import (
    DAY,
    SOON,
    STREAMS,
    Question,
    Row,
    batch_answer,
    comparable,
    drawn,
    rows,
)
from tests.faults.scripted import CHANGES, SECOND

Key = tuple[str, int]


@dataclass(frozen=True)
class Batch:
    """again: rows of before that come with it. first: how many came before it."""

    stream: str
    first: int
    rows: list[Row]
    again: list[Row]
    now: int


@dataclass
class Taken:
    """sent: with what the store had written when it was; unsure: and a process died then."""

    file: Path
    sent: list[tuple[bytes, Row]] = field(default_factory=list)
    unsure: dict[Key, Row] = field(default_factory=dict)
    written: dict[str, Row] = field(default_factory=dict)

    def mark(self) -> bytes:
        """Unlike that of any other commit."""
        if not self.file.exists():
            return b""
        with closing(sqlite3.connect(self.file)) as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'offsets'").fetchone():
                return b""
            found = db.execute("SELECT data FROM offsets WHERE name = 'position'").fetchone()
        return b"" if found is None else bytes(found[0])

    def send(self, output: Row) -> None:
        before = self.unsure.get(_key(output), output)
        assert before == output, ("it is sent again, and otherwise", before, output)
        self.sent.append((self.mark(), output))

    def settle(self) -> None:
        """A commit has written all that was sent before it."""
        now = self.mark()
        for mark, output in self.sent:
            if mark != now:
                known = self.written.get(output["row_key"], {"revision": -1})
                assert output["revision"] > known["revision"], ("it was written", output)
                self.written[output["row_key"]] = output
                self.unsure.pop(_key(output), None)
        self.sent = [each for each in self.sent if each[0] == now]

    def died(self, again: bool) -> None:
        """again: whether what was not written is to come again as it was."""
        self.settle()
        if again:
            self.unsure.update((_key(output), output) for _, output in self.sent)
        self.sent.clear()

    def last(self) -> list[Row]:
        return [row for row in self.written.values() if row["op"] != "-D"]


def _key(output: Row) -> Key:
    return output["row_key"], output["revision"]


@dataclass
class Pushed:
    """crashes: how often it has died."""

    home: Path
    random: Random
    cached: Cached = field(default_factory=Cached)
    crashes: int = 0

    def simulate(self) -> None:
        drawn_ = drawn(self.random)
        question = replace(drawn_, text=drawn_.text.replace(SOON, DAY))
        offset = ", OFFSET id" if question.offset else ""
        parsed = script(STREAMS.format(offset=offset, s="", r="") + question.text)
        batches = self.batches(question)
        self.automatic = self.random.random() < 0.5
        self.taken = Taken(self.home / "store")
        crashes = self.random.randint(1, 4)
        while not self.runs(parsed, batches, fails=self.crashes < crashes):
            self.crashes += 1
        assert not self.taken.unsure, ("it was sent, and not again", self.taken.unsure)
        self.compare(question, batches)

    def batches(self, question: Question) -> list[Batch]:
        known: dict[str, list[Row]] = {name: [] for name in question.streams}
        made, now = [], 0
        for number in range(self.random.randint(3, 7)):
            stream = self.random.choice(question.streams)
            now += self.random.choice((0, 1, 20)) * SECOND
            before = known[stream]
            new = rows(self.random, len(before), self.random.randint(1, 4), 6 * number)
            again = []
            if before and question.offset and self.random.random() < 0.3:
                again = [self.random.choice(before)]
            made.append(Batch(stream, len(before), new, again, now))
            known[stream] = before + new
        return made

    def runs(self, parsed: Script, batches: list[Batch], fails: bool) -> bool:
        """One process, to its end or that of the batches; whether it was that."""
        at = self.random.randint(1, 60) if fails else None
        disk = Disk(self.home, self.random, at, self.random.choice(FAULTS), self.cached)
        try:
            with disk.attached():
                self.works(parsed, batches)
        except Crash:
            self.taken.died(again=self.automatic)
            return False
        except SqlwinError:
            if disk.at is None or disk.done < disk.at:
                raise
            self.taken.died(again=self.automatic)
            return False
        self.taken.settle()
        return True

    def works(self, parsed: Script, batches: list[Batch]) -> None:
        rows_ = self.random.choice((1, 3, 1000))
        store = DurableStore(self.home / "store")
        query = EmbeddedQuery(parsed, blobs=store, token=f"life{self.crashes}", segment_rows=rows_)
        if self.automatic:
            query.on_output(self.takes)
        for batch in batches:
            if query.offsets()[batch.stream].get(0, 0) <= batch.first:
                self.patiently(query, batch.now, lambda batch=batch: self.push(query, batch))
                if self.random.random() < 0.3:
                    self.collect(query)
        self.patiently(query, batches[-1].now, query.drain)
        while self.automatic and query.results(clear=False).num_rows:
            query.timeout(batches[-1].now)
        self.collect(query)

    def push(self, query: EmbeddedQuery, batch: Batch) -> None:
        query.advance(now=batch.now)
        query.push(batch.stream, [*batch.again, *batch.rows])

    def patiently(self, query: EmbeddedQuery, now: int, step: Any) -> None:
        """Again, where an output was refused and nothing is taken before it is sent."""
        while True:
            try:
                return step()
            except InputDisabled:
                query.timeout(now)

    def takes(self, output: Row) -> bool:
        if self.random.random() < 0.2:
            return False
        self.taken.send(output)
        return True

    def collect(self, query: EmbeddedQuery) -> None:
        if self.automatic:
            query.commit()
            return
        for output in query.results(clear=False).to_pylist():
            self.taken.send(output)
        query.flush()
        self.taken.settle()

    def compare(self, question: Question, batches: list[Batch]) -> None:
        pushed = {
            name: [row for batch in batches if batch.stream == name for row in batch.rows]
            for name in question.streams
        }
        found = [
            [value for name, value in row.items() if name not in CHANGES]
            for row in self.taken.last()
        ]
        assert comparable(found) == batch_answer(question, pushed), question
