"""What an operator is: columns, its stores and a time; no SQL, no Spark, no bytes.

An operator is a frozen declaration. Everything it knows between two calls is in
`Stores`, and every call says what time it is, so the same calls give the same
emissions on every host and after every restart. The host calls `on_batch`,
`on_watermark`, `on_tick` in this order, and `on_end` after them at an end of input.

Emissions are frames with the operator's output columns and then `__op`,
`__emit`, `__revision`, `__row_key`. Where an operator has `update_before` set,
each `+U` stands directly below the `-U` it replaces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import polars as pl

from sqlwin.instants import END, START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.state.contract import Store

if TYPE_CHECKING:  # what has no TTL imports nothing of it
    from sqlwin.state.ttl.join_entries import JoinTtlEntries
    from sqlwin.state.ttl.lifetimes import Lifetimes


@dataclass
class Stores:
    """The state of one operator in one bucket.

    watermark: the one that the operator has reached; windows that end by here are full.
    pending: processing time of the next emission that waits, None where none does.
    last_input: processing time of the last batch with rows; None before the first, and
    after a TIMEOUT until the next. The task sets it, before `on_batch`.
    input_watermarks: of each input's own stream before the batch, by number of the
    input; the task sets it as well. What is older came late.
    counted: the greatest message number of each input, where they are numbered; the task
    sets it, with this batch. Messages that WHERE dropped count.
    horizon: what ends before it is out of retention, where RETAIN alone does not say.
    ttl_entries: of the keys of `named`, where they have a TTL; sides: of the rows of a join.
    cached: what the operator has made of `named`, to read less of it; none of it is written, and
    it may be forgotten at any time.
    """

    named: dict[str, Store]
    watermark: int = START
    pending: int | None = None
    last_input: int | None = None
    input_watermarks: tuple[int, ...] = ()
    counted: tuple[int, ...] = ()
    horizon: int | None = None
    ttl_entries: Lifetimes | None = None
    sides: JoinTtlEntries | None = None
    cached: object = None

    def __getitem__(self, name: str) -> Store:
        return self.named[name]

    @property
    def ttl(self) -> Lifetimes | JoinTtlEntries | None:
        """Whose state has a TTL, if any has."""
        return self.ttl_entries if self.sides is None else self.sides

    def note(self, pairs: pl.DataFrame) -> None:
        """Pairs of a join, or results of its single rows, were found: that reads their rows."""
        if self.sides is not None:
            self.sides.note(pairs)

    def _check(self) -> None:
        for store in self.named.values():
            store._check()


def everything(stores: Stores, name: str) -> pl.DataFrame:
    return stores[name].scan(START, END)


def timeout_at(timeout: int | None, stores: Stores) -> int | None:
    """When TIMEOUT is over if no row comes until then; None: it does not run."""
    return None if timeout is None or stores.last_input is None else stores.last_input + timeout


def bounds(times: pl.Series) -> tuple[int, int]:
    """The half-open range of Int64 `times`, (0, 0) of none."""
    if times.is_empty():
        return 0, 0
    return times.min(), times.max() + 1  # type: ignore[return-value,operator]


class Timed(Protocol):
    """What time does to an operator; see the module for what its emissions hold."""

    def stores(self) -> list[StoreSpec]:
        """Each store that it keeps. All that others know of its state they read from these."""

    def on_watermark(self, watermark: int, stores: Stores, now: int) -> pl.DataFrame:
        """Emit the windows that became full, then retire those out of retention."""

    def on_tick(self, now: int, stores: Stores) -> pl.DataFrame:
        """Emit what is due by `now`: early results, corrections, a silent stream's windows."""

    def on_end(self, stores: Stores, now: int) -> pl.DataFrame:
        """End of input: emit every open window full and every pending correction."""

    def horizons(self, stores: Stores) -> pl.DataFrame:
        """Bucket keys and `__floor`: a late row below the horizon of its keys is expired.

        Only under RETAIN n ROWS; keys without a line have no horizon.
        """

    def next_deadline(self, stores: Stores) -> int | None:
        """When `on_tick` would next emit; None where nothing waits."""


@runtime_checkable
class Closing(Timed, Protocol):
    """An operator whose results become full as the watermark moves."""

    def next_full(self, stores: Stores) -> int | None:
        """The watermark at which the next of them does; None where none is open."""


def next_full(operator: object, stores: Stores) -> int | None:
    """None also of an operator that knows no such time: it emits with the next batch."""
    return operator.next_full(stores) if isinstance(operator, Closing) else None


class Operator(Timed, Protocol):
    """A window operator over one input."""

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows to what `on_batch` takes. Stateless: it may run before a shuffle."""

    def on_batch(self, batch: pl.DataFrame, stores: Stores, now: int) -> pl.DataFrame:
        """Take prepared rows, none of them expired; emit what must go out at once."""


DOUBT_PART, DOUBT_SEQ, DOUBT_TEXT = "__doubt_part", "__doubt_seq", "__doubt_text"
DOUBT = (DOUBT_PART, DOUBT_SEQ, DOUBT_TEXT)
"""Position and text of a row that may be expired: no two of them are folded into one."""


@runtime_checkable
class Judging(Operator, Protocol):
    """An operator that says which rows are expired by what it has stored."""

    def judge(self, rows: pl.DataFrame, stores: Stores, ended: int) -> pl.DataFrame:
        """Those of a batch's rows, prepared or not, that are; with `__from`, their instant.

        ended: the watermark less RETAIN.
        """

    def oldest(self, stores: Stores, ended: int) -> int:
        """No row before this instant counts, but for such as `repeated` has."""

    def repeated(self, rows: pl.DataFrame, stores: Stores) -> pl.DataFrame:
        """Those of a batch's rows that are stored where no position is kept for admission."""


class JoinOperator(Timed, Protocol):
    """An operator over two inputs. Its watermark is the least of those of its inputs."""

    def prepare(self, rows: pl.DataFrame, side: int) -> pl.DataFrame:
        """As that of `Operator`; side: 0 is the left one, 1 the right one."""

    def on_batch(
        self, left: pl.DataFrame, right: pl.DataFrame, stores: Stores, now: int
    ) -> pl.DataFrame:
        """As that of `Operator`. A side may have no rows; its frame has its columns then."""

    def horizons(self, stores: Stores, side: int = 0) -> pl.DataFrame:
        """As that of `Timed`, of one side: the equal columns as it calls them."""


@runtime_checkable
class Expiring(Timed, Protocol):
    """An operator whose state has a TTL."""

    def open_ttl(self, stores: Stores, saved: Any, run: str | None) -> None:
        """Put the TTL around what was opened of `stores()`.

        saved: as a checkpoint has it, of `ttl.to_json()`; None: none. run: as in `Task`.
        """


@runtime_checkable
class Restoring(Operator, Protocol):
    """An operator with a message store, which can be filled again."""

    def restore(self, batch: pl.DataFrame, stores: Stores, now: int, since: int | None) -> None:
        """Put lost messages back: prepared rows that were taken in before, any again.

        since: `watermark` when they were lost, where windows went out without them: those that
        were not full then are emitted again. None: nothing did, and no window is touched.
        """

    def final_before(self, closed: int) -> int:
        """Windows whose time, as the ledger has it, is below this were full at `watermark`."""

    def without_eviction(self) -> Restoring:
        """The same operator, which lets nothing retire."""
