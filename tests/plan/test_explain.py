from sqlwin.plan.explain import explain, explain_script
from tests.sql.cases import bound, query


def lines(text: str) -> list[str]:
    return explain(query(text)).splitlines()


def facts(text: str) -> list[str]:
    """From the operator on, below the tree."""
    told = lines(text)
    return told[next(at for at, line in enumerate(told) if line.startswith("Operator")) :]


def test_a_hopping_window_in_full() -> None:
    text = """
      SELECT product, window_start, SUM(value * 2) AS total, COUNT(*) FILTER (WHERE n > 1) AS many
      FROM HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE)
      WHERE id > 0
      GROUP BY product, window_start, window_end
      HAVING COUNT(*) > 2
      EMIT LATE ON UPDATE RETAIN 1 HOUR"""
    assert explain(query(text)) == (
        "Output: screen\n"
        "  product STRING\n"
        "  window_start TIMESTAMP\n"
        "  total DOUBLE\n"
        "  many BIGINT\n"
        "Project product, window_start, total, many\n"
        "  Filter _agg1 > 2\n"
        "    WindowAggregate hopping 10 minutes every 1 minute keys [product] "
        "[total = sum(_arg1), many = count(*) where _where1, _agg1 = count(*)]\n"
        "      Project product, value * 2 AS _arg1, n > 1 AS _where1\n"
        "        Filter id > 0\n"
        "          Scan orders\n"
        "Operator: aggregator, incremental; hopping windows of time\n"
        "Stores: panes (merged accumulators), revisions\n"
        "Message key: none: incremental\n"
        "Full: when the watermark reaches the window's end\n"
        "Late: on each update\n"
        "Watermark: ts less 5 seconds\n"
        "Retention: 1 hour after the watermark passed\n"
        "Ties: by OFFSET id"
    )


def test_over() -> None:
    text = (
        "SELECT SUM(n) OVER (PARTITION BY product ORDER BY ts RANGE 2 MINUTES PRECEDING) AS s "
        "FROM orders"
    )
    assert facts(text) == [
        "Operator: aggregator, OVER",
        "Stores: rows, revisions",
        "Message key: timestamp, offset",
        "Full: when the watermark passes the row",
        "Late: every 10 seconds of processing time",
        "Watermark: ts less 5 seconds",
        "Retention: 2 minutes after the watermark passed",
        "Ties: by OFFSET id",
    ]
    assert "  OverAggregate s = sum(n) over RANGE 2 minutes preceding by [product]" in lines(text)


def test_a_sliding_window_of_messages() -> None:
    assert facts("SELECT SUM(n) FROM orders OVER (ROWS 3 PRECEDING)") == [
        "Operator: aggregator, sliding window of messages",
        "Stores: ring (the last rows of each key), counts (messages of each key)",
        "Message key: offset",
        "Full: at each message",
        "Late: never: messages are counted as they come",
        "Ties: by OFFSET id",
        "Warning: there is no key to part the rows by, so all rows go to one bucket",
        "Warning: a message whose id is not above those before it in its partition is taken for "
        "a replay",
    ]


def test_calls_with_no_partition_in_common() -> None:
    text = (
        "SELECT SUM(n) OVER (PARTITION BY product ORDER BY ts ROWS 3 PRECEDING) AS a, "
        "SUM(n) OVER (PARTITION BY id ORDER BY ts ROWS 3 PRECEDING) AS b FROM orders"
    )
    assert lines(text)[-2:] == [
        "Warning: the calls have no PARTITION BY in common, so all rows go to one bucket",
        "Warning: the last rows or the count of every key are kept, so state grows with keys",
    ]


def test_no_window() -> None:
    assert lines("SELECT id, n + 1 AS m FROM orders WHERE n > 1") == [
        "Output: screen",
        "  id BIGINT",
        "  m INT",
        "Project id, n + 1 AS m",
        "  Filter n > 1",
        "    Scan orders",
        "Ties: by OFFSET id",
    ]


def test_a_script_tells_every_query() -> None:
    made = bound("EXPLAIN SELECT id FROM orders; SELECT n FROM orders")
    assert explain_script(made).count("Output: screen") == 2
