"""What sqlwin says of an expression, in the form of `canonical`.

It is compiled as the select list of a query over a stream of all columns, and evaluated over all
its rows in one call, as every host does.

>>> found = answer(Case("operators", "b AND b2"))
>>> found.type, found.rows[:5]
('boolean', (None, None, False, None, True))
>>> answer(Case("operators", "no_such(i)")).refused
'no function is called no_such'
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import polars as pl
import pyarrow as pa
from polars.exceptions import PanicException

import sqlwin
from sqlwin.errors import QueryError
from sqlwin.plan.ir.nodes import Project, Scalar
from sqlwin.runtime.rows.scalars import evaluate
from sqlwin.sql import script
from tests.functions.canonical import Json, canonical, type_name
from tests.functions.matrix import ROW, Case

_stream = lru_cache(maxsize=1)(sqlwin.stream)


CLOCK = "its value is the time of the batch, which no two runs share"


@dataclass(frozen=True)
class Ours:
    """As oracle.Answer; a row that is rejected has `{"!": reason}`. crashed: what was raised."""

    type: str = ""
    rows: tuple[Json, ...] = ()
    refused: str = ""
    crashed: str = ""


def answer(case: Case) -> Ours:
    try:
        scalar = compiled(case.text, case.schema)
        if scalar.clock is not None:
            return Ours(refused=CLOCK)
        return Ours(type_name(scalar.type), rows(scalar, case))
    except QueryError as refusal:
        return Ours(refused=str(refusal).splitlines()[0])
    except (Exception, PanicException) as failure:  # noqa: BLE001  the next one is tried
        return Ours(crashed=f"{type(failure).__name__}: {failure}".splitlines()[0])


def compiled(text: str, schema: pa.Schema) -> Scalar:
    """QueryError where it is refused."""
    (query,) = script(f"SELECT {text} AS x FROM input", {"input": _stream(schema)}).queries
    assert isinstance(query.plan, Project)
    return query.plan.columns[0][1]


def rows(scalar: Scalar, case: Case) -> tuple[Json, ...]:
    frame = pl.from_arrow(case.rows)
    assert isinstance(frame, pl.DataFrame)
    done = evaluate(frame, (("x", scalar),), keep=(ROW,))
    made: dict[int, Json] = {at: {"!": reason} for at, reason in done.rejected}
    values = done.frame["x"].to_arrow()
    numbers = done.frame[ROW].to_list()
    made |= {at: canonical(value, scalar.type) for at, value in zip(numbers, values, strict=True)}
    return tuple(made[at] for at in range(len(case.picks)))
