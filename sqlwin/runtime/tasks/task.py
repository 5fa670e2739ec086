"""A task: one bucket of a query, its operator, its stores and its clock.

A task is what both hosts run; a bucket of keys is Samza's task. `take` is one
batch: late rows by the watermark before it, then the watermark the batch brings,
then the clock, then, if it is the last, the end of input. Rows are admitted before
the operator sees them. `commit` writes stores and clock together, so that what is
stored never knows more than what was taken.

Worked example: tumbling minutes, no delay, rows of 9:00:10 and then 9:01:05. The
second batch is taken under the watermark 9:00:10, and moves it to 9:01:05: the
minute of 9:00 is full and goes out with it.

A query of several streams has a watermark for each, and goes by the least of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property

import polars as pl

from sqlwin.instants import START
from sqlwin.operators.contract import Restoring, Stores
from sqlwin.runtime.checkpoint.task_state import HEADER, VERSION, Kept
from sqlwin.runtime.inputs.admission import Admitted, expired_before
from sqlwin.runtime.inputs.numbers import Numbers
from sqlwin.runtime.inputs.positions import Positions
from sqlwin.runtime.inputs.watermarks import Marks, Watermarks
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.lowering.output_projection import Back
from sqlwin.runtime.lowering.sides import on_batch
from sqlwin.runtime.rows.rejects import INTERNAL, judged, no_rejects
from sqlwin.runtime.tasks.admitting import admitted, retire
from sqlwin.runtime.tasks.recovery import (
    emptied,
    first_positions,
    hold,
    incomplete,
    lost,
    recovery,
    release,
)
from sqlwin.schema import POSITION
from sqlwin.state.contract import Blobs, SegmentCache, Store
from sqlwin.state.index import IndexJson
from sqlwin.state.pair_store import PairStore
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
        self.clock = Watermarks({name: each.delay for name, each in query.streams.items()})
        for name, each in query.streams.items():
            if each.of:  # none of its plans has come to any time yet
                self.clock.seen[name] = dict.fromkeys(range(len(each.of)), START)
        self.blobs, self.token = blobs, token
        kept = Kept(blobs, segment_rows, cache, run)
        header = kept.header()
        names = [] if blobs is None or lazy is None else blobs.names()
        self.recovery = None if lazy is None else recovery(query, header, names, lazy)
        gone = None if self.recovery is None else lost(header, names)
        self.stores = kept.stores(query, header if gone is None else emptied(header, gone))
        self.positions = Positions(tuple(query.streams))
        self.numbers = Numbers.load(header["numbers"]) if "numbers" in header else Numbers()
        self.admitted = 0
        if header:
            self.clock.restore(header["watermarks"])
            self.positions.restore(header["offsets"])

    def take(
        self,
        rows: Mapping[int, Iterable[pl.DataFrame]],
        marks: Mapping[str, Marks],
        now: int,
        end: bool = False,
        watermark: Mapping[str, int] | None = None,
        heard: bool = False,
    ) -> Output:
        """One batch of rows from the fronts, by number of the input, and what all its
        partitions saw, by stream.

        watermark: raise the watermarks of streams at least to these instants. heard: rows
        came, in whatever bucket.
        """
        before = {name: self.clock.of(name) for name in self.clock.delays}
        batch, again = self._put_back({at: list(each) for at, each in rows.items()}, now, end)
        for stream, seen in marks.items():
            self.clock.observe(stream, seen)
        for stream, reached in (watermark or {}).items():
            self.clock.raise_to(stream, reached)
        if self.query.operator is None:
            return self._output([self.back.pass_on(part) for part in batch.get(0, [])])
        if heard:
            self.stores.heard = now
        if self.recovery is not None and not self.recovery.lazy:
            return self._output([], again)
        if self.stores.forgetting is not None:  # before rows are judged by what is kept
            self.stores.forgetting.begin(now, self.stores.closed)
        self.stores.reached = tuple(before[each.stream.name] for each in self.query.inputs)
        taken = admitted(self.query, batch, self.stores, self.positions, self.numbers)
        self.stores.counted = self.numbers.greatest(len(self.query.inputs))
        self.admitted += sum(len(each.rows) for each in taken.values())
        emitted = self._operate({at: each.rows for at, each in taken.items()}, now, end)
        return self._output([self.back.show(emitted)], again, *taken.values())

    def commit(self) -> None:
        """Write the stores' changes and the header into the blobs."""
        if self.blobs is None:
            return
        indexes = {name: self._flush(store) for name, store in self.stores.named.items()}
        lives = self.stores.forgetting
        header = {
            "version": VERSION,
            "watermarks": self.clock.to_json(),
            "closed": self.stores.closed,
            "pending": self.stores.pending,
            "heard": self.stores.heard,
            "offsets": self.positions.to_json(),
            "recovery": None if self.recovery is None else asdict(self.recovery),
            "lives": None if lives is None else lives.to_json(),
            "stores": indexes,
        }
        if any(each.numbered for each in self.query.inputs):
            header["numbers"] = self.numbers.to_json()
        self.blobs.put(HEADER, json.dumps(header).encode())

    def _flush(self, store: Store) -> IndexJson:
        inner = store.inner if isinstance(store, TtlStore | PairStore) else store
        assert isinstance(inner, SegmentStore)
        return inner.flush(self.token)

    def read(self, positions: Mapping[str, Mapping[int, int]]) -> None:
        """Note the greatest positions read by stream and partition, also of refused rows."""
        for stream, read in positions.items():
            self.positions.note(stream, read)

    def missing(self) -> pl.DataFrame | None:
        """Positions of the lost messages that are not put back; None: nothing was lost."""
        return None if self.recovery is None else self.recovery.missing(self.stores)

    def whole(self) -> Stores:
        """The stores, to be looked at; Incomplete while lost messages are not all back."""
        missing = self.missing()
        if missing is not None and len(missing):
            raise incomplete(self.query, missing)
        return self.stores

    def replay_from(self, stream: str, pushed: int) -> dict[int, int]:
        """By partition of a stream, the position that a replay has to begin at.

        pushed: its rows so far, where it declares no OFFSET.
        """
        if self.query.streams[stream].offset is None:
            return {0: pushed}
        after = {part: seq + 1 for part, seq in self.positions.of(stream).items()}
        missing = self.missing()
        return after if missing is None else {**after, **first_positions(missing)}

    def reached(self) -> int:
        """The watermark that its results have come to."""
        return self.clock.least(self.query.clocks)

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
        lives = self.stores.forgetting
        erased = 0 if lives is None else lives.erasures
        return (opened, any_row and self.admitted, erased, *purged)

    def _put_back(
        self, batch: dict[int, list[pl.DataFrame]], now: int, end: bool
    ) -> tuple[dict[int, list[pl.DataFrame]], Admitted]:
        """Messages of a replay where they were lost; what is new of the batch, what is not.

        Only an operator of one input has a message store that can be lost.
        """
        known, stores = self.recovery, self.stores
        if known is None:
            return batch, Admitted(pl.DataFrame())
        came = batch.get(0, [])
        rows = pl.concat(came) if came else pl.DataFrame()
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
        return {0: [rows] if came else []}, Admitted(pl.DataFrame(), errors, len(again))

    def _behind(self, rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Of rows not known: what RETAIN n ROWS had expired when it came, or since, is again."""
        rule = self.query.inputs[0].admission
        if rule is None or rule.by_rows is None or rows.is_empty():
            return rows, no_rejects()
        stream = self.query.stream.name
        return expired_before(rule, rows, self.positions.of(stream), self.clock.of(stream))

    def _operate(self, batch: dict[int, pl.DataFrame], now: int, end: bool) -> pl.DataFrame:
        """batch: prepared rows, by input."""
        query, stores, known = self.query, self.stores, self.recovery
        watermark = self.reached()
        if known is not None:
            query = replace(query, operator=self._restoring.patient())
        operator = query.operator
        assert operator is not None
        out = [on_batch(query, batch, stores, now)] if batch else []
        out.append(operator.on_watermark(watermark, stores, now))
        if known is not None:
            hold(self._restoring.told_before(known.closed), stores)
        out.append(operator.on_tick(now, stores))
        if end:
            out.append(operator.on_end(stores, now))
        retire(self.query, stores, self.clock)
        return pl.concat(out)

    @cached_property
    def _restoring(self) -> Restoring:
        assert isinstance(self.query.operator, Restoring)
        return self.query.operator

    def _output(self, results: list[pl.DataFrame], *admitted: Admitted) -> Output:
        return Output(
            pl.concat([self.back.nothing(), *results]),
            {name: self.clock.of(name) for name in self.clock.delays},
            self.deadline(),
            judged(
                pl.concat([no_rejects(), *(each.errors for each in admitted)]), self.query.expired
            ),
            sum(each.replayed for each in admitted),
        )
