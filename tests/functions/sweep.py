"""Each entry of the table with arguments of every kind: a call is compiled, or refused by name;
what is compiled has values, or fails with an error of a function.

    python -m tests.functions.sweep --every 1 --seed 0

--every n: of the calls with two or three arguments each n-th, from the one numbered by the seed on.
What ends otherwise, in an error of Python's or DuckDB's own, is listed with the first call of
its kind.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import pyarrow as pa
import sqlglot

from sqlwin.errors import SqlwinError
from sqlwin.functions.core.volatility import NOW
from sqlwin.functions.table import TABLE
from sqlwin.sandbox.running import Failed, run
from sqlwin.schema import TIMESTAMP, Column
from sqlwin.sql.expressions.compile.compiled import Uncompiled, compiled
from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark

COLUMNS = (
    *(Column("s", pa.string()), Column("i", pa.int32()), Column("d", pa.float64())),
    *(Column("a", pa.list_(pa.int32())), Column("m", pa.map_(pa.string(), pa.int32()))),
    *(Column("st", pa.struct([("x", pa.int32())])), Column("ts", TIMESTAMP)),
)
VALUES: dict[str, list[Any]] = {
    "s": ["abc", None, ""],
    "i": [7, None, -1],
    "d": [1.5, None, math.nan],
    "a": [[1, 2], None, [None]],
    "m": [[("k", 1)], None, []],
    "st": [{"x": 1}, None, {"x": None}],
    "ts": [0, None, -(10**15)],
}
ROWS = pa.table(
    {column.name: pa.array(VALUES[column.name], column.type) for column in COLUMNS}
    | {NOW: pa.array([0, 0, 0], TIMESTAMP)}
)
"""With the time of the batch, which the front of an input adds."""
KINDS = (
    *("NULL", "1", "1.5", "'a'", "s", "i", "d", "a", "m", "st", "ts", "x -> x"),
    *("array()", "map()", "array(NULL)", "INTERVAL '1' DAY"),
)
FEW = ("NULL", "1", "s", "a", "m", "x -> x")
"""For three arguments, of which there are many."""
_ENGINES = re.compile(r"\w+( \w+){0,2} Error: ")
"""How errors of DuckDB's own begin."""


def calls(names: Sequence[str], most: int = 3, every: int = 1, seed: int = 0) -> Iterator[str]:
    """Every one of up to one argument; of the others each n-th, whose places differ by name."""
    number = seed
    for name, count in product(names, range(most + 1)):
        for arguments in product(KINDS if count < 3 else FEW, repeat=count):
            number += count > 1
            if count < 2 or number % every == 0:
                yield f"{name}({', '.join(arguments)})"


def failed(call: str, evaluate: bool = False) -> str:
    """The error it must not end in, empty where there is none."""
    try:
        made = compiled(sqlglot.parse_one(call, read=SqlwinSpark), COLUMNS)
        if evaluate:
            run(ROWS, f"SELECT {made.sql} AS x FROM rows")["x"].to_pylist()
    except Failed as error:
        return str(error) if _ENGINES.match(str(error)) else ""
    except (Uncompiled, SqlwinError, sqlglot.errors.SqlglotError):
        return ""
    except Exception as error:  # noqa: BLE001 (whatever it is, it is the finding)
        return f"{type(error).__name__}: {error}"
    return ""


def found(most: int = 3, evaluate: bool = False, every: int = 1, seed: int = 0) -> dict[str, str]:
    """The first call of each kind of failure."""
    names = [name for name in sorted(TABLE) if name.isidentifier()]
    first: dict[str, str] = {}
    for call in calls(names, most, every, seed):
        if error := failed(call, evaluate):
            first.setdefault(error, call)
    return first


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Sweep over calls of every function.")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    failures = found(evaluate=True, every=options.every, seed=options.seed)
    for error, call in failures.items():
        print(f"{call}: {error}")  # noqa: T201
    sys.exit(bool(failures))
