"""The bound logical plan: frozen nodes, one way to say each thing.

The binder takes all the variety of the dialect; a plan that leaves it has this
normal form, and the runtime lowers nothing else:

    Scan > Filter? > Project > WindowAggregate | OverAggregate | TopN | WindowedRelation
        | MatchRecognize > Filter? > Project
    Scan > Filter? > Project > WindowAggregate > WindowRank > Filter? > Project
    Scan > Filter? > Project                                      (no window)
    Scan > Filter? > Project > Unnest > Project                   (rows of a derived stream)
    Join > Filter? > Project, where an input of the Join is
        Scan > Filter? > Project, or
        StaticScan > Filter? > Project                            (on the right)

A Scan is of a declared stream, or of a derived one, whose rows are the results of other
such plans: so windows chain.

Keys, arguments and carried columns of a window operator are plain columns,
computed by the Project below it; everything after aggregation is computed by
the Project above. Keys of a Join likewise: `_key1`, `_key2`, … where they are no
columns; a column that two inputs of a join have is called `input.column` in their
Projects. Conditions on one input are its Filter, where outer joins let them.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.joins import Join, StaticScan
from sqlwin.plan.ir.matches import MatchRecognize
from sqlwin.plan.ir.once import hashed_once
from sqlwin.plan.ir.streams import Scalar, Stream, column_of, quoted
from sqlwin.plan.ir.unnest import Unnest
from sqlwin.plan.ir.windows import (
    GROUPING,
    Aggregate,
    OverAggregate,
    OverCall,
    TopN,
    WindowAggregate,
    WindowedRelation,
    WindowRank,
)
from sqlwin.schema import Column, Schema

__all__ = [
    "GROUPING",
    "Aggregate",
    "Join",
    "MatchRecognize",
    "OverAggregate",
    "OverCall",
    "Scalar",
    "StaticScan",
    "Stream",
    "TopN",
    "Unnest",
    "WindowAggregate",
    "WindowRank",
    "WindowedRelation",
    "column_of",
    "quoted",
]


@hashed_once
@dataclass(frozen=True)
class Scan:
    """folders: what its Filter says of the folders of a partitioned source, over columns of these
    alone; None: nothing. It follows from the Filter, so that it says no more of a plan."""

    stream: Stream
    folders: Scalar | None = field(default=None, repr=False, compare=False)

    @cached_property
    def schema(self) -> Schema:
        return self.stream.schema


@hashed_once
@dataclass(frozen=True)
class Filter:
    input: Node
    predicate: Scalar

    @cached_property
    def schema(self) -> Schema:
        return self.input.schema


@hashed_once
@dataclass(frozen=True)
class Project:
    input: Node
    columns: tuple[tuple[str, Scalar], ...]

    @cached_property
    def schema(self) -> Schema:
        return tuple(Column(name, scalar.type) for name, scalar in self.columns)


Windowed = WindowAggregate | OverAggregate | TopN | WindowedRelation | WindowRank | MatchRecognize
Unary = Filter | Project | Unnest | Windowed
Node = Scan | StaticScan | Unary | Join
