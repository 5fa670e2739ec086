"""Sessions: every spelling, the columns below them, their policies, and what is refused."""

import polars as pl
import pytest

from sqlwin.plan.ir.nodes import WindowRank
from sqlwin.plan.properties.facts import (
    bucket_keys,
    window_of,
)
from sqlwin.policies import Early, Expired, Late
from sqlwin.runtime.rows.scalars import evaluate
from sqlwin.windows import Unit
from sqlwin.windows.session import Session
from tests.support.sql.cases import (
    HOUR,
    MINUTE,
    SECOND,
    below,
    columns,
    filtered,
    plan,
    window,
)

CASE = "CASE WHEN n > 1 THEN '5 seconds' ELSE '2 minutes' END"
EDGES = "GROUP BY product, window_start, window_end"
HALF_HOURS = [
    f"FROM orders OVER (PARTITION BY product ORDER BY ts SESSION INTERVAL '30' MINUTE GAP) {EDGES}",
    "FROM orders OVER (SESSION 30 MINUTES GAP PARTITION BY product) GROUP BY product",
    "FROM orders OVER (PARTITION BY product ORDER BY ts SESSION '30' min GAP)",
    "FROM orders OVER (PARTITION BY product SESSION ('30 minutes') GAP)",
    "FROM orders OVER (PARTITION BY product SESSION (INTERVAL 30 MINUTES) GAP)",
    "FROM orders [PARTITION BY product SESSION 30 MINUTES GAP]",
    "FROM orders [PARTITION BY product ORDER BY ts SESSION 1800 s GAP] GROUP BY product",
    "FROM SESSION(TABLE orders PARTITION BY product, DESCRIPTOR(ts), INTERVAL '30' MINUTE) "
    f"{EDGES}, window_time",
    f"FROM TABLE(SESSION(TABLE orders PARTITION BY product, DESCRIPTOR(ts), '30 minutes')) {EDGES}",
    "FROM session(orders partition by product, ts, 30 minutes) o GROUP BY o.product",
    "FROM SESSION(orders PARTITION BY (product), ts, ('30 minutes'))",
    "FROM SESSION((SELECT * FROM orders) PARTITION BY product, ts, 30 MINUTES)",
    "FROM SESSION(DATA => TABLE orders PARTITION BY product, TIMECOL => DESCRIPTOR(ts), "
    "GAP => INTERVAL '30' MINUTE)",
    "FROM orders GROUP BY product, SESSION(ts, INTERVAL '30' MINUTE)",
    "FROM orders GROUP BY session (`ts`, 30 MINUTES), product",
    "FROM orders GROUP BY product, session_window(ts, '30 minutes')",
    "FROM orders GROUP BY session_window(orders.ts, INTERVAL 30 MINUTES), 1",
    "FROM orders WINDOW SESSION (30 MINUTES) GROUP BY product",
    "FROM orders o WINDOW SESSION (30 MINUTES, GRACE PERIOD 30 MINUTES) GROUP BY product",
]


@pytest.mark.parametrize("rest", HALF_HOURS)
def test_every_spelling_of_a_session_is_one_plan(rest: str) -> None:
    made = window(f"SELECT product, COUNT(*) AS c {rest}")
    assert made == window(f"SELECT product, COUNT(*) AS c {HALF_HOURS[0]}")
    assert made.window == Session(30 * MINUTE)
    assert made.partition == made.keys == ("product",)


OTHERS = [
    ("OVER (SESSION 1 HOUR GAP MAX 4 HOURS)", Session(HOUR, most=4 * HOUR)),
    ("OVER (SESSION 1 HOUR GAP MAX '30' min)", Session(HOUR, most=30 * MINUTE)),
    ("OVER (SESSION 1 HOUR GAP START WHEN n = 1)", Session(HOUR, starts="_start1")),
    ("[SESSION 1 HOUR GAP END WHEN n = 1 MAX 2 HOURS START WHEN n = 2]",
     Session(HOUR, most=2 * HOUR, starts="_start1", ends="_end1")),
    ("OVER (SESSION 100 ROWS GAP)", Session(100, Unit.ROWS)),
    ("OVER (SESSION 0 ROWS GAP)", Session(0, Unit.ROWS)),
    ("[SESSION 1 ROW GAP]", Session(1, Unit.ROWS)),
    (f"OVER (SESSION ({CASE}) GAP MAX 1 HOUR)", Session(None, gap_by="_gap1", most=HOUR)),
]  # fmt: skip


@pytest.mark.parametrize(("source", "meant"), OTHERS)
def test_other_sessions(source: str, meant: Session) -> None:
    made = window(f"SELECT COUNT(*) FROM orders {source}")
    assert made.window == meant
    assert made.partition == made.keys == ()


def test_max_of_a_window_function_has_its_name() -> None:
    made = window("SELECT COUNT(*) FROM SESSION(orders, ts, 1 HOUR, MAX => 4 HOURS)")
    assert made.window == Session(HOUR, most=4 * HOUR)


@pytest.mark.parametrize(
    "rest",
    [
        f"FROM orders OVER (PARTITION BY product SESSION ({CASE}) GAP)",
        f"FROM SESSION(TABLE orders PARTITION BY product, DESCRIPTOR(ts), ({CASE}))",
        f"FROM orders GROUP BY product, SESSION(ts, {CASE})",
        f"FROM orders GROUP BY session_window(ts, {CASE}), product",
    ],
)
def test_a_gap_of_each_row(rest: str) -> None:
    made = window(f"SELECT product, COUNT(*) {rest}")
    assert made.window == Session(None, gap_by="_gap1")
    assert made.partition == ("product",)
    assert below(made) == {"product": "product", "_gap1": CASE}
    assert made.policy.retain == 5 * SECOND  # of the watermark: no gap is known


def test_a_gap_may_be_a_column() -> None:
    made = window("SELECT COUNT(*) FROM SESSION(orders, orders.ts, orders.product)")
    assert below(made) == {"_gap1": "product"}


def gaps(gap: str, **rows: list[object]) -> tuple[list[object], list[str]]:
    """The gaps in microseconds of the rows that have one, and why others have none."""
    made = window(f"SELECT COUNT(*) FROM orders OVER (SESSION ({gap}) GAP)")
    done = evaluate(pl.DataFrame(rows, strict=False), made.input.columns)  # type: ignore[union-attr]
    return done.frame["_gap1"].to_list(), [reason for _, reason in done.rejected]


def test_a_column_may_be_called_gap() -> None:
    made = window(
        "SELECT COUNT(*) FROM (SELECT product AS gap, ts FROM orders) [SESSION (gap) GAP]"
    )
    done = evaluate(pl.DataFrame({"product": ["5 s"]}), made.input.columns)  # type: ignore[union-attr]
    assert done.frame["_gap1"].to_list() == [5 * SECOND]


def test_a_gap_is_counted_in_microseconds() -> None:
    texts = ["5 seconds", "2 min", "1 hour 30 minutes", "1 day"]
    assert gaps("product", product=texts) == (
        [5 * SECOND, 2 * MINUTE, 90 * MINUTE, 24 * HOUR],
        [],
    )
    assert gaps("INTERVAL '1' SECOND * n", n=[1, 90]) == ([SECOND, 90 * SECOND], [])


@pytest.mark.parametrize("text", [None, "0 seconds", "-5 seconds", "2 months", "1 year"])
def test_a_row_without_a_gap_goes_to_the_error_stream(text: str | None) -> None:
    kept, (reason,) = gaps("product", product=["5 s", text])
    assert kept == [5 * SECOND]
    assert reason == (
        "[INVALID_PARAMETER_VALUE] a session needs a gap greater than 0 and without months, "
        f"not {text or 'NULL'}"
    )


@pytest.mark.parametrize("text", ["", "soon", "5 fortnights", "999999999999 days"])
def test_a_row_whose_gap_cannot_be_read_goes_there_too(text: str) -> None:
    kept, reasons = gaps("product", product=["5 s", text])
    assert (kept, len(reasons)) == ([5 * SECOND], 1)


# --- keys ---------------------------------------------------------------------------


def test_keys_beside_the_session_key_group_inside_a_session() -> None:
    made = window(
        "SELECT n, product, COUNT(*) FROM orders OVER (PARTITION BY product SESSION 1 HOUR GAP) "
        "GROUP BY n, product"
    )
    assert (made.partition, made.keys) == (("product",), ("product", "n"))


def test_without_partition_by_a_session_is_of_all_rows() -> None:
    made = window("SELECT n, COUNT(*) FROM SESSION(orders, ts, 1 HOUR) GROUP BY n")
    assert (made.partition, made.keys) == ((), ("n",))


def test_several_session_keys() -> None:
    made = window(
        "SELECT COUNT(*) FROM SESSION(TABLE orders PARTITION BY (product, n), ts, 1 HOUR)"
    )
    assert made.partition == made.keys == ("product", "n")


@pytest.mark.parametrize("name", ["SESSION(ts, 1 HOUR)", "session_window(ts, '1 hour')"])
def test_the_session_key_is_all_else_that_group_by_names(name: str) -> None:
    made = window(f"SELECT COUNT(*) FROM orders GROUP BY product, {name}, UPPER(product)")
    assert made.partition == made.keys == ("product", "_key1")


def test_ksqldb_groups_by_its_session_key() -> None:
    made = window("SELECT product, n FROM orders WINDOW SESSION (1 HOUR) GROUP BY product, n")
    assert made.partition == made.keys == ("product", "n")


# --- what stands around -------------------------------------------------------------


def test_a_query_over_sessions_in_full() -> None:
    text = (
        "SELECT product, window_start AS s, MEDIAN(value) AS m, COUNT(*) FILTER (WHERE n > 1) AS c "
        "FROM orders OVER (PARTITION BY product ORDER BY ts SESSION 1 HOUR GAP "
        "START WHEN n = 0 END WHEN CASE WHEN n = 9 THEN TRUE END MAX 4 HOURS) "
        "WHERE id > 1 GROUP BY product HAVING COUNT(*) > 2"
    )
    made = window(text)
    assert filtered(made.input) == "id > 1"
    assert filtered(plan(text)) == "_agg1 > 2"
    assert below(made) == {
        "product": "product",
        "value": "value",
        "_where1": "n > 1",
        "_start1": "n = 0",
        "_end1": "CASE WHEN n = 9 THEN TRUE END",
    }


def test_a_session_in_rows_counts_what_where_drops() -> None:
    made = window("SELECT COUNT(*) FROM orders OVER (SESSION 5 ROWS GAP) WHERE n > 1")
    assert (made.where, filtered(made.input)) == ("_where1", None)
    assert made.policy.retain == 0


@pytest.mark.parametrize(
    ("select", "rest"),
    [
        ("window_start AS s, window_end AS e", "FROM SESSION(orders, ts, 1 HOUR)"),
        ("SESSION_START(ts, INTERVAL '1' HOUR) AS s, SESSION_END(ts, INTERVAL '1' HOUR) AS e",
         "FROM orders GROUP BY SESSION(ts, INTERVAL '1' HOUR)"),
        ("session_window.start AS s, session_window.end AS e",
         "FROM orders GROUP BY session_window(ts, '1 hour')"),
        ("WINDOWSTART AS s, WINDOWEND AS e", "FROM orders WINDOW SESSION (1 HOUR)"),
        ("window_start AS s, window_end AS e", "FROM orders OVER (SESSION 5 ROWS GAP)"),
    ],
)  # fmt: skip
def test_the_columns_of_a_session(select: str, rest: str) -> None:
    made = columns(plan(f"SELECT {select}, COUNT(*) AS c {rest}"))
    assert made == {"s": "window_start", "e": "window_end", "c": "c"}


def test_a_session_needs_no_aggregate_where_it_is_grouped() -> None:
    text = "SELECT product, window_end FROM orders OVER (PARTITION BY product SESSION 1 HOUR GAP) "
    assert window(text + "GROUP BY product").aggregates == ()


# --- policies -----------------------------------------------------------------------

SESSIONS = "SELECT COUNT(*) FROM orders OVER (SESSION 1 HOUR GAP)"


def test_sessions_are_retained_for_their_gap_or_the_delay() -> None:
    assert window(SESSIONS).policy.retain == HOUR
    assert window(SESSIONS.replace("1 HOUR GAP", "1 HOUR GAP MAX 9 HOURS")).policy.retain == HOUR
    assert window(SESSIONS.replace("1 HOUR", "2 s")).policy.retain == 5 * SECOND


def test_every_policy_of_time_goes_with_sessions() -> None:
    made = window(
        f"{SESSIONS} EMIT EARLY EVERY 10 ROWS ON CLOSE TIMEOUT 1 MINUTE LATE ON UPDATE "
        "RETAIN 2 HOURS EXPIRED EMIT"
    ).policy
    assert (made.early, made.early_rows, made.timeout) == (Early.ROWS, 10, MINUTE)
    assert (made.late, made.retain, made.expired) == (Late.ON_UPDATE, 2 * HOUR, Expired.EMIT)


def test_the_grace_period_of_ksqldb_is_retention() -> None:
    text = "SELECT COUNT(*) FROM orders WINDOW SESSION (1 HOUR, RETENTION 1 DAY, GRACE PERIOD 9 s)"
    assert window(f"{text} EXPIRED COUNT").policy.retain == 9 * SECOND


def test_sessions_are_retained_by_rows_as_well() -> None:
    made = window(f"{SESSIONS} RETAIN 5 ROWS").policy
    assert (made.retain, made.retain_rows) == (None, 5)
    made = window(f"{SESSIONS} RETAIN 1 HOUR OR 5 ROWS").policy
    assert (made.retain, made.retain_rows) == (HOUR, 5)


# --- grouping sets and ranks --------------------------------------------------------


def test_each_grouping_set_has_those_keys_of_the_session_that_it_names() -> None:
    made = window("SELECT COUNT(*) FROM orders GROUP BY SESSION(ts, 1 HOUR), ROLLUP (product, n)")
    assert made.partition == made.keys == ("product", "n")
    assert made.sets == (("product", "n"), ("product",), ())
    of_one = window(
        "SELECT COUNT(*) FROM orders OVER (PARTITION BY product SESSION 1 HOUR GAP) "
        "GROUP BY GROUPING SETS ((product, n), (n))"
    )
    assert (of_one.partition, of_one.keys) == (("product",), ("product", "n"))
    assert of_one.sets == (("product", "n"), ("n",))
    assert bucket_keys(of_one) == ()


@pytest.mark.parametrize(
    "partition", ["window_start, window_end", "product, window_start", "window_end, product"]
)
def test_ranks_of_sessions_name_the_whole_window(partition: str) -> None:
    text = f"SELECT product, COUNT(*) AS c, RANK() OVER w AS r {HALF_HOURS[1]} "
    made = window_of(
        plan(f"{text} WINDOW w AS (PARTITION BY {partition} ORDER BY c) QUALIFY r <= 3")
    )
    assert isinstance(made, WindowRank)
    assert isinstance(made.input.window, Session)
    assert made.partition == (("product",) if "product" in partition else ())


# --- refused ------------------------------------------------------------------------
