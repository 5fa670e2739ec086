"""The end of the input: what is out is DuckDB's answer, by gaps and islands, then overlap."""

from __future__ import annotations

from typing import Any

import duckdb
from hypothesis import given
from hypothesis import strategies as st

from tests.support.operators.joins import KINDS, Step, steps
from tests.support.operators.joins_duckdb import LATENESS, POLICIES, Rows, answered
from tests.support.operators.session_joins import GAPS, session_join

ISLANDS = """{name} AS (
  SELECT * EXCLUDE island, MIN(ts) OVER island AS first, MAX(ts) OVER island + {gap} AS until
  FROM (
    SELECT *, SUM(begins) OVER (PARTITION BY {keys} ORDER BY ts) AS island
    FROM (
      SELECT *, CASE WHEN ts - LAG(ts) OVER (PARTITION BY {keys} ORDER BY ts) <= {gap} THEN 0
                     ELSE 1 END AS begins
      FROM main.{name}))
  WINDOW island AS (PARTITION BY {keys}, island))"""
COLUMNS = {"semi": "l.seq, k, j, v", "anti": "l.seq, k, j, v"}


def expected(question: str, left: Rows, right: Rows) -> Rows:
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


@given(
    st.sampled_from(KINDS),
    GAPS,
    GAPS,
    st.sampled_from([(1, 1), (2, 1), (2, 2)]),
    st.booleans(),
    POLICIES,
    steps(LATENESS),
    st.booleans(),
)
def test_what_is_out_is_the_batch_answer(
    kind: str,
    one: int,
    other: int,
    of: tuple[int, int],
    filtered: bool,
    policy: dict[str, Any],
    taken: list[Step],
    restarts: bool,
) -> None:
    keys, session_keys = of
    rules = {name: policy[name] for name in policy if name not in ("large", "weighted", "keys")}
    more = {"keys": keys, "session_keys": session_keys, "filtered": filtered, "retain": LATENESS}
    operator = session_join(kind, (one, other), **more, **rules)
    found, rows = answered(operator, taken, restarts)
    on = [*("l.k = r.rk", "l.j = r.rj")[:keys], "l.first < r.until", "r.first < l.until"]
    on += ["v <= w"] if filtered else []
    left = ISLANDS.format(name="l", gap=one, keys=", ".join(("k", "j")[:session_keys]))
    right = ISLANDS.format(name="r", gap=other, keys=", ".join(("rk", "rj")[:session_keys]))
    columns = COLUMNS.get(kind, "l.seq, r.seq, k, j, v, rk, rj, w")
    question = f"SELECT {columns} FROM l {kind} JOIN r ON {' AND '.join(on)}"
    assert found == expected(f"WITH {left}, {right} {question}", *rows)
