"""Sessions: every spelling, the columns below them, their policies, and what is refused."""

import polars as pl
import pytest

from sqlwin.plan.facts import (
    bucket_keys,
    window_of,
)
from sqlwin.plan.nodes import WindowRank
from sqlwin.policies import Early, Expired, Late
from sqlwin.runtime.scalars import evaluate
from sqlwin.windows import Session, Unit
from tests.sql.cases import (
    HOUR,
    MINUTE,
    SECOND,
    below,
    columns,
    filtered,
    mistake,
    plan,
    underlined,
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
        "Invalid Input Error: a session needs a gap greater than 0 and without months, "
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
IN_ROWS = "SELECT COUNT(*) FROM orders OVER (SESSION 5 ROWS GAP)"


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


def _of(session: str) -> str:
    return f"SELECT COUNT(*) FROM orders OVER ({session})"


NO_ROWS = "ranks of the rows of a session are not supported yet"
OF_ONE = "a rank over windows is of the rows of one window: PARTITION BY names it"
TWO_KEYS = "SESSION(TABLE orders PARTITION BY product, n, DESCRIPTOR(ts), 1 HOUR)"
SEVERAL = (
    "CREATE STREAM several (k INT, ts TIMESTAMP, WATERMARK FOR ts AS ts) "
    "WITH (connector = 'kafka', partitions = 3);"
)
REFUSED = [
    # gaps
    (_of("SESSION 0 SECONDS GAP"), "a session's gap must be greater than 0", "0 SECONDS"),
    (_of("SESSION '-5' s GAP"), "a session's gap must be greater than 0", "'-5' s"),
    (_of("SESSION ('-5 seconds') GAP"), "a session's gap must be greater than 0", "'-5 seconds'"),
    (_of("SESSION 1 HOUR GAP MAX 0 s"), "a session's MAX must be greater than 0", "0 s"),
    ("SELECT COUNT(*) FROM orders GROUP BY session_window(ts, '0 seconds')",
     "a session's gap must be greater than 0", "'0 seconds'"),
    ("SELECT COUNT(*) FROM orders WINDOW SESSION (0 SECONDS)",
     "a session's gap must be greater than 0", "0 SECONDS"),
    (_of("SESSION ('soon') GAP"), "'soon' is not a duration", "'soon'"),
    (_of("SESSION INTERVAL '1' MONTH GAP"),
     "a month has no fixed length; a window needs days or less", "INTERVAL '1' MONTH"),
    (_of("SESSION (n) GAP"),
     "the gap of a session is an INTERVAL or a STRING, this is INTEGER", "n"),
    (_of("SESSION (NULL) GAP"),
     "the gap of a session is an INTERVAL or a STRING, this is NULL", "NULL"),
    (_of("SESSION (pause) GAP"), "unknown column pause; did you mean value?", "pause"),
    (_of("SESSION (MAX(product)) GAP"), "an aggregate cannot stand in the gap of a session", "MAX"),
    ("SELECT COUNT(*) FROM SESSION(orders, ts, (SELECT 1 FROM orders))",
     "the gap of a session is a duration, or an expression of the row", "(SELECT 1 FROM orders)"),
    # parts
    (_of("SESSION (n) ROWS GAP"),
     "the gap of a session in ROWS is a number, the same for all rows", "n"),
    (_of("SESSION 5 ROWS GAP MAX 1 HOUR"),
     "a session in ROWS ends by its gap alone and takes no MAX", "1 HOUR"),
    (_of("SESSION 5 ROWS GAP START WHEN n = 1"),
     "a session in ROWS ends by its gap alone and takes no START WHEN", "n = 1"),
    (_of("SESSION 5 ROWS GAP END WHEN n = 1"),
     "a session in ROWS ends by its gap alone and takes no END WHEN", "n = 1"),
    (_of("SESSION 5 s GAP MAX 1 HOUR MAX 2 HOURS"), "MAX is given twice", "MAX 2 HOURS"),
    (_of("SESSION 5 s GAP START WHEN n"), "a condition must be BOOLEAN, this is INT", "n"),
    (_of("SESSION 5 s GAP END WHEN MAX(n) > 1"), "an aggregate cannot stand in END WHEN", "MAX"),
    # what does not go with it
    (_of("SESSION 5 s GAP ADVANCE BY 1 s"),
     "a session begins with a row of its own and does not advance", "1 s"),
    ("SELECT COUNT(*) FROM orders [SESSION 5 s GAP SLIDE 1 s]",
     "a session begins with a row of its own and does not advance", "1 s"),
    ("SELECT COUNT(*) FROM orders WINDOW SESSION (60 SECONDS, ADVANCE BY 1 s)",
     "WINDOW SESSION takes its gap and no ADVANCE BY", "1 s"),
    ("SELECT COUNT(*) FROM orders WINDOW SESSION (SIZE 60 SECONDS)",
     "WINDOW SESSION takes its gap and no SIZE", "60 SECONDS"),
    ("SELECT COUNT(*) FROM orders WINDOW SESSION (GRACE PERIOD 1 HOUR)",
     "WINDOW SESSION needs its gap", "WINDOW SESSION (GRACE PERIOD 1 HOUR)"),
    ("SELECT COUNT(*) FROM orders WINDOW TUMBLING (SIZE 1 HOUR, 1 MINUTE)",
     "WINDOW TUMBLING has a duration with no word before it", "1 MINUTE"),
    (_of("RANGE 5 s PRECEDING SESSION 5 s GAP"),
     "a session has no frame: it is as long as it lasts", "RANGE 5 s PRECEDING"),
    (_of("SESSION 5 s GAP EXCLUDE TIES"),
     "a window of the stream leaves no row out", "EXCLUDE TIES"),
    (_of("ORDER BY value SESSION 5 s GAP"), "value is not the event time of orders", "value"),
    (_of("ORDER BY ts DESC SESSION 5 s GAP"),
     "a window is ordered by the event-time column alone, ascending", "ts DESC"),
    ("SELECT COUNT(*) FROM SESSION(orders, value, 1 HOUR)",
     "value is not the event time of orders", "value"),
    (_of("ORDER BY ts SESSION 5 ROWS GAP"),
     "a session in ROWS counts messages as they come; it has no ORDER BY", "ts"),
    (f"{SEVERAL} SELECT COUNT(*) FROM several OVER (PARTITION BY k SESSION 5 ROWS GAP)",
     "several has 3 partitions, and their messages have no order between them in which to be "
     "counted", "OVER (PARTITION BY k SESSION 5 ROWS GAP)"),
    ("SELECT SUM(n) OVER (ORDER BY ts SESSION 5 s GAP) FROM orders",
     "SESSION belongs to a window of the stream", "SESSION 5 s GAP"),
    ("SELECT SUM(n) OVER w FROM orders WINDOW w AS (ORDER BY ts SESSION 5 s GAP)",
     "SESSION belongs to a window of the stream", "SESSION 5 s GAP"),
    # keys
    (_of("PARTITION BY product SESSION 5 s GAP") + " GROUP BY window_start, n",
     "GROUP BY lacks product, by which the sessions are parted", "n"),
    ("SELECT COUNT(*) FROM SESSION(TABLE orders PARTITION BY (product, n), ts, 1 HOUR) GROUP BY n",
     "GROUP BY lacks product, by which the sessions are parted", "n"),
    # rows and ranks
    ("SELECT * FROM orders OVER (SESSION 1 HOUR GAP)",
     "a session without an aggregate or GROUP BY is not supported yet",
     "OVER (SESSION 1 HOUR GAP)"),
    ("SELECT product, window_start FROM SESSION(TABLE orders PARTITION BY product, ts, 1 HOUR)",
     "a session without an aggregate or GROUP BY is not supported yet",
     "SESSION(TABLE orders PARTITION BY product, ts, 1 HOUR)"),
    ("SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY ts) AS r "
     "FROM SESSION(TABLE orders PARTITION BY product, ts, 1 HOUR)", NO_ROWS,
     "(PARTITION BY product ORDER BY ts)"),
    ("SELECT product, COUNT(*) AS c, RANK() OVER (PARTITION BY product ORDER BY c) AS r "
     f"{HALF_HOURS[1]} QUALIFY r <= 3", OF_ONE, "(PARTITION BY product ORDER BY c)"),
    # windows over windows
    ("SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 HOUR) GROUP BY SESSION(ts, 1 HOUR)",
     "a query has one window", "SESSION(ts, 1 HOUR)"),
    ("SELECT COUNT(*) FROM SESSION(orders, ts, 1 HOUR) OVER (SESSION 1 HOUR GAP)",
     "this relation has a window already", "OVER (SESSION 1 HOUR GAP)"),
    # policies
    (f"{SESSIONS} RETAIN 5 ROWS EXPIRED EMIT",
     "EXPIRED EMIT goes with a retention of time: RETAIN counts no rows here", "5"),
    (f"{IN_ROWS} EMIT LATE ON UPDATE",
     "a window in ROWS counts messages as they come: none is late", "LATE ON UPDATE"),
    (f"{IN_ROWS} EXPIRED EMIT",
     "EXPIRED EMIT makes a session of an expired row, and in ROWS none expires", "EXPIRED EMIT"),
    # calls
    ("SELECT COUNT(*) FROM SESSION(orders, ts)",
     "SESSION needs one gap, and several columns of PARTITION BY stand in brackets", "SESSION"),
    (f"SELECT COUNT(*) FROM {TWO_KEYS}",
     "SESSION needs one gap, and several columns of PARTITION BY stand in brackets", "SESSION"),
    ("SELECT COUNT(*) FROM orders GROUP BY session_window(ts)",
     "session_window needs one gap", "session_window"),
    ("SELECT COUNT(*) FROM orders GROUP BY SESSION('1 hour')",
     "SESSION needs the event-time column before its gap", "SESSION"),
    ("SELECT COUNT(*) FROM orders GROUP BY SESSION(ts, 1 HOUR) + 1",
     "nothing stands behind a window in GROUP BY", "SESSION(ts, 1 HOUR) + 1"),
    ("SELECT COUNT(*) FROM SESSION(1 HOUR, ts)", "SESSION begins with the stream", "1 HOUR"),
    ("SELECT COUNT(*) FROM SESSION(orders, ts, SIZE => 1 HOUR)",
     "no argument of SESSION is called SIZE", "SIZE => 1 HOUR"),
    ("SELECT COUNT(*) FROM session_window(orders, ts, 1 HOUR)",
     "no table function is called session_window; did you mean SESSION?", "session_window"),
    ("SELECT SESSION_START(ts, INTERVAL '2' HOUR), COUNT(*) FROM orders "
     "GROUP BY SESSION(ts, INTERVAL '1' HOUR)",
     "SESSION_START must repeat the window of GROUP BY", "SESSION_START"),
    ("SELECT COUNT(*) FROM TUMBLE(orders, ts, ('1 hour'))", "TUMBLE takes durations here",
     "('1 hour')"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "message", "at"), REFUSED)
def test_refused(query: str, message: str, at: str) -> None:
    error = mistake(query)
    assert error.message == message
    assert underlined(error) == at
    assert error.legal
