"""Cases: expressions by subject, and the rows of values each of them is tried on.

An expression is a line of `cases/<subject>.sql`; lines that begin with `--` are remarks. Its rows
are the product of the values of the columns it reads, at most `MOST` of them, chosen by a hash;
each value is in at least one.

>>> case = Case("arithmetic", "b AND b2")
>>> case.columns, len(case.picks), case.picks[:3]
(('b', 'b2'), 9, ((0, 0), (0, 1), (0, 2)))
>>> len(Case("arithmetic", "s || s2 || s_num").picks) == MOST
True
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa

from tests.functions.values import COLUMNS, VALUES

HERE = Path(__file__).parent
MOST = 150
ROW = "nth"
"""A column of the stream beside those of `values`, so that there are rows of no columns."""
SCHEMA = pa.schema([*((column.name, column.type) for column in COLUMNS), (ROW, pa.int64())])
_WORD = re.compile(r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|(?<![\w.])[a-z]\w*(?!\s*\()(?!\w)")


@dataclass(frozen=True)
class Case:
    subject: str
    text: str

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Those it reads, in order of first use."""
        found = (word for word in _WORD.findall(self.text) if word in VALUES)
        return tuple(dict.fromkeys(found))

    @cached_property
    def picks(self) -> tuple[tuple[int, ...], ...]:
        """For each row, which value of each column."""
        sizes = [len(VALUES[name]) for name in self.columns]
        count = math.prod(sizes)
        if count <= MOST:
            return tuple(_place(at, sizes) for at in range(count))
        longest = max(sizes)
        each = [tuple(at % size for size in sizes) for at in range(longest)]
        return tuple(dict.fromkeys([*each, *self._drawn(sizes)]))[: max(MOST, longest)]

    def _drawn(self, sizes: list[int]) -> Iterator[tuple[int, ...]]:
        for at in range(4 * MOST):
            draw = hashlib.sha256(f"{self.text} {at}".encode()).digest()
            yield _place(int.from_bytes(draw[:8], "big") % math.prod(sizes), sizes)

    @property
    def schema(self) -> pa.Schema:
        """Of the stream: all columns of `values`, and ROW."""
        return SCHEMA

    @property
    def rows(self) -> pa.Table:
        """The columns it reads, and ROW."""
        picked = {
            name: VALUES[name].take(pa.array([pick[at] for pick in self.picks], pa.int64()))
            for at, name in enumerate(self.columns)
        }
        return pa.table({**picked, ROW: pa.array(range(len(self.picks)), pa.int64())})

    def shown(self, row: int) -> str:
        """The row's values, for people."""
        pairs = zip(self.columns, self.picks[row], strict=True)
        return ", ".join(f"{name}={_value(name, at)}" for name, at in pairs)


def _place(at: int, sizes: list[int]) -> tuple[int, ...]:
    """The at-th of the product, as itertools.product counts."""
    found: list[int] = []
    for size in reversed(sizes):
        at, rest = divmod(at, size)
        found.append(rest)
    return tuple(reversed(found))


def _value(name: str, at: int) -> str:
    value = VALUES[name][at]
    if not value.is_valid:
        return "NULL"
    plain = pa.types.is_date(value.type) or pa.types.is_timestamp(value.type)
    return str(value.cast(pa.string())) if plain else repr(value.as_py())


def subjects() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (HERE / "cases").glob("*.sql")))


def cases(subject: str) -> tuple[Case, ...]:
    lines = (HERE / "cases" / f"{subject}.sql").read_text("utf-8").splitlines()
    given = (line.strip() for line in lines)
    kept = dict.fromkeys(line for line in given if line and not line.startswith("--"))
    return tuple(Case(subject, line) for line in kept)
