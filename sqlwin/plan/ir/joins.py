"""The join of a plan, and the static table that may stand on its right.

One primitive: a pair of a left and a right row matches iff their keys are equal
(NULL equals nothing), they lie near enough (`match`), and the residual condition is
true. A row's position is its event time or, where `match` is in ROWS, its message
number, counted from 1 over all messages of its stream, before any Filter. Where `match`
is of sessions, rows lie near enough whose sessions overlap; each is found among all rows
of its input that have its session key.

What a join gives may be the rows of another: of a derived stream, whose event time is one
of those that its columns carry.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from sqlwin.added import ADDED
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.once import hashed_once
from sqlwin.plan.ir.streams import Scalar, Stream
from sqlwin.policies import Policy
from sqlwin.schema import TIMESTAMP, Column, Schema
from sqlwin.windows import Unit
from sqlwin.windows.joins import AsOf, JoinSessions, JoinWindow
from sqlwin.windows.stays import JoinStays, Stay

if TYPE_CHECKING:
    from sqlwin.plan.ir.nodes import Node

KINDS = ("inner", "left", "right", "full", "semi", "anti")
HALVES = ("semi", "anti")
"""Kinds that give columns of the left alone."""


@hashed_once
@dataclass(frozen=True)
class StaticScan:
    """A static table: its rows are read whole, before the first row of any stream. folders: as of a
    Scan."""

    stream: Stream
    folders: Scalar | None = field(default=None, repr=False, compare=False)

    @cached_property
    def schema(self) -> Schema:
        return self.stream.schema


@hashed_once
@dataclass(frozen=True)
class Join:
    """left_keys, right_keys: input columns, equal in pairs and of one type; none: any rows.

    match: AsOf is for inner and left joins alone; with a StaticScan on the right it is an
    unbounded JoinWindow, or JoinStays, and the kind is not right and not full. The keys of
    JoinSessions come first. residual: over `pairs`. JoinStays: its results are changes of a
    relation, each with the columns that `match` names.
    large: whether messages are kept by their keys first, so that few of a wide window are
    looked at; of no account without keys. single: a left row that finds two right ones is an error.
    numbers: of left and right, in ROWS, the name of a column of results: the number of the message.
    Output: all columns of left, then of right, whose names differ; SEMI and ANTI: of left; then
    those of changes, or of numbers.
    """

    left: Node
    right: Node
    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    kind: str
    match: JoinWindow | AsOf | JoinSessions
    residual: Scalar | None
    policy: Policy
    large: bool = True
    single: bool = field(default=False, repr=False, metadata=ADDED)
    numbers: tuple[str | None, str | None] = field(default=(None, None), repr=False, metadata=ADDED)

    def __post_init__(self) -> None:
        if self.kind not in KINDS or len(self.left_keys) != len(self.right_keys):
            raise ValueError(f"no such join: {self.kind} on {self.left_keys}, {self.right_keys}")
        names = [column.name for column in self.pairs]
        if len(set(names)) < len(names):
            raise ValueError(f"columns of a join have names of their own, not {names}")

    @cached_property
    def static(self) -> bool:
        """Whether the right is a table that is looked up, and nothing is kept of the left."""
        node: object = self.right
        while (below := getattr(node, "input", None)) is not None:
            node = below
        return self.stays is None and isinstance(node, StaticScan)

    @property
    def buckets(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Of left and right the keys by which rows meet; all messages that are counted do."""
        match, keys = self.match, len(self.left_keys)
        if isinstance(match, JoinStays):
            return self._within(match.left, match.right)
        if isinstance(match, JoinWindow | JoinSessions) and match.unit is Unit.ROWS:
            keys = 0
        elif isinstance(match, JoinSessions):
            keys = match.keys
        return self.left_keys[:keys], self.right_keys[:keys]

    def _within(self, left: Stay, right: Stay) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The keys that all rows of one partition share, where the last ones are counted."""
        pairs = [
            (one, other)
            for one, other in zip(self.left_keys, self.right_keys, strict=True)
            if (left.whole or one in left.partition) and (right.whole or other in right.partition)
        ]
        return tuple(one for one, _ in pairs), tuple(other for _, other in pairs)

    @property
    def unbounded(self) -> tuple[str, ...]:
        """The sides whose rows may match however much later the other one's are."""
        if not isinstance(self.match, JoinWindow) or self.static or self.stays is not None:
            return ()
        ends = (("left", self.match.high), ("right", self.match.low))
        return tuple(side for side, end in ends if end is None)

    @property
    def endless(self) -> tuple[str, ...]:
        """The sides whose rows stay when their windows are over: of those, and looking back for
        the nearest row the right one, of which each key's newest stays."""
        match = self.match
        return ("right",) if isinstance(match, AsOf) and match.backward else self.unbounded

    @property
    def stays(self) -> JoinStays | None:
        """Of a join of relations."""
        return self.match if isinstance(self.match, JoinStays) else None

    @cached_property
    def pairs(self) -> Schema:
        """What the residual condition is over."""
        return (*self.left.schema, *self.right.schema)

    @cached_property
    def schema(self) -> Schema:
        rows = self.left.schema if self.kind in HALVES else self.pairs
        if self.stays is None:
            return (*rows, *(Column(name, pa.int64()) for name in self.numbers if name))
        names = self.stays.instant, self.stays.there, self.stays.identity
        types = TIMESTAMP, pa.bool_(), pa.string()
        return (*rows, *map(Column, names, types))
