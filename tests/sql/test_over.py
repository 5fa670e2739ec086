import pytest

from sqlwin.plan.ir.nodes import Project, Scan
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from tests.support.sql.cases import HOUR, MINUTE, below, columns, filtered, over, plan


@pytest.mark.parametrize(
    ("frame", "meant"),
    [
        (
            "RANGE BETWEEN INTERVAL '2' MINUTE PRECEDING AND CURRENT ROW",
            Frame(Unit.RANGE, 2 * MINUTE),
        ),
        ("RANGE INTERVAL '1' HOUR PRECEDING", Frame(Unit.RANGE, HOUR)),
        ("RANGE '2' min PRECEDING", Frame(Unit.RANGE, 2 * MINUTE)),
        ("RANGE CURRENT ROW", Frame(Unit.RANGE, 0)),
        ("ROWS BETWEEN 99 PRECEDING AND CURRENT ROW", Frame(Unit.ROWS, 99)),
        ("ROWS 99 PRECEDING", Frame(Unit.ROWS, 99)),
        ("ROWS BETWEEN CURRENT ROW AND CURRENT ROW", Frame(Unit.ROWS, 0)),
    ],
)
def test_frames(frame: str, meant: Frame) -> None:
    made = over(f"SELECT SUM(n) OVER (PARTITION BY product ORDER BY ts {frame}) AS s FROM orders")
    (call,) = made.calls
    assert call.frame == meant
    assert call.partition == ("product",)
    assert (made.per_instant, made.by_arrival, made.window_columns) == (False, False, False)


def test_different_windows_in_one_query_around_and_inside_expressions() -> None:
    text = """
      SELECT id, ROUND(AVG(value * 2) OVER w, 2) + n AS a,
             SUM(value) OVER (w ROWS 9 PRECEDING) AS s,
             MAX(n) FILTER (WHERE value > 1) OVER (ORDER BY ts RANGE 1 HOUR PRECEDING) AS m
      FROM orders WHERE value > 0
      WINDOW w AS (v RANGE 2 MINUTES PRECEDING), v AS (PARTITION BY product ORDER BY ts)"""
    text = text.replace("OVER (w ROWS", "OVER (v ROWS")
    made = over(text)
    assert [(c.aggregate.name, c.partition, c.frame) for c in made.calls] == [
        ("_agg1", ("product",), Frame(Unit.RANGE, 2 * MINUTE)),
        ("s", ("product",), Frame(Unit.ROWS, 9)),
        ("m", (), Frame(Unit.RANGE, HOUR)),
    ]
    assert columns(plan(text)) == {"id": "id", "a": "ROUND(_agg1, 2) + n", "s": "s", "m": "m"}
    assert below(made) == {
        "id": "id",
        "product": "product",
        "_arg1": "value * 2",
        "n": "n",
        "value": "value",
        "_where1": "value > 1",
    }
    assert filtered(made.input) == "value > 0"
    assert made.policy.retain == HOUR


def test_star_and_calls() -> None:
    made = plan("SELECT *, COUNT(*) OVER (ORDER BY ts ROWS 3 PRECEDING) AS c FROM orders")
    assert list(columns(made)) == [
        "id", "product", "value", "n", "price", "ts_ms", "ts", "at", "c",
    ]  # fmt: skip


def test_partition_by_an_expression() -> None:
    made = over(
        "SELECT SUM(n) OVER (PARTITION BY UPPER(product), n % 2 "
        "ORDER BY ts ROWS 1 PRECEDING) FROM orders"
    )
    assert made.calls[0].partition == ("_key1", "_key2")


def test_event_time_may_be_renamed_below() -> None:
    made = over(
        "SELECT SUM(v) OVER (ORDER BY t ROWS 1 PRECEDING) AS s FROM "
        "(SELECT value * 2 AS v, ts AS t FROM orders WHERE n > 1)"
    )
    assert below(made) == {"v": "value * 2"}
    assert filtered(made.input) == "n > 1"


def test_retain_by_default_is_no_less_than_the_delay() -> None:
    made = over("SELECT SUM(n) OVER (ORDER BY ts ROWS 3 PRECEDING) FROM orders")
    assert made.policy.retain == 5_000_000


def test_comments_and_lines_inside_over() -> None:
    text = """SELECT SUM(n) /* all of them */ OVER ( -- the window
        PARTITION BY product
        ORDER BY ts ROWS 3 PRECEDING) AS s FROM orders"""
    assert over(text).calls[0].partition == ("product",)


def test_ties_by_the_offset() -> None:
    text = """
      CREATE STREAM flights (flight BIGINT, carrier STRING, delay INT, dep_ts TIMESTAMP,
        WATERMARK FOR dep_ts AS dep_ts, OFFSET flight);
      SELECT MEDIAN(delay) OVER (PARTITION BY carrier ORDER BY dep_ts, flight ROWS 9 PRECEDING) m
      FROM flights"""
    (call,) = over(text).calls
    assert (call.aggregate.function, call.frame) == ("median", Frame(Unit.ROWS, 9))


def test_a_stream_that_declares_no_event_time_and_is_called_last() -> None:
    text = """CREATE STREAM last (k INT, at TIMESTAMP);
        SELECT ROW_NUMBER() OVER (PARTITION BY k ORDER BY at) AS r FROM last"""
    made = over(text)
    assert isinstance(made.input, Project)
    assert isinstance(made.input.input, Scan)
    assert made.input.input.stream.ts == "at"
    assert over("CREATE STREAM last (k INT); SELECT MAX(k) FROM last OVER (ROWS 3 PRECEDING)").calls
