"""The end of the input: what is out is DuckDB's answer over all rows, whatever came when."""

from __future__ import annotations

from typing import Any

import duckdb
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.operators.joins.asof.operator import AsOfJoin
from sqlwin.windows import Unit
from sqlwin.windows.joins import AsOf, JoinWindow
from tests.support.operators.joins import KINDS, Step, join, steps, windows
from tests.support.operators.joins_duckdb import LATENESS, POLICIES, Rows, answered

JOINS = {
    "inner": "l.seq, r.seq, l.* EXCLUDE (ts, seq, pos), r.* EXCLUDE (ts, seq, pos) FROM l JOIN r",
    "left": "l.seq, r.seq, k, j, v, rk, rj, w FROM l LEFT JOIN r",
    "right": "l.seq, r.seq, k, j, v, rk, rj, w FROM l RIGHT JOIN r",
    "full": "l.seq, r.seq, k, j, v, rk, rj, w FROM l FULL JOIN r",
    "semi": "l.seq, k, j, v FROM l SEMI JOIN r",
    "anti": "l.seq, k, j, v FROM l ANTI JOIN r",
}


def _expected(question: str, left: Rows, right: Rows) -> Rows:
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
    assert found == _expected(f"SELECT {JOINS[kind]} ON {on}", *rows)


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
    assert found == _expected(question, *rows)
