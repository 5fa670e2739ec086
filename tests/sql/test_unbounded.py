"""Windows without a bound: GROUP BY with none, RANGE UNBOUNDED, and CQL's operators."""

import pytest

from sqlwin.plan.ir.nodes import Filter, OverAggregate, Project, Scan
from sqlwin.plan.properties.changelog import changing
from sqlwin.plan.properties.facts import streams_of, window_of
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from sqlwin.windows.group import Whole
from tests.support.sql.cases import (
    MINUTE,
    bound,
    columns,
    filtered,
    mistake,
    operator,
    over,
    plan,
    underlined,
    window,
)


def test_group_by_without_a_window_is_over_the_whole_stream() -> None:
    text = (
        "SELECT product, SUM(value) + 1 AS s FROM orders WHERE n > 1 "
        "GROUP BY product HAVING COUNT(*) > 2"
    )
    made = window(text)
    assert (made.window, made.keys, made.sets) == (Whole(), ("product",), ())
    assert [c.name for c in made.schema] == ["product", "_agg1", "_agg2"]
    assert columns(plan(text)) == {"product": "product", "s": "_agg1 + 1"}
    assert filtered(plan(text)) == "_agg2 > 2"
    assert filtered(made.input) == "n > 1"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM orders",
        "SELECT 1 + MAX(n) FILTER (WHERE n > 2) FROM (SELECT * FROM orders)",
        "SELECT product FROM orders GROUP BY product",
        "SELECT 1 AS one FROM orders HAVING COUNT(*) > 1",
    ],
)
def test_an_aggregate_or_a_group_without_a_window(text: str) -> None:
    assert window(text).window == Whole()


@pytest.mark.parametrize(
    "source", ["orders [ROWS UNBOUNDED]", "orders OVER (ROWS UNBOUNDED PRECEDING)"]
)
def test_a_window_of_all_messages_so_far(source: str) -> None:
    made = over(f"SELECT window_start, COUNT(*) FROM {source}")
    assert made.by_arrival and made.calls[0].frame == Frame(Unit.ROWS, None)


def test_a_column_called_like_a_windows_is_one_where_there_is_no_window() -> None:
    made = window(
        "SELECT window_start, COUNT(*) FROM (SELECT n AS window_start, ts FROM orders) "
        "GROUP BY window_start"
    )
    assert len(made.keys) == 1


@pytest.mark.parametrize(
    "source",
    [
        "orders OVER (PARTITION BY product RANGE UNBOUNDED PRECEDING)",
        "orders OVER (PARTITION BY product ORDER BY ts RANGE UNBOUNDED PRECEDING)",
        "orders OVER (PARTITION BY product RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)",
        "orders [PARTITION BY product RANGE UNBOUNDED]",
    ],
)
def test_a_window_from_the_beginning(source: str) -> None:
    made = over(f"SELECT product, MAX(n) AS m, window_end, window_time FROM {source}")
    assert made.calls[0].frame == Frame(Unit.RANGE, None)
    assert made.calls[0].partition == ("product",)
    assert (made.per_instant, made.by_arrival, made.window_columns) == (True, False, True)


def test_the_window_of_the_instant() -> None:
    now = over("SELECT COUNT(*) FROM orders [NOW]")
    assert now == over("SELECT COUNT(*) FROM orders [RANGE 0 SECONDS]")
    assert now.calls[0].frame == Frame(Unit.RANGE, 0)


# --- CQL's operators ----------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "ISTREAM(SELECT product, COUNT(*) FROM orders [PARTITION BY product RANGE 1 MINUTE])",
        "SELECT ISTREAM(product, COUNT(*)) FROM orders [PARTITION BY product RANGE 1 MINUTE]",
        "ISTREAM (WITH o AS (SELECT * FROM orders) "
        "SELECT product, COUNT(*) FROM o [PARTITION BY product RANGE 1 MINUTE])",
    ],
)
def test_istream_is_a_stream_of_changes(text: str) -> None:
    (stream,) = streams_of(plan(text))
    assert stream.change == "ISTREAM"
    assert not changing(plan(text))
    made = window_of(stream.of[0])
    assert isinstance(made, OverAggregate)
    assert made.calls[0].frame == Frame(Unit.RANGE, MINUTE)


@pytest.mark.parametrize(
    "text",
    [
        "ISTREAM(SELECT * FROM orders [RANGE UNBOUNDED] WHERE n > 1)",
        "SELECT ISTREAM(*) FROM orders [RANGE UNBOUNDED] WHERE n > 1",
        "SELECT * FROM orders OVER (RANGE UNBOUNDED PRECEDING) WHERE n > 1",
    ],
)
def test_what_comes_into_such_a_window_is_each_row(text: str) -> None:
    made = plan(text)
    assert isinstance(made, Project)
    assert isinstance(made.input, Filter)
    assert isinstance(operator(made), Scan)
    assert list(columns(made))[:2] == ["id", "product"]


@pytest.mark.parametrize("operator", ["ISTREAM", "DSTREAM", "RSTREAM"])
def test_an_append_sink_takes_a_stream_of_changes(operator: str) -> None:
    sink = "CREATE SINK s WITH (connector = 'none', changelog = 'append');"
    assert bound(f"{sink} INSERT INTO s {operator}(SELECT id FROM orders [NOW])").queries


def test_istream_behind_explain_insert_and_view() -> None:
    made = bound(
        "CREATE SINK s WITH (connector = 'none'); CREATE VIEW v AS ISTREAM(SELECT id FROM orders); "
        "INSERT INTO s ISTREAM(SELECT id FROM v); EXPLAIN ISTREAM(SELECT n FROM orders)"
    )
    assert len(made.statements) == 2


# --- refused ------------------------------------------------------------------------


# --- source partitions --------------------------------------------------------------

SEVERAL = (
    "CREATE STREAM several (k INT, v INT, ts TIMESTAMP, WATERMARK FOR ts AS ts) "
    "WITH (connector = 'kafka', partitions = 3);"
)


@pytest.mark.parametrize("window_", ["ROWS 5 PRECEDING", "ROWS 5 PRECEDING ADVANCE BY 5 ROWS"])
def test_messages_of_several_partitions_have_no_numbers(window_: str) -> None:
    error = mistake(f"{SEVERAL} SELECT MAX(v) FROM several OVER ({window_})")
    assert error.message == (
        "several has 3 partitions, and their messages have no order between them in which to be "
        "counted"
    )
    assert underlined(error) == f"OVER ({window_})"
    assert error.legal == "PARTITION BY a key, or a window in RANGE"


def test_a_topic_may_have_several_partitions() -> None:
    topic = SEVERAL.replace("partitions = 3", "servers = 'host:9092', topic = 't'")
    error = mistake(f"{topic} SELECT MAX(v) FROM several OVER (ROWS 5 PRECEDING)")
    assert error.message.startswith("several has the partitions of a topic, and their messages")
    assert error.legal.endswith("a window in RANGE; partitions = 1, if the topic has one")
    one = topic.replace("topic =", "partitions = 1, topic =")
    assert bound(f"{one} SELECT MAX(v) FROM several OVER (ROWS 5 PRECEDING)")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT MAX(v) FROM several OVER (PARTITION BY k ROWS 5 PRECEDING)",
        "SELECT MAX(v) FROM several OVER (RANGE 5 MINUTES PRECEDING)",
        "SELECT MAX(v) OVER (ORDER BY ts ROWS 5 PRECEDING) FROM several",
    ],
)
def test_keys_and_time_give_an_order_to_several_partitions(text: str) -> None:
    assert over(f"{SEVERAL} {text}")


def test_how_many_partitions_is_a_count() -> None:
    text = "CREATE STREAM x (a INT) WITH (partitions = 'some')"
    assert mistake(text).message == "stream x has an option 'partitions' that cannot be 'some'"
