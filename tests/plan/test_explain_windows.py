"""EXPLAIN of the windows, frames, policies and ranks beyond a plain tumbling window."""

from dataclasses import replace

import pytest

from sqlwin.aggregates.python import PythonAggregate
from sqlwin.plan.explain.lines import line
from sqlwin.plan.explain.shapes import frame
from sqlwin.plan.ir.nodes import (
    Aggregate,
    OverAggregate,
    OverCall,
    Project,
    TopN,
    WindowAggregate,
    WindowRank,
    column_of,
)
from sqlwin.plan.ir.statements import Query
from sqlwin.plan.properties.facts import bucket_keys, window_of, window_policy
from sqlwin.policies import Early, Policy
from sqlwin.runtime.lowering.explained import explain
from sqlwin.schema import Order
from sqlwin.windows import Unit
from sqlwin.windows.frames import Exclude, Frame
from tests.golden.functions import FUNCTIONS
from tests.support.plan.explained import facts, lines
from tests.support.sql.cases import MINUTE, SECOND, over, window

UPDATES = Policy(None, early=Early.ON_UPDATE)
DESC = (Order("total", descending=True, nulls_last=True),)


def reported(
    node: OverAggregate | TopN | WindowRank | WindowAggregate, *functions: PythonAggregate
) -> list[str]:
    """The facts of an operator, with everything it gives selected."""
    columns = tuple((c.name, column_of(c)) for c in node.schema)
    said = explain(Query(Project(node, columns), functions=functions)).splitlines()
    return said[next(at for at, line in enumerate(said) if line.startswith("Operator")) :]


def test_the_whole_stream() -> None:
    assert facts("SELECT product, SUM(n) FROM orders GROUP BY product EXPIRED COUNT") == [
        "Operator: aggregator, incremental; the whole stream",
        "Stores: panes (merged accumulators), revisions (what was emitted of each result), "
        "seen (positions of the messages of orders)",
        "Message key: none: incremental",
        "Early: on each update",
        "Full: at the end of input",
        "Late: every 10 seconds of processing time",
        "Watermark: ts less 5 seconds",
        "Retention: for ever",
        "Expired: counted",
        "Ties: by OFFSET id",
        "Warning: the aggregates of every key are kept, so state grows with keys",
        "Warning: the positions of all messages are kept to recognise replays, "
        "so state grows for ever",
    ]
    assert "  WindowAggregate the whole stream [_agg1 = count(*)]" in lines(
        "SELECT COUNT(*) FROM orders"
    )


def test_early_and_retention_by_rows() -> None:
    text = "SELECT id, COUNT(*) FROM TUMBLE(orders, ts, 1 HOUR) GROUP BY id"
    policies = facts(f"{text} EMIT EARLY EVERY 10 SECONDS RETAIN 1 ROW")
    assert "Early: every 10 seconds of processing time" in policies
    assert "Retention: until a row of its key is newer" in policies


def test_no_key_in_every_set() -> None:
    text = "SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 HOUR) GROUP BY CUBE(product, id)"
    assert bucket_keys(window(text)) == ()
    assert facts(text)[-1] == (
        "Warning: no key is in every grouping set, so all rows go to one bucket"
    )
    rolled = "SELECT COUNT(*) FROM TUMBLE(orders, ts, 1 HOUR) GROUP BY product, ROLLUP(id, n)"
    assert bucket_keys(window(rolled)) == ("product",)


def test_a_tuple_window_with_early_results() -> None:
    text = (
        "SELECT product, MEDIAN(n) FROM orders OVER (PARTITION BY product ROWS 3 PRECEDING "
        "ADVANCE BY 3 ROWS) EMIT EARLY EVERY 1 MINUTE ON CLOSE TIMEOUT 1 HOUR"
    )
    assert facts(text)[:6] == [
        "Operator: aggregator, full state; tumbling windows of messages",
        "Stores: panes (window metadata), revisions (what was emitted of each result), messages "
        "(rows that aggregates read), counts (messages of each key)",
        "Message key: offset",
        "Early: every 1 minute of processing time",
        "Full: at the message 3 of a window",
        "Timeout: after 1 hour with no row, open windows are sent full",
    ]


# --- frames -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (Frame(Unit.ROWS, 9), "ROWS 9 preceding"),
        (Frame(Unit.RANGE, 2 * MINUTE), "RANGE 2 minutes preceding"),
        (Frame(Unit.RANGE, None), "RANGE unbounded preceding"),
        (Frame(Unit.RANGE, 0), "RANGE current row"),
        (Frame(Unit.ROWS, 3, 2), "ROWS 3 preceding to 2 following"),
        (Frame(Unit.ROWS, 0, None), "ROWS current row to unbounded following"),
        (Frame(Unit.ROWS, 5, -1), "ROWS 5 preceding to 1 preceding"),
        (Frame(Unit.RANGE, -SECOND, MINUTE), "RANGE 1 second following to 1 minute following"),
        (
            Frame(Unit.ROWS, 3, 0, Exclude.CURRENT_ROW),
            "ROWS 3 preceding exclude current row",
        ),
        (
            Frame(Unit.RANGE, None, None, Exclude.TIES),
            "RANGE unbounded preceding to unbounded following exclude ties",
        ),
    ],
)
def test_frames(given: Frame, meant: str) -> None:
    assert frame(given) == meant


def framed(*frames: Frame, policy: Policy = Policy(MINUTE)) -> OverAggregate:  # noqa: B008
    """SUM(n) by product over each of some frames."""
    made = over(
        "SELECT SUM(n) OVER (PARTITION BY product ORDER BY ts ROWS 1 PRECEDING) FROM orders"
    )
    call = made.calls[0]
    named = [replace(call.aggregate, name=f"s{at}") for at in range(len(frames))]
    calls = (OverCall(a, call.partition, f) for a, f in zip(named, frames, strict=True))
    return replace(made, calls=tuple(calls), policy=policy)


@pytest.mark.parametrize(
    ("frames", "full", "warnings"),
    [
        ([Frame(Unit.RANGE, MINUTE)], "when the watermark passes the row", []),
        (
            [Frame(Unit.RANGE, MINUTE, MINUTE)],
            "when the watermark passes the row and 1 minute more",
            [],
        ),
        (
            [Frame(Unit.ROWS, 3, 2), Frame(Unit.RANGE, 0, SECOND)],
            "when the watermark passes the row and 1 second more and the 2 rows after it",
            [
                "the last rows or the count of every key are kept, so state grows with keys",
                "a row waits for the 2 rows that follow it in its partition, which may be long "
                "in coming",
            ],
        ),
        (
            [Frame(Unit.ROWS, -1, 1)],
            "when the watermark passes the row and the row after it",
            [
                "the last rows or the count of every key are kept, so state grows with keys",
                "a row waits for the row that follows it in its partition, which may be long "
                "in coming",
            ],
        ),
        (
            [Frame(Unit.RANGE, None, None), Frame(Unit.RANGE, MINUTE)],
            "at the end of input",
            ["a frame that ends with the stream is full only at the end of input"],
        ),
    ],
)
def test_when_a_row_is_full(frames: list[Frame], full: str, warnings: list[str]) -> None:
    said = reported(framed(*frames))
    assert f"Full: {full}" in said
    assert [line for line in said if line.startswith("Warning")] == [
        f"Warning: {warning}" for warning in warnings
    ]


def test_frames_without_bound_keep_all_rows() -> None:
    unbounded = Frame(Unit.RANGE, None)
    warning = "Warning: frames without bound keep all rows, so state grows until a RETAIN is given"
    assert reported(framed(unbounded, policy=Policy(None)))[-1] == warning
    assert warning not in reported(framed(unbounded, policy=Policy(None, retain_rows=5)))
    assert facts("SELECT COUNT(*) FROM orders [RANGE UNBOUNDED]")[-1] == warning


# --- ranks --------------------------------------------------------------------------


def totals() -> WindowAggregate:
    return window(
        "SELECT product, n, SUM(value) AS total FROM TUMBLE(orders, ts, 1 HOUR) GROUP BY product, n"
    )


def test_a_rank_within_each_window() -> None:
    ranked = WindowRank(totals(), "rn", "rank", ("product",), DESC)
    assert line(ranked) == ("WindowRank rn = rank() by [product] order [total desc nulls last]")
    assert reported(ranked)[0] == (
        "Operator: aggregator, incremental; tumbling windows of time; ranked within each window"
    )
    assert reported(ranked)[-1] == "Ties: by OFFSET id"
    assert bucket_keys(ranked) == ("product",)
    assert window_of(Project(ranked, ())) is ranked
    assert window_policy(Project(ranked, ())) == totals().policy


def test_a_rank_of_all_groups_of_a_window() -> None:
    ranked = WindowRank(totals(), "rn", "row_number", (), DESC)
    assert reported(ranked)[-1] == (
        "Warning: there is no key to part the rows by, so all rows go to one bucket"
    )


def test_the_first_of_each_partition() -> None:
    below = totals().input
    order = (Order("value", descending=True), Order("n"))
    top = TopN(below, "rn", "row_number", ("product",), order, 3, UPDATES)
    assert line(top) == "TopN rn = row_number() of the first 3 by [product] order [value desc, n]"
    assert reported(top) == [
        "Operator: top-n, the first 3 rows of each partition",
        "Stores: top (the first rows of each partition), rankings (what each partition waits to "
        "emit), seen (positions of the messages of orders)",
        "Message key: equal fields, timestamp, offset",
        "Early: on each update",
        "Full: at the end of input",
        "Watermark: ts less 5 seconds",
        "Retention: for ever",
        "Ties: by OFFSET id",
        "Warning: the first rows of every partition are kept, so state grows with keys",
        "Warning: the positions of all messages are kept to recognise replays, "
        "so state grows for ever",
    ]
    ranks = replace(top, function="dense_rank", partition=())
    assert reported(ranks)[0] == "Operator: top-n, the first 3 ranks of each partition"
    assert reported(ranks)[-2].endswith("so all rows go to one bucket")


def test_an_aggregate_of_python_is_incremental() -> None:
    made = totals()
    longest = next(each for each in FUNCTIONS if each.name == "longest")
    own = Aggregate("total", longest.name, ("product",), made.aggregates[0].type)
    assert "incremental" in reported(replace(made, aggregates=(own,)), longest)[0]
