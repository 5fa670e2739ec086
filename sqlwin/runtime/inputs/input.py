"""An input of a query: a stream, and what is done to its rows before the operator.

A query has one input for each stream that FROM names, in that order; a stream that is
joined with itself is two inputs.
"""

from __future__ import annotations

from functools import cached_property

import polars as pl
import pyarrow as pa

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA
from sqlwin.operators.joins.schema import PASSED_WHERE, POS
from sqlwin.operators.store_spec import StoreSpec
from sqlwin.plan.ir.nodes import Scalar, Stream
from sqlwin.plan.properties.processing_time import by_clock, clock_columns
from sqlwin.polars_frames import PLACE, empty, polars_type
from sqlwin.runtime.inputs.admission import Admission
from sqlwin.runtime.inputs.retention import RowRetention
from sqlwin.runtime.rows.scalars import Columns
from sqlwin.schema import WEIGHT

CARRIED: dict[str, pl.DataType] = {
    WEIGHT: pl.Int8(),
    **{name: dtype() for name, dtype in CHANGE_SCHEMA.items()},
}


@dataclass(frozen=True)
class Input:
    """where, columns: of the front.

    keys: the columns a bucket is chosen by; none where all rows belong together. Those
    of the inputs of one query are pairwise of one type.
    retention: None where no row can expire. timed: rows need event time.
    admission: the rule of `admission`, None where all rows are admitted.
    carried: further columns of a derived stream's rows, see `derived`. numbered: a
    task numbers its messages, also those that WHERE drops, see `message_numbers`. ordered: its
    operator numbers its rows, those as well. spanned: they come with numbers of the join in ROWS
    that they are results of. static: it is a table, or made of such, whole before
    the first row of any stream.
    """

    stream: Stream
    where: Scalar | None
    columns: Columns
    keys: tuple[str, ...]
    retention: RowRetention | None
    timed: bool
    admission: Admission | None = None
    carried: tuple[str, ...] = ()
    numbered: bool = False
    ordered: bool = False
    spanned: bool = False
    static: bool = False

    @cached_property
    def types(self) -> dict[str, pa.DataType]:
        return {column.name: column.type for column in self.stream.schema}

    @property
    def first(self) -> bool:
        """Whether its rows come from outside, before those of any stream."""
        return (self.static and not self.stream.of) or self.stream.whole

    @cached_property
    def clock(self) -> bool:
        """Whether its front, or its event time, reads processing time."""
        where = [] if self.where is None else [self.where]
        read = [*where, *(scalar for _, scalar in self.columns)]
        known = clock_columns(self.stream)
        called = any(s.clock is not None or not known.isdisjoint(s.inputs) for s in read)
        return called or (self.timed and by_clock(self.stream))

    def stores(self) -> list[StoreSpec]:
        """Those that its admission keeps."""
        return [] if self.admission is None else self.admission.stores()

    @property
    def blanks(self) -> bool:
        """Whether a row that WHERE drops goes on as a blank."""
        return self.numbered or self.ordered

    def nothing(self) -> pl.DataFrame:
        """No rows that were judged: the columns selected, then the position, then the number."""
        selected = {name: polars_type(scalar.type) for name, scalar in self.columns}
        more = {name: CARRIED[name] for name in self.carried}
        number: dict[str, pl.DataType] = {POS: pl.Int64()} if self.numbered else {}
        held: dict[str, pl.DataType] = {PASSED_WHERE: pl.Boolean()} if self.ordered else {}
        return empty({**selected, **PLACE, **more, **number, **held})
