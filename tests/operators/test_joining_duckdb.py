"""The end of the input: what is out is DuckDB's answer over all rows, whatever came when."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.operators.asof import AsOfJoin
from sqlwin.policies import Early, Late
from sqlwin.schema import OP, ROW_KEY
from sqlwin.windows import AsOf, JoinWindow, Unit
from tests.operators.joins import KINDS, Fast, Joined, Source, Step, join, steps, windows

Rows = list[tuple[Any, ...]]
LATENESS = 8
JOINS = {
    "inner": "l.seq, r.seq, l.* EXCLUDE (ts, seq, pos), r.* EXCLUDE (ts, seq, pos) FROM l JOIN r",
    "left": "l.seq, r.seq, k, j, v, rk, rj, w FROM l LEFT JOIN r",
    "right": "l.seq, r.seq, k, j, v, rk, rj, w FROM l RIGHT JOIN r",
    "full": "l.seq, r.seq, k, j, v, rk, rj, w FROM l FULL JOIN r",
    "semi": "l.seq, k, j, v FROM l SEMI JOIN r",
    "anti": "l.seq, k, j, v FROM l ANTI JOIN r",
}
POLICIES = st.fixed_dictionaries(
    {
        "early": st.sampled_from([None, Early.EVERY, Early.ON_UPDATE]),
        "early_period": st.just(4),
        "late": st.sampled_from([Late.EVERY, Late.ON_UPDATE]),
        "late_period": st.just(3),
        "large": st.booleans(),
        "weighted": st.just(False),
        "keys": st.sampled_from([0, 1, 2]),
    }
)


def answered(operator: Fast, taken: list[Step], restarts: bool) -> tuple[Rows, tuple[Rows, Rows]]:
    """What is out at the end, with the positions it is of; and all rows."""
    driven, source, watermark, now, told = Joined(operator, restarts), Source(operator), 0, 0, []
    for step in taken:
        batch = source.batch(step, watermark, watermark - LATENESS)
        watermark, now = watermark + step.watermark, now + step.clock
        told.append(driven.step(*batch, now, watermark, step.end))
    told.append(driven.step(now=now, end=True))
    return _folded(pl.concat(told), [*operator.output]), source.known


def _folded(told: pl.DataFrame, columns: list[str]) -> Rows:
    """Follow the emissions one by one."""
    out: dict[str, tuple[Any, ...]] = {}
    for op, key, *values in told.select(OP, ROW_KEY, *columns).rows():
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


def _asked(question: str, left: Rows, right: Rows) -> Rows:
    with duckdb.connect(config={"threads": 1}) as con:
        for name, columns, rows in (("l", "k j v", left), ("r", "rk rj w", right)):
            key, other, value = columns.split()
            con.execute(
                f"CREATE TABLE {name} ({key} TEXT, {other} BIGINT, {value} BIGINT,"
                " ts BIGINT, seq BIGINT, pos BIGINT)"
            )
            if rows:
                con.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?, ?, ?)", rows)
        return sorted(con.sql(question).fetchall(), key=repr)


def _on(window: JoinWindow, keys: int, filtered: bool) -> str:
    at = "pos" if window.unit is Unit.ROWS else "ts"
    parts = ["TRUE", *("l.k = r.rk", "l.j = r.rj")[:keys], *(["v <= w"] if filtered else [])]
    if window.low is not None:
        parts.append(f"r.{at} - l.{at} >= {window.low}")
    if window.high is not None:
        parts.append(f"r.{at} - l.{at} <= {window.high}")
    return " AND ".join(parts)


@given(windows(), st.sampled_from(KINDS), st.booleans(), POLICIES, steps(LATENESS), st.booleans())
def test_what_is_out_is_the_batch_answer(
    window: JoinWindow,
    kind: str,
    filtered: bool,
    policy: dict[str, Any],
    taken: list[Step],
    restarts: bool,
) -> None:
    retain = None if None in (window.low, window.high) else LATENESS
    operator = join(window, kind, filtered=filtered, retain=retain, **policy)
    found, rows = answered(operator, taken, restarts)
    on = _on(window, policy["keys"], filtered)
    assert found == _asked(f"SELECT {JOINS[kind]} ON {on}", *rows)


@given(
    st.sampled_from([">=", ">", "<=", "<"]),
    st.sampled_from(["inner", "left"]),
    POLICIES,
    steps(LATENESS),
    st.booleans(),
)
def test_what_is_out_of_an_asof_join_is_the_batch_answer(
    op: str, kind: str, policy: dict[str, Any], taken: list[Step], restarts: bool
) -> None:
    match = AsOf(op)
    operator = join(match, kind, retain=LATENESS if match.backward else None, **policy)
    assert isinstance(operator, AsOfJoin)
    found, rows = answered(operator, taken, restarts)
    on = " AND ".join(["TRUE", *("l.k = r.rk", "l.j = r.rj")[: policy["keys"]]])
    order = "DESC" if match.backward else "ASC"
    nearest = (
        f"SELECT rk, rj, w FROM r WHERE {on} AND l.ts {op} r.ts"
        f" ORDER BY r.ts {order}, r.seq {order} LIMIT 1"
    )
    question = f"SELECT seq, k, j, v, n.* FROM l {kind} JOIN LATERAL ({nearest}) n ON TRUE"
    assert found == _asked(question, *rows)
