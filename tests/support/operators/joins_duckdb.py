"""What DuckDB says of the pairs of two inputs."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
from hypothesis import strategies as st

from sqlwin.policies import Early, Late
from sqlwin.schema import OP, ROW_KEY
from tests.support.operators.joins import Fast, Joined, Source, Step

Rows = list[tuple[Any, ...]]


LATENESS = 8


POLICIES = st.fixed_dictionaries(
    {
        "early": st.sampled_from([None, Early.EVERY, Early.ON_UPDATE, Early.ROWS]),
        "early_period": st.just(4),
        "early_rows": st.sampled_from([2, 3]),
        "late": st.sampled_from([Late.EVERY, Late.ON_UPDATE]),
        "late_period": st.just(3),
        "large": st.booleans(),
        "weighted": st.just(False),
        "keys": st.sampled_from([0, 1, 2]),
    }
)


def answered(operator: Fast, taken: list[Step], restarts: bool) -> tuple[Rows, tuple[Rows, Rows]]:
    """What is out at the end, with the positions it is of; and all rows."""
    driven, source, watermark, now, sent = (
        Joined(operator, restarts),
        Source(operator),
        0,
        0,
        [],
    )
    for step in taken:
        batch = source.batch(step, watermark, watermark - LATENESS)
        watermark, now = watermark + step.watermark, now + step.clock
        sent.append(driven.step(*batch, now, watermark, step.end))
    sent.append(driven.step(now=now, end=True))
    return _folded(pl.concat(sent), [*operator.output]), source.known


def _folded(sent: pl.DataFrame, columns: list[str]) -> Rows:
    """Follow the emissions one by one."""
    out: dict[str, tuple[Any, ...]] = {}
    for op, key, *values in sent.select(OP, ROW_KEY, *columns).rows():
        assert (op == "+I") == (key not in out)
        if op == "-D":
            assert out.pop(key) == tuple(values)
        else:
            out[key] = tuple(values)
    return sorted(((*_places(key), *values) for key, values in out.items()), key=repr)


def _places(key: str) -> list[Any]:
    """The position of one row, or of both."""
    place = json.loads(key)
    return [place[1]] if isinstance(place[0], int) else [side and side[1] for side in place]
