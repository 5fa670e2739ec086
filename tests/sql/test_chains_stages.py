"""Streams of several stages: unions, views read twice, joins of windows, and what is refused."""

import pytest

from sqlwin.errors import QueryError
from sqlwin.plan.explain.statements import answers
from sqlwin.plan.ir.nodes import Join, WindowRank
from sqlwin.plan.properties.facts import (
    operator_of,
    sources_of,
)
from sqlwin.plan.properties.fingerprint import fingerprint
from sqlwin.plan.stages import staged
from sqlwin.policies import Early
from sqlwin.runtime.lowering.explained import explain
from sqlwin.sql import script
from sqlwin.windows.group import Hop
from tests.support.sql.cases import SECOND
from tests.support.sql.chains import (
    BOUNDS,
    COUNTED,
    STREAMS,
    below,
    only,
    policy,
    query,
    stages,
    top,
)

TUMBLED = "(SELECT * FROM TUMBLE(TABLE {}, DESCRIPTOR({}), 10 SECONDS))"
SAME = "a.window_start = b.window_start AND a.window_end = b.window_end"


# --- joins of windows -----------------------------------------------------------------


def test_a_window_join_of_aggregates() -> None:
    text = (
        f"WITH c AS ({COUNTED}) SELECT a.auction, a.n, b.n AS m FROM c a JOIN c b "
        f"ON a.auction = b.auction + 1 AND {SAME}"
    )
    assert stages(text) == [
        "c: window_end less 0 seconds, changing",
        "  Project auction, window_start, window_end, n",
        "    WindowAggregate tumbling 10 seconds keys [auction] [n = count(*)]",
        "      Project auction",
        "        Scan bid",
        "answer:",
        "  Project `a.auction` AS auction, `a.n` AS n, `b.n` AS m",
        "    Join inner on [a.auction = _key1, a.window_start = b.window_start, "
        "a.window_end = b.window_end] RANGE [0, 0]",
        "      Project auction AS a.auction, window_start AS a.window_start, "
        "window_end AS a.window_end, n AS a.n",
        "        Scan c",
        "      Project window_start AS b.window_start, window_end AS b.window_end, n AS b.n, "
        "auction + 1 AS _key1",
        "        Scan c",
    ]


@pytest.mark.parametrize("kind", ["", "LEFT ", "RIGHT ", "FULL ", "SEMI ", "ANTI "])
def test_a_window_join_of_rows(kind: str) -> None:
    """As Flink has it, or with the window functions themselves in FROM."""
    one, other = TUMBLED.format("bid", "ts"), TUMBLED.format("sold", "at")
    text = f"SELECT a.price FROM {one} a {kind}JOIN {other} b ON a.auction = b.id AND {SAME}"
    assert [(stream.name, stream.ts) for stream in below(text)] == [
        ("a", "window_end"), ("b", "window_end"),
    ]  # fmt: skip
    direct = text.replace("(SELECT * FROM ", "").replace("SECONDS))", "SECONDS)")
    assert query(direct).plan == query(text).plan


def test_a_window_join_may_be_grouped_by_its_windows() -> None:
    text = (
        f"SELECT a.window_start, a.window_end, SUM(a.n) AS n FROM ({COUNTED}) a "
        f"JOIN ({COUNTED}) b ON a.auction = b.auction AND {SAME} GROUP BY a.window_start, 2"
    )
    assert below(text)[-1].ts == "a.window_time"
    assert top(text).window == Hop(10 * SECOND, 10 * SECOND)


def test_the_event_time_is_the_one_that_the_condition_compares() -> None:
    """Nexmark's q7."""
    text = (
        "SELECT b.price FROM bid b JOIN (SELECT MAX(price) AS most, window_end AS t "
        f"FROM TUMBLE(TABLE bid, DESCRIPTOR(ts), 10 SECONDS) GROUP BY {BOUNDS}) m "
        "ON b.price = m.most AND b.ts BETWEEN m.t - INTERVAL '10' SECOND AND m.t"
    )
    assert (only(text).name, only(text).ts) == ("m", "t")
    made = operator_of(query(text).plan)
    assert isinstance(made, Join)
    assert stages(text)[-5].endswith("RANGE [0, 10 seconds]")


def test_a_bound_between_a_time_and_another_column() -> None:
    text = (
        "SELECT b.price FROM (SELECT id, at, at + INTERVAL '1' DAY AS until FROM sold) s "
        "JOIN bid b ON s.id = b.auction AND b.ts BETWEEN s.at AND s.until"
    )
    assert stages(text)[2].strip() == (
        "Join inner on [id = auction] RANGE [0, unbounded] where ts <= until"
    )


def test_a_first_n_is_joined_by_its_bound_in_where() -> None:
    text = (
        "SELECT q.price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY auction "
        "ORDER BY price DESC) AS rn FROM bid) q JOIN sold s ON q.auction = s.id "
        "WHERE q.rn <= 2 AND s.price > q.price"
    )
    assert "TopN rn = row_number() of the first 2" in stages(text)[2]


# --- unions ---------------------------------------------------------------------------


def test_rows_of_several_streams() -> None:
    text = (
        "SELECT auction, price, ts FROM bid WHERE price > 1 UNION ALL "
        "SELECT id, price, at FROM sold"
    )
    assert stages(text) == [
        "union: ts less 0 seconds",
        "  Project auction, price, ts",
        "    Filter price > 1",
        "      Scan bid",
        "  Project id AS auction, CAST(price AS BIGINT) AS price, at AS ts",
        "    Scan sold",
        "answer:",
        "  Project auction, price, ts",
        "    Scan union",
    ]


def test_a_union_has_the_name_of_its_view_or_alias() -> None:
    rows = "SELECT auction, ts FROM bid UNION ALL SELECT id, at FROM sold"
    grouped = "SELECT COUNT(*) FROM TUMBLE(TABLE {}, DESCRIPTOR(ts), 1 HOUR)"
    assert only(f"CREATE VIEW u AS {rows}; " + grouped.format("u")).name == "u"
    assert only(f"WITH u AS ({rows}) " + grouped.format("u")).name == "u"
    assert only(f"SELECT COUNT(*) FROM ({rows}) u").name == "u"
    assert only(grouped.format(f"({rows})")).name == "union"


@pytest.mark.parametrize(
    "text",
    [
        "(SELECT auction FROM bid) UNION ALL (SELECT id FROM sold) UNION ALL SELECT 1 FROM bid",
        "INSERT INTO s SELECT auction FROM bid UNION ALL SELECT id FROM sold "
        "union  all SELECT auction FROM bid",
        "ISTREAM(SELECT auction FROM bid) UNION ALL SELECT id FROM sold UNION ALL "
        "SELECT id FROM sold",
    ],
)
def test_where_a_union_may_stand(text: str) -> None:
    stream = only("CREATE SINK s WITH (connector = 'none'); " + text)
    assert len(stream.of) == 3


def test_each_query_of_a_union_has_its_own_policies() -> None:
    text = f"{COUNTED} EMIT EARLY ON UPDATE UNION ALL {COUNTED} EMIT EARLY EVERY 5 ROWS"
    one, other = only(text).of
    assert (policy(one).early, policy(other).early) == (Early.ON_UPDATE, Early.ROWS)


# --- views that are read twice --------------------------------------------------------


def test_a_view_read_twice_is_one_stage() -> None:
    text = (
        f"CREATE VIEW c AS {COUNTED}; SELECT n FROM c WHERE auction = 1 UNION ALL "
        "SELECT n FROM c WHERE auction = 2"
    )
    assert stages(text)[:4] == [
        "c: window_time less 0 seconds, changing",
        "  Project auction, (window_end - INTERVAL '1' MICROSECOND) AS window_time, n",
        "    WindowAggregate tumbling 10 seconds keys [auction] [n = count(*)]",
        "      Project auction",
    ]
    assert len(below(text)) == 2


def test_a_view_read_once_in_another_view_and_once_beside_it() -> None:
    text = (
        f"CREATE VIEW c AS {COUNTED}; CREATE VIEW d AS SELECT n + 1 AS m FROM c WHERE n > 1; "
        "SELECT m FROM d UNION ALL SELECT n FROM c"
    )
    assert [stream.name for stream in below(text)] == ["c", "union"]


def test_a_view_read_once_keeps_its_ranks() -> None:
    rank = f"SELECT *, RANK() OVER (PARTITION BY {BOUNDS} ORDER BY n) AS r FROM c"
    made = query(f"CREATE VIEW c AS {COUNTED}; {rank}").plan
    assert isinstance(operator_of(made), WindowRank)


def test_equal_stages_are_one_whatever_they_are_called() -> None:
    text = (
        f"SELECT x.n FROM ({COUNTED}) x JOIN ({COUNTED}) y "
        "ON x.auction = y.auction AND x.window_end = y.window_end"
    )
    assert [stream.name for stream in below(text)] == ["x"]  # with a column that y has no use for
    assert len(below(text.replace("x.n FROM", "x.n, y.n AS m FROM"))) == 1


def test_names_are_distinguished() -> None:
    text = f"SELECT bid.n FROM ({COUNTED}) bid JOIN sold ON bid.auction = sold.id"
    assert only(text).name == "bid#2"
    assert [stream.name for stream in sources_of(query(text).plan)] == ["bid", "sold"]


def test_nothing_is_carried_that_nobody_reads() -> None:
    joined = f"SELECT auction, price, n FROM ({COUNTED}) JOIN sold ON auction = id"
    text = f"SELECT COUNT(*) FROM ({joined})"
    first, second = below(text)
    assert [column.name for column in first.columns] == ["auction", "window_time"]
    assert [column.name for column in second.columns] == ["auction"]
    plan = query(text).plan
    assert staged(plan) == plan


def test_a_checkpoint_is_of_all_stages() -> None:
    one, other = (
        query(f"SELECT MAX(n) FROM ({COUNTED.replace('10', size)})") for size in ("10", "20")
    )
    assert repr(one.plan) == repr(other.plan)
    assert fingerprint(one) != fingerprint(other)


# --- EXPLAIN


def test_explain_warns_of_state_that_waits_for_corrections() -> None:
    first = "ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price) = 1"
    inner = f"SELECT ts, price FROM bid QUALIFY {first}"
    text = f"SELECT MAX(price) FROM TUMBLE(TABLE ({inner}), DESCRIPTOR(ts), 1 HOUR)"
    reported = (
        "Warning: results below query are corrected however late, so state grows until "
        "a RETAIN is given"
    )
    assert reported in explain(query(text))
    assert reported not in explain(query(text + " RETAIN 1 DAY"))
    joined = f"SELECT q.price FROM ({inner}) q JOIN sold s WITHIN 1 HOUR ON q.price = s.price"
    assert reported.replace("query", "q") in explain(query(joined))


def test_a_view_is_described_with_its_event_time() -> None:
    text = f"CREATE VIEW c AS {COUNTED} EMIT FINAL; DESCRIBE c"
    assert answers(script(STREAMS + text), explain)[0].splitlines()[-2:] == [
        "  n             BIGINT",
        "  event time: window_time",
    ]
    text = "CREATE VIEW m AS SELECT auction, MAX(ts) AS t FROM bid GROUP BY auction; DESCRIBE m"
    assert answers(script(STREAMS + text), explain) == [
        "m\n  auction  BIGINT\n  t        TIMESTAMP\n  event time: none\n"
        "  changing: rows are retracted and replaced"
    ]


# --- refused --------------------------------------------------------------------------

WINDOW = "SELECT COUNT(*) FROM TUMBLE(TABLE ({}), DESCRIPTOR({}), 1 HOUR)"


def test_streams_without_a_watermark_are_named_where_a_view_of_them_has_no_event_time() -> None:
    declared = "CREATE STREAM a (ts TIMESTAMP); CREATE STREAM b (ts TIMESTAMP);"
    both = WINDOW.format("SELECT ts FROM a UNION ALL SELECT ts FROM b", "ts")
    with pytest.raises(QueryError) as refused:
        script(declared + both)
    assert refused.value.legal == "a WATERMARK in CREATE STREAM a, b"
