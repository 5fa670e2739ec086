"""A task: one bucket of a query, its operator, its stores and its clock.

A task is what both hosts run; a bucket of keys is Samza's task. `take` is one
batch: late rows by the watermark before it, then the watermark the batch brings,
then the clock, then, if it is the last, the end of input. Rows are admitted before
the operator sees them. `commit` writes stores and clock together, so that what is
stored never knows more than what was taken.

Worked example: tumbling minutes, no delay, rows of 9:00:10 and then 9:01:05. The
second batch is taken under the watermark 9:00:10, and moves it to 9:01:05: the
minute of 9:00 is full and goes out with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

import polars as pl

from sqlwin.operators.contract import Restoring, Stores
from sqlwin.runtime.admission import Admitted, admit, expired_before
from sqlwin.runtime.back import Back
from sqlwin.runtime.kept import HEADER, VERSION, Kept
from sqlwin.runtime.lower import Lowered
from sqlwin.runtime.recovery import (
    emptied,
    first_positions,
    hold,
    incomplete,
    lost,
    recovery,
    release,
)
from sqlwin.runtime.rejects import INTERNAL, no_rejects
from sqlwin.runtime.watermarks import Marks, Watermarks
from sqlwin.schema import POSITION
from sqlwin.state.contract import Blobs, SegmentCache, Store
from sqlwin.state.index import IndexJson
from sqlwin.state.segments import SEGMENT_ROWS, SegmentStore
from sqlwin.state.ttl_store import TtlStore


@dataclass(frozen=True)
class Output:
    """results: as `Back.schema`. watermarks: after the batch. deadline: of the next tick.

    errors: rows that the task did not admit. replayed: messages it knew already.
    """

    results: pl.DataFrame
    watermarks: dict[str, int]
    deadline: int | None
    errors: pl.DataFrame = field(default_factory=no_rejects)
    replayed: int = 0


class Task:
    """blobs: where state is kept; None keeps it in memory only.

    token: unlike any given before for these blobs; it names new segments.
    segment_rows: the most rows of one segment. lazy: how a lost message store is
    filled again, see `recovery`; None where none can be lost, and nobody looks. run: what
    tells a run of the query from others, None where every task is one.
    """

    def __init__(
        self,
        query: Lowered,
        blobs: Blobs | None = None,
        token: str = "",
        cache: SegmentCache | None = None,
        segment_rows: int = SEGMENT_ROWS,
        lazy: bool | None = None,
        run: str | None = None,
    ) -> None:
        self.query = query
        self.back = Back(query)
        self.clock = Watermarks({query.stream.name: query.stream.delay})
        self.blobs, self.token = blobs, token
        kept = Kept(blobs, segment_rows, cache, run)
        header = kept.header()
        names = [] if blobs is None or lazy is None else blobs.names()
        self.recovery = None if lazy is None else recovery(query, header, names, lazy)
        gone = None if self.recovery is None else lost(header, names)
        self.stores = kept.stores(query, header if gone is None else emptied(header, gone))
        self.offsets: dict[int, int] = {}
        self.admitted = 0
        if header:
            self.clock.restore(header["watermarks"])
            self.offsets = {int(part): seq for part, seq in header["offsets"].items()}

    def take(
        self,
        rows: Iterable[pl.DataFrame],
        marks: Iterable[Marks],
        now: int,
        end: bool = False,
        watermark: int | None = None,
        heard: bool = False,
    ) -> Output:
        """One batch of rows from the front, and what all its partitions saw.

        watermark: raise the stream's watermark at least to this instant. heard: rows of
        the stream came, in whatever bucket.
        """
        stream, before = self.query.stream.name, self.clock.of(self.query.stream.name)
        batch, again = self._put_back(list(rows), now, end)
        for seen in marks:
            self.clock.observe(stream, seen)
        if watermark is not None:
            self.clock.raise_to(stream, watermark)
        if self.query.operator is None:
            return self._output([self.back.pass_on(part) for part in batch])
        if heard:
            self.stores.heard = now
        if self.recovery is not None and not self.recovery.lazy:
            return self._output([], again)
        if self.stores.lives is not None:  # before rows are judged by what is kept
            self.stores.lives.begin(now, self.stores.closed)
        admitted = [self._admitted(pl.concat(batch), before)] if batch else []
        self.admitted += sum(len(each.rows) for each in admitted)
        emitted = self._operate([each.rows for each in admitted], now, end)
        return self._output([self.back.show(emitted)], again, *admitted)

    def commit(self) -> None:
        """Write the stores' changes and the header into the blobs."""
        if self.blobs is None:
            return
        indexes = {name: self._flush(store) for name, store in self.stores.named.items()}
        lives = self.stores.lives
        header = {
            "version": VERSION,
            "watermarks": self.clock.to_json(),
            "closed": self.stores.closed,
            "pending": self.stores.pending,
            "heard": self.stores.heard,
            "offsets": self.offsets,
            "recovery": None if self.recovery is None else asdict(self.recovery),
            "lives": None if lives is None else lives.to_json(),
            "stores": indexes,
        }
        self.blobs.put(HEADER, json.dumps(header).encode())

    def _flush(self, store: Store) -> IndexJson:
        inner = store.inner if isinstance(store, TtlStore) else store
        assert isinstance(inner, SegmentStore)
        return inner.flush(self.token)

    def read(self, positions: Mapping[int, int]) -> None:
        """Note the greatest positions read by partition, of rows that were refused as well."""
        for part, seq in positions.items():
            self.offsets[part] = max(seq, self.offsets.get(part, seq))

    def missing(self) -> pl.DataFrame | None:
        """Positions of the lost messages that are not put back; None: nothing was lost."""
        return None if self.recovery is None else self.recovery.missing(self.stores)

    def whole(self) -> Stores:
        """The stores, to be looked at; Incomplete while lost messages are not all back."""
        missing = self.missing()
        if missing is not None and len(missing):
            raise incomplete(self.query, missing)
        return self.stores

    def replay_from(self, pushed: int) -> dict[int, int]:
        """By source partition, the position that a replay has to begin at.

        pushed: rows so far, where the stream declares no OFFSET.
        """
        if self.query.stream.offset is None:
            return {0: pushed}
        after, missing = {part: seq + 1 for part, seq in self.offsets.items()}, self.missing()
        return after if missing is None else {**after, **first_positions(missing)}

    def deadline(self) -> int | None:
        """Of the next tick that would say something; None where there is none to wait for."""
        operator = self.query.operator
        return None if operator is None else operator.next_deadline(self.stores)

    def edge(self) -> tuple[object, ...]:
        """Changes when a window opens or anything is purged: when state is to be flushed."""
        newest = max((max(s.values()) for s in self.clock.seen.values() if s), default=0)
        opened, rule = self.query.opened(newest), self.query.policy
        any_row = opened is None or (rule is not None and rule.retain_rows is not None)
        kept = self.stores.named.values()
        purged = [store.layout.slice_of(store.floor) for store in kept]
        lives = self.stores.lives
        erased = 0 if lives is None else lives.erasures
        return (opened, any_row and self.admitted, erased, *purged)

    def _admitted(self, rows: pl.DataFrame, watermark: int) -> Admitted:
        """What the operator takes of `rows`; watermark: before the batch."""
        rule, operator = self.query.admission, self.query.operator
        assert operator is not None
        if rule is None:
            return Admitted(rows)
        floors = None if rule.by_rows is None else operator.floors(self.stores)
        admitted = admit(rule, rows, self.stores, self.offsets, floors, watermark)
        return replace(admitted, rows=operator.prepare(admitted.rows))

    def _put_back(
        self, batch: list[pl.DataFrame], now: int, end: bool
    ) -> tuple[list[pl.DataFrame], Admitted]:
        """Messages of a replay where they were lost; what is new of the batch, what is not."""
        known, stores = self.recovery, self.stores
        if known is None:
            return batch, Admitted(pl.DataFrame())
        rows = pl.concat(batch) if batch else pl.DataFrame()
        again = known.again(rows, stores)
        if len(again):
            prepared = self._restoring.prepare(again.drop(INTERNAL, strict=False))
            self._restoring.restore(prepared, stores, now, known.since)
            rows = rows.join(again, on=list(POSITION), how="anti", maintain_order="left")
        missing, errors = known.missing(stores), no_rejects()
        if missing.is_empty():
            self.recovery = None
            if known.ever:
                release(self._restoring.told_before(known.closed), stores, now)
        else:
            rows, errors = self._behind(rows)
            if end or known.too_early(rows, self.query.reaches_back):
                raise incomplete(self.query, missing)
        return [rows] if batch else [], Admitted(pl.DataFrame(), errors, len(again))

    def _behind(self, rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Of rows not known: what RETAIN n ROWS had expired when it came, or since, is again."""
        rule = self.query.admission
        if rule is None or rule.by_rows is None or rows.is_empty():
            return rows, no_rejects()
        return expired_before(rule, rows, self.offsets, self.clock.of(self.query.stream.name))

    def _operate(self, batch: list[pl.DataFrame], now: int, end: bool) -> pl.DataFrame:
        operator, stores, known = self.query.operator, self.stores, self.recovery
        watermark = self.clock.of(self.query.stream.name)
        assert operator is not None
        if known is not None:
            operator = self._restoring.patient()
        out = [operator.on_batch(rows, stores, now) for rows in batch]
        out.append(operator.on_watermark(watermark, stores, now))
        if known is not None:
            hold(self._restoring.told_before(known.closed), stores)
        out.append(operator.on_tick(now, stores))
        if end:
            out.append(operator.on_end(stores, now))
        self._forget(watermark)
        return pl.concat(out)

    @cached_property
    def _restoring(self) -> Restoring:
        assert isinstance(self.query.operator, Restoring)
        return self.query.operator

    def _forget(self, watermark: int) -> None:
        rule, operator = self.query.admission, self.query.operator
        if rule is not None and operator is not None:
            floors = None if rule.by_rows is None else operator.floors(self.stores)
            rule.retire(watermark, self.stores, floors)

    def _output(self, results: list[pl.DataFrame], *admitted: Admitted) -> Output:
        return Output(
            pl.concat([self.back.nothing(), *results]),
            {name: self.clock.of(name) for name in self.clock.delays},
            self.deadline(),
            pl.concat([no_rejects(), *(each.errors for each in admitted)]),
            sum(each.replayed for each in admitted),
        )
