"""The end of a changelog: the last revisions are DuckDB's answer over the rows now there."""

from __future__ import annotations

from typing import Any

import duckdb
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.policies import Early, Late
from sqlwin.schema import OP, ROW_KEY
from tests.support.operators.aggregators import COLUMNS, aggregator
from tests.support.operators.changelogs import Source, Step
from tests.support.operators.driving import Driven
from tests.support.operators.overs import Called, over
from tests.support.operators.overs_duckdb import answers, called, numbered
from tests.support.operators.weighted import STEPS
from tests.support.operators.weighted_overs import STEPS as INSTANTS

POLICIES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "early": st.sampled_from([None, *Early]),
        "early_rows": st.just(2),
        "early_period": st.just(3),
        "late": st.sampled_from([Late.EVERY, Late.ON_UPDATE]),
    }
)


def last(driven: Driven, source: Source, taken: list[Step], counted: bool) -> pl.DataFrame:
    """What holds at the end of input; counted: instants are counted from the watermark."""
    out, watermark, now = [], 0, 0
    for step in taken:
        batch = source.batch(step.acts, watermark if counted else 0)
        watermark, now = watermark + step.watermark, now + step.clock
        out.append(driven.step(batch if len(batch) else None, now, watermark, step.end))
    out.append(driven.step(None, now + 2**40, watermark, end=True))
    emissions = pl.concat(out).with_row_index("__n").sort("__n")
    return emissions.unique(ROW_KEY, keep="last").filter(pl.col(OP) != "-D")


@given(POLICIES, st.sampled_from([("n", "total"), ("total", "least")]), STEPS, st.booleans())
def test_group_windows(
    policy: dict[str, Any], values: tuple[str, ...], taken: list[Step], restarts: bool
) -> None:
    driven = Driven(aggregator(values=values, weighted=True, **policy), restarts)
    source = Source(COLUMNS, lambda row: True)
    found = last(driven, source, taken, counted=False)
    parsed = {"n": "count(*)", "total": "sum(v)::BIGINT", "least": "min(v)"}
    wanted = ", ".join(parsed[name] for name in values)
    there = [(row[0], row[2], row[3]) for row in source.there.values()]
    with duckdb.connect(config={"threads": 1}) as con:
        con.execute("CREATE TABLE s (k TEXT, v BIGINT, ts BIGINT)")
        if there:
            con.executemany("INSERT INTO s VALUES (?, ?, ?)", there)
        minute = "(ts // 60000000 + 1) * 60000000"
        answer = con.sql(f"SELECT k, {minute}, {wanted} FROM s GROUP BY ALL").fetchall()
    emissions = found.select("k", pl.col("window_end").cast(pl.Int64), *values).rows()
    assert sorted(emissions, key=repr) == sorted(answer, key=repr)


@given(POLICIES, called(), INSTANTS, st.sampled_from([1, 4, 16]), st.booleans())
def test_over(
    policy: dict[str, Any],
    calls: list[Called],
    taken: list[Step],
    slice_width: int,
    restarts: bool,
) -> None:
    operator = over(*calls, slice_width=slice_width, retain=None, weighted=True, **policy)
    source = Source(dict(operator.carried), lambda row: True)
    found = last(Driven(operator, restarts), source, taken, counted=True)
    there = sorted(source.there.values(), key=lambda row: row[-1])  # peers: the first by position
    answer = dict(answers(calls, there))
    assert {row[0]: row[1:] for row in numbered(found).rows()} == answer
