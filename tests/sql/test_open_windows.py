"""Rows of a window that are grouped by it again: the plan of one window over the rows below it."""

from __future__ import annotations

import pytest

from sqlwin.errors import QueryError
from sqlwin.runtime.lowering.explained import explain_script
from sqlwin.sql import script

STREAMS = """
CREATE STREAM orders (id BIGINT, product STRING, value BIGINT, ts TIMESTAMP,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND);
CREATE TABLE prices (id BIGINT, value BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts,
  PRIMARY KEY (id) NOT ENFORCED) WITH (changelog = 'upsert');
CREATE VIEW doubled AS SELECT *, value * 2 AS d
  FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE) WHERE value > 0;
CREATE VIEW listed (began, ended, amount) AS SELECT window_start, window_end, value
  FROM TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE);
"""
BELOW = "(SELECT *, value * 2 AS d FROM orders WHERE value > 0)"
POSITIVE = "(SELECT * FROM orders WHERE value > 0)"
TUMBLE = "TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
ROWS = f"SELECT *, value * 2 AS d FROM {TUMBLE.format('orders')} WHERE value > 0"
KINDS = {
    "tumble": TUMBLE,
    "table": "TABLE(TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE))",
    "hop": "HOP(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTE)",
    "cumulate": "CUMULATE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTE)",
    "only on update": "CUMULATE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTE,"
    " TRUE)",
    "calendar": "TUMBLE(TABLE {}, DESCRIPTOR(ts), INTERVAL '1' MONTH)",
    "session": "SESSION(TABLE {} PARTITION BY product, DESCRIPTOR(ts), INTERVAL '1' MINUTE)",
}
SAME = {
    "edges": (
        f"SELECT window_start, window_end, SUM(d) AS s FROM ({ROWS}) GROUP BY window_start,"
        " window_end EMIT LATE ON UPDATE RETAIN 1 HOUR",
        "SELECT window_start, window_end, SUM(d) AS s FROM {} GROUP BY window_start, window_end"
        " EMIT LATE ON UPDATE RETAIN 1 HOUR",
    ),
    "one edge": (
        f"SELECT window_end AS e, SUM(q.d) AS s FROM ({ROWS}) AS q GROUP BY q.product, e",
        "SELECT window_end AS e, SUM(d) AS s FROM {} GROUP BY product, window_end",
    ),
    "names of its own": (
        f"SELECT p, e, SUM(d) AS s FROM (SELECT product AS p, window_end AS e, d FROM ({ROWS}))"
        " GROUP BY p, e HAVING e > TIMESTAMP '2024-01-01 00:00:00'",
        "SELECT p, window_end AS e, SUM(d) AS s FROM TUMBLE((SELECT product AS p, ts,"
        " value * 2 AS d FROM orders WHERE value > 0), DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
        " GROUP BY p, window_end HAVING window_end > TIMESTAMP '2024-01-01 00:00:00'",
    ),
    "a view": (
        "SELECT window_start, MAX(d) AS m FROM doubled GROUP BY window_start",
        "SELECT window_start, MAX(d) AS m FROM {} GROUP BY window_start",
    ),
    "with": (
        f"WITH q AS ({ROWS}) SELECT window_time, COUNT(*) AS n FROM q GROUP BY window_time",
        "SELECT window_time, COUNT(*) AS n FROM {} GROUP BY window_time",
    ),
    "grouping sets": (
        f"SELECT product, window_end, COUNT(*) AS n FROM ({ROWS}) GROUP BY window_end,"
        " ROLLUP (product)",
        "SELECT product, window_end, COUNT(*) AS n FROM {} GROUP BY window_end, ROLLUP (product)",
    ),
    "ranked": (
        f"SELECT product, window_end, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY window_start,"
        f" window_end ORDER BY COUNT(*) DESC) AS rn FROM ({ROWS})"
        " GROUP BY product, window_start, window_end QUALIFY rn <= 3",
        "SELECT product, window_end, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY window_start,"
        " window_end ORDER BY COUNT(*) DESC) AS rn FROM {}"
        " GROUP BY product, window_start, window_end QUALIFY rn <= 3",
    ),
}
ABOVE = {
    "no key": "SELECT SUM(d) AS s FROM doubled",
    "other keys": "SELECT product, SUM(d) AS s FROM doubled GROUP BY product",
    "condition": "SELECT window_end, SUM(d) AS s FROM doubled"
    " WHERE window_end > TIMESTAMP '2024-01-01 00:00:00' GROUP BY window_end",
    "condition below": "SELECT e, SUM(d) AS s FROM (SELECT window_end AS e, d FROM doubled"
    " WHERE window_end > TIMESTAMP '2024-01-01 00:00:00') GROUP BY e",
    "argument": "SELECT window_end, MAX(window_start) AS m FROM doubled GROUP BY window_end",
    "made of an edge": "SELECT h, window_end, SUM(d) AS s"
    " FROM (SELECT *, HOUR(window_start) AS h FROM doubled) GROUP BY h, window_end",
    "filter": "SELECT window_end, SUM(d) FILTER (WHERE window_start < ts) AS s FROM doubled"
    " GROUP BY window_end",
    "window of its own": "SELECT SUM(d) AS s FROM doubled"
    " GROUP BY TUMBLE(window_time, INTERVAL '1' HOUR)",
    "some sets": "SELECT COUNT(*) AS n FROM doubled"
    " GROUP BY GROUPING SETS ((product, window_end), (product))",
    "policies": f"SELECT window_end, SUM(d) AS s FROM ({ROWS} EMIT EARLY ON UPDATE)"
    " GROUP BY window_end",
    "retain": f"SELECT window_end, SUM(d) AS s FROM ({ROWS} RETAIN 1 DAY) GROUP BY window_end",
    "over": "SELECT window_end, SUM(o) AS s FROM (SELECT *, SUM(d) OVER (PARTITION BY window_end)"
    " AS o FROM doubled) GROUP BY window_end",
    "join": "SELECT a.window_end, SUM(a.d) AS s FROM doubled a JOIN doubled b"
    " ON a.id = b.id AND a.window_end = b.window_end AND a.window_start = b.window_start"
    " GROUP BY a.window_end",
    "read twice": "SELECT window_end, SUM(d) AS s FROM doubled GROUP BY window_end"
    " UNION ALL SELECT window_end, MAX(d) AS s FROM doubled GROUP BY window_end",
    "column names": "SELECT began, ended, SUM(amount) AS s FROM listed GROUP BY began, ended",
    "changes": "SELECT window_end, SUM(d) AS s FROM (SELECT *, value * 2 AS d"
    " FROM TUMBLE(TABLE prices, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_end",
    "start of cumulate": "SELECT window_start, SUM(value) AS s FROM (SELECT * FROM"
    " CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTE))"
    " GROUP BY window_start",
}
REFUSED = {
    "unknown": ("SELECT window_end, SUM(dd) AS s FROM doubled GROUP BY window_end", "dd"),
    "no such edge": (
        "SELECT window_start, SUM(d) AS s FROM (SELECT window_end, d FROM doubled)"
        " GROUP BY window_end",
        "window_start",
    ),
    "ungrouped": ("SELECT product, SUM(d) AS s FROM doubled GROUP BY window_end", "product"),
}


def explained(query: str) -> str:
    return explain_script(script(STREAMS + query))


def column(query: str) -> str:
    """What is underlined."""
    with pytest.raises(QueryError) as caught:
        explained(query)
    span = caught.value.span
    assert span is not None
    line = (STREAMS + query).split("\n")[span.line - 1]
    return line[span.column - 1 : span.column - 1 + span.length]


@pytest.mark.parametrize("case", SAME)
def test_it_is_one_window_over_what_is_below_it(case: str) -> None:
    plain, written = SAME[case]
    assert explained(plain) == explained(written.format(TUMBLE.format(BELOW)))


def test_another_column_may_be_called_as_the_event_time() -> None:
    rows = f"SELECT product AS ts, window_end, d FROM ({ROWS})"
    made = explained(f"SELECT ts, window_end, SUM(d) AS s FROM ({rows}) GROUP BY ts, window_end")
    assert "WindowAggregate tumbling 1 minute keys [ts]" in made
    assert "Watermark: ts less 5 seconds" in made
    assert "WindowAggregate of rows" not in made


@pytest.mark.parametrize("kind", KINDS)
def test_windows_of_any_kind(kind: str) -> None:
    keys = "product, window_start, window_end"
    inner, where = ("orders", "WHERE value > 0") if kind != "session" else (POSITIVE, "")
    rows = f"SELECT *, value * 2 AS d FROM {KINDS[kind].format(inner)} {where}"
    plain = f"SELECT {keys}, SUM(d) AS s FROM ({rows}) GROUP BY {keys}"
    written = f"SELECT {keys}, SUM(d) AS s FROM {KINDS[kind].format(BELOW)} GROUP BY {keys}"
    assert explained(plain) == explained(written)


@pytest.mark.parametrize("case", ABOVE)
def test_it_stays_over_the_rows_of_the_window(case: str) -> None:
    assert "WindowAggregate of rows" in explained(ABOVE[case])


@pytest.mark.parametrize("case", REFUSED)
def test_messages_point_into_the_text(case: str) -> None:
    query, place = REFUSED[case]
    assert column(query) == place


SESSION = "SELECT *, value * 2 AS d FROM " + KINDS["session"].format("orders")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"SELECT * FROM ({SESSION})", "a session without an aggregate or GROUP BY"),
        (
            f"SELECT product, SUM(d) AS s FROM ({SESSION}) GROUP BY product",
            "the rows of this window are grouped by it, and no key is a bound of it",
        ),
        (f"SELECT d FROM ({SESSION}) UNION ALL SELECT id FROM orders", "a session without"),
        (f"SELECT a.d FROM ({SESSION}) a JOIN orders o ON a.id = o.id", "a session without"),
        (f"SELECT SUM(d) OVER (ORDER BY ts) AS s FROM ({SESSION})", "a session without"),
        (
            f"SELECT window_end, SUM(d) AS s FROM ({SESSION}) GROUP BY window_end",
            "GROUP BY lacks product, by which the sessions are split",
        ),
        (
            f"SELECT product, window_end, SUM(d) AS s FROM ({SESSION})"
            " GROUP BY GROUPING SETS ((window_end, product), (window_end))",
            "GROUP BY lacks product, by which the sessions are split",
        ),
        (
            f"SELECT product, window_end, SUM(d) AS s FROM ({SESSION} WHERE value > 0)"
            " GROUP BY product, window_end",
            "a condition on the rows of SESSION would leave out what holds sessions together",
        ),
        (
            f"SELECT product, window_end, MAX(window_start) AS s FROM ({SESSION})"
            " GROUP BY product, window_end",
            "the rows of this window are grouped by it, and this is made of its bounds",
        ),
        (
            "SELECT product, window_end, SUM(value) AS s FROM (SELECT 'a' AS product, value,"
            f" window_end FROM ({SESSION})) GROUP BY product, window_end",
            "GROUP BY lacks product, by which the sessions are split",
        ),
    ],
)
def test_rows_of_sessions_are_read_by_what_groups_them_alone(query: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        explained(query)
