"""Parts of an expression with their types: what is given to a function, and what it makes.

A `Typed` is text of DuckDB whose value has exactly the type it names (see `types.engine_name`);
no conversion of DuckDB's own is ever left to happen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, Final

import pyarrow as pa

from sqlwin.lazy_dataclass import dataclass

VARIES: Final = object()
"""The value of what is no constant."""


class Refused(Exception):
    """An expression that has no meaning. legal: what would have one. at: which argument."""

    def __init__(self, reason: str, legal: str = "", at: int | None = None) -> None:
        super().__init__(reason)
        self.legal = legal
        self.at = at


class NotConstant(Refused):
    """An argument has to be a constant, and is none as it stands. place: which one."""

    def __init__(self, reason: str, place: int) -> None:
        super().__init__(reason, at=place)
        self.place = place


@dataclass(frozen=True)
class Typed:
    """sql: DuckDB's. value: of a constant, in Python. fails: for some rows it may raise.
    written: it is a number as it stands in the query, and not computed from one.
    chain: of a sum or product of integral numbers, its sign and its operands, see `chains`."""

    sql: str
    type: pa.DataType
    value: Any = field(default=VARIES, compare=False)
    fails: bool = False
    written: bool = field(default=False, compare=False)
    chain: tuple[str, tuple[Typed, ...]] = field(default=("", ()), compare=False)

    @property
    def is_constant(self) -> bool:
        return self.value is not VARIES


@dataclass(frozen=True)
class Body:
    """A lambda with its types: names of its parameters, and what it computes."""

    names: tuple[str, ...]
    result: Typed

    @property
    def sql(self) -> str:
        return f"lambda {', '.join(self.names)}: {self.result.sql}"


@dataclass(frozen=True)
class Lambda:
    """A lambda as it is written. count: of its parameters. typed: its body, given their types and
    how each is computed from DuckDB's own, `{0}`, `{1}`, …"""

    count: int
    typed: Callable[[Sequence[pa.DataType], Sequence[str]], Body]


Argument = Typed | Lambda
