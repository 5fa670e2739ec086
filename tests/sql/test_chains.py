"""Windows over windows: derived streams, their event times, the policies of inner stages."""

import pytest

from sqlwin.plan.ir.nodes import OverAggregate, Scan, TopN, WindowAggregate, WindowRank
from sqlwin.plan.properties.changelog import (
    changing,
    lateness,
)
from sqlwin.plan.properties.facts import operator_of
from sqlwin.policies import Early, Late
from sqlwin.windows.group import Hop, Whole
from tests.support.sql.cases import HOUR, MINUTE, SECOND
from tests.support.sql.chains import (
    BOUNDS,
    COUNTED,
    HOPPED,
    below,
    only,
    policy,
    query,
    stages,
    top,
)

MINUTES = (
    "SELECT window_end, SUM(n) AS n FROM TUMBLE(TABLE c, DESCRIPTOR(window_time), 1 MINUTE) "
    "GROUP BY window_end"
)
SUBQUERY = MINUTES.replace("TABLE c", f"TABLE ({COUNTED})")


def test_a_window_over_the_result_of_a_window() -> None:
    assert stages(f"WITH c AS ({COUNTED}) {MINUTES}") == [
        "c: window_time less 0 seconds, changing",
        "  Project (window_end - INTERVAL '1' MICROSECOND) AS window_time, n",
        "    WindowAggregate tumbling 10 seconds keys [auction] [n = count(*)]",
        "      Project auction",
        "        Scan bid",
        "answer:",
        "  Project window_end, _agg1 AS n",
        "    WindowAggregate tumbling 1 minute [_agg1 = sum(n)]",
        "      Project n",
        "        Scan c",
    ]


def test_views_expressions_and_subqueries_are_one_thing() -> None:
    plans = [
        query(text).plan
        for text in (
            f"CREATE VIEW c AS {COUNTED}; {MINUTES}",
            f"WITH c AS ({COUNTED}) {MINUTES}",
            f"CREATE VIEW d AS {COUNTED}; WITH c AS (SELECT * FROM d) {MINUTES}",
        )
    ]
    assert plans[0] == plans[1] == plans[2]
    (named,), (unnamed,) = below(f"WITH c AS ({COUNTED}) {MINUTES}"), below(SUBQUERY)
    assert named.of == unnamed.of and unnamed.name == "query"


def test_any_depth() -> None:
    text = COUNTED
    for depth in range(4):
        text = (
            f"SELECT {BOUNDS}, window_time, SUM(n) AS n "
            f"FROM TUMBLE(TABLE ({text}), DESCRIPTOR(window_time), {depth + 1} MINUTES) "
            f"GROUP BY {BOUNDS}"
        )
    assert [stream.name for stream in below(text)] == ["query", "query#2", "query#3", "query#4"]
    assert [lateness(stream) for stream in below(text)] == [
        10 * SECOND, MINUTE, 2 * MINUTE, 3 * MINUTE,
    ]  # fmt: skip
    assert policy(query(text).plan).retain == 4 * MINUTE


def test_filters_and_columns_above_a_window_stay_above_it() -> None:
    assert below(f"SELECT n + 1 AS m FROM ({COUNTED}) WHERE n > 2") == ()


# --- the same windows again -----------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "size", "offset"),
    [
        ("TUMBLE(TABLE bid, DESCRIPTOR(ts), 10 SECONDS)", 10, 0),
        ("TUMBLE(TABLE bid, DESCRIPTOR(ts), 10 SECONDS, 3 SECONDS)", 10, 3),
        ("HOP(TABLE bid, DESCRIPTOR(ts), 5 SECONDS, 20 SECONDS)", 5, 0),
        ("HOP(TABLE bid, DESCRIPTOR(ts), 4 SECONDS, 10 SECONDS)", 4, 2),
        ("HOP(TABLE bid, DESCRIPTOR(ts), 4 SECONDS, 10 SECONDS, 3 SECONDS)", 4, 1),
        ("CUMULATE(TABLE bid, DESCRIPTOR(ts), 5 SECONDS, 20 SECONDS)", 5, 0),
        ("CUMULATE(TABLE bid, DESCRIPTOR(ts), 5 SECONDS, 20 SECONDS, 6 SECONDS)", 5, 1),
    ],
)
def test_windows_grouped_again_end_when_they_did(window: str, size: int, offset: int) -> None:
    counted = f"SELECT auction, {BOUNDS}, COUNT(*) AS n FROM {window} GROUP BY auction, {BOUNDS}"
    text = f"SELECT {BOUNDS}, MAX(n) AS most FROM ({counted}) GROUP BY {BOUNDS}"
    made, stream = top(text), only(text)
    assert made.window == Hop(size * SECOND, size * SECOND, offset * SECOND)
    assert (stream.ts, stream.delay) == ("window_time", 0)
    assert made.keys == ("_key1", "_key2")
    assert [(n, s.inputs[0]) for n, s in made.input.columns[:2]] == [  # type: ignore[union-attr]
        ("_key1", "window_start"), ("_key2", "window_end"),
    ]  # fmt: skip
    assert stages(text)[-4] == "  Project _key1 AS window_start, _key2 AS window_end, most"


@pytest.mark.parametrize(
    "group",
    ["s, e", "e", "s", "1, 2", "q.s, q.e", "b, e", "ROLLUP (auction), s, e"],
)
def test_by_whatever_name(group: str) -> None:
    text = f"SELECT s AS b, e, MAX(n) AS most FROM ({HOPPED}) q GROUP BY {group}"
    if group in ("e", "s"):
        text = text.replace("s AS b, e,", f"{group},")
    made = top(text)
    assert made.window == Hop(4 * SECOND, 4 * SECOND, 2 * SECOND)
    assert only(text).ts == "window_time"


def test_a_cumulating_window_is_known_by_its_end() -> None:
    text = (
        f"SELECT {{}}, SUM(n) AS n FROM (SELECT auction, {BOUNDS}, COUNT(*) AS n "
        "FROM CUMULATE(TABLE bid, DESCRIPTOR(ts), 5 SECONDS, 20 SECONDS) "
        f"GROUP BY auction, {BOUNDS}) GROUP BY {{}}"
    )
    assert top(text.format("window_end", "window_end")).window == Hop(5 * SECOND, 5 * SECOND)
    assert top(text.format("window_start", "window_start")).window == Whole()


def test_a_last_instant_that_is_displayed_is_used() -> None:
    text = f"SELECT window_end, MAX(n) AS n FROM ({COUNTED}) GROUP BY window_end"
    assert [column.name for column in only(text).columns] == ["window_end", "window_time", "n"]


def test_windows_again_and_again() -> None:
    once = f"SELECT {BOUNDS}, auction % 9 AS k, SUM(n) AS n FROM ({COUNTED}) GROUP BY 1, 2, 3"
    text = f"SELECT {BOUNDS}, MAX(n) AS n FROM ({once}) GROUP BY {BOUNDS}"
    _, upper = below(text)
    assert (upper.ts, upper.delay, upper.name) == ("window_time", 0, "query#2")
    made = operator_of(upper.of[0])
    assert isinstance(made, WindowAggregate)
    assert made.window == top(text).window == Hop(10 * SECOND, 10 * SECOND)
    ranked = f"SELECT *, RANK() OVER (PARTITION BY window_end ORDER BY n) AS r FROM ({once})"
    assert isinstance(operator_of(query(ranked).plan), WindowRank)


@pytest.mark.parametrize(
    "windows",
    [
        f"SELECT {BOUNDS}, COUNT(*) AS n FROM bid OVER (PARTITION BY auction SESSION 1 HOUR GAP)",
        f"SELECT {BOUNDS}, COUNT(*) AS n FROM bid OVER (RANGE INTERVAL '1' HOUR PRECEDING)",
        f"SELECT {BOUNDS}, COUNT(*) AS n FROM bid OVER (ROWS 9 PRECEDING ADVANCE BY 3 ROWS)",
    ],
)
def test_bounds_that_nothing_aligns_are_keys_as_others(windows: str) -> None:
    assert top(f"SELECT {BOUNDS}, SUM(n) FROM ({windows}) GROUP BY {BOUNDS}").window == Whole()


def test_without_the_window_it_is_all_of_the_stream() -> None:
    made = top(f"SELECT auction, MAX(n) FROM ({COUNTED}) GROUP BY auction")
    assert (made.window, made.keys) == (Whole(), ("auction",))
    assert top(f"SELECT MAX(n) FROM ({COUNTED})").window == Whole()


# --- event time -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "ts", "delay"),
    [
        (COUNTED, "window_time", 0),
        (COUNTED, "window_end", 0),
        (COUNTED, "window_start", 10 * SECOND),
        (HOPPED, "s", 10 * SECOND),
        ("SELECT window_end, COUNT(*) AS n FROM bid OVER (SESSION 1 HOUR GAP)", "window_end", 0),
        ("SELECT window_time AS t, COUNT(*) AS n FROM bid OVER (SESSION 1 HOUR GAP)", "t", 1),
        (
            "SELECT window_start AS t, COUNT(*) AS n FROM bid OVER (SESSION 1 HOUR GAP MAX 1 DAY)",
            "t",
            24 * HOUR,
        ),
        ("SELECT window_start AS t, COUNT(*) AS n FROM bid [RANGE 1 HOUR]", "t", HOUR),
        ("SELECT ts, SUM(price) OVER (ORDER BY ts ROWS 3 PRECEDING) AS n FROM bid", "ts", 0),
        (
            "SELECT ts, SUM(price) OVER (ORDER BY ts RANGE BETWEEN 1 HOUR PRECEDING AND "
            "2 MINUTES FOLLOWING) AS n FROM bid",
            "ts",
            2 * MINUTE,
        ),
        (
            "SELECT ts, price AS n FROM bid QUALIFY "
            "ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) <= 3",
            "ts",
            0,
        ),
        ("SELECT ts, COUNT(*) AS n FROM bid GROUP BY ts", "ts", 0),
        ("SELECT ts, price AS n FROM TUMBLE(TABLE bid, DESCRIPTOR(ts), 1 HOUR)", "ts", HOUR),
        ("SELECT ts, price AS n FROM bid UNION ALL SELECT at, id FROM sold", "ts", 0),
    ],
)
def test_which_columns_are_event_times(source: str, ts: str, delay: int) -> None:
    text = f"SELECT COUNT(*) FROM TUMBLE(TABLE ({source}), DESCRIPTOR({ts}), 1 HOUR)"
    assert (only(text).ts, only(text).delay) == (ts, delay)
    over = f"SELECT SUM(n) OVER (ORDER BY {ts} RANGE 1 HOUR PRECEDING) FROM ({source})"
    assert (only(over).ts, only(over).delay) == (ts, delay)


@pytest.mark.parametrize(
    ("text", "ts"),
    [
        ("SELECT window_start AS a, window_time AS b, window_end AS c", "b"),
        ("SELECT window_start AS a, window_end AS c", "c"),
        ("SELECT window_start AS a", "a"),
    ],
)
def test_if_nothing_is_named_it_is_the_latest(text: str, ts: str) -> None:
    windows = f"{text}, COUNT(*) AS n FROM TUMBLE(TABLE bid, DESCRIPTOR(ts), 1 HOUR)"
    over = f"SELECT SUM(n) OVER (PARTITION BY n) FROM ({windows})"
    assert only(over).ts == ts


def test_unwindowed_groups_need_none() -> None:
    """Nexmark's q4, whose inner groups are of a join."""
    text = (
        "SELECT id, AVG(final) AS mean FROM (SELECT b.auction, s.id, MAX(b.price) AS final "
        "FROM sold s, bid b WHERE s.id = b.auction AND b.ts BETWEEN s.at AND s.at + INTERVAL 1 DAY "
        "GROUP BY b.auction, s.id) q GROUP BY id"
    )
    assert stages(text) == [
        "s_b: ts less 0 seconds",
        "  Project id, auction, `b.price` AS b.price, ts",
        "    Join inner on [id = auction] RANGE [0, 1 day]",
        "      Project id",
        "        Scan sold",
        "      Project auction, price AS b.price, ts",
        "        Scan bid",
        "q: None less 0 seconds, changing",
        "  Project id, final",
        "    WindowAggregate the whole stream keys [auction, id] [final = max(b.price)]",
        "      Project auction, id, `b.price` AS b.price",
        "        Scan s_b",
        "answer:",
        "  Project id, mean",
        "    WindowAggregate the whole stream keys [id] [mean = avg(final)]",
        "      Project id, final",
        "        Scan q",
    ]


def test_over_what_won_each_auction() -> None:
    """Nexmark's q6, which has an OVER over a first n over a join."""
    text = (
        "SELECT id, AVG(price) OVER (PARTITION BY id ORDER BY t ROWS 10 PRECEDING) AS mean "
        "FROM (SELECT s.id, b.price, b.ts AS t, ROW_NUMBER() OVER (PARTITION BY s.id "
        "ORDER BY b.price DESC, b.ts) AS rn FROM sold s JOIN bid b ON s.id = b.auction "
        "AND b.ts BETWEEN s.at AND s.at + INTERVAL '1' DAY) WHERE rn <= 1"
    )
    joined, first = below(text)
    assert (joined.ts, first.ts, first.delay) == ("ts", "t", 0)
    assert isinstance(operator_of(first.of[0]), TopN)
    assert isinstance(operator_of(query(text).plan), OverAggregate)


# --- ranks ----------------------------------------------------------------------------


def test_ranks_within_windows_stay_with_them() -> None:
    text = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY {BOUNDS} ORDER BY n) AS r FROM ({COUNTED})"
    assert below(text) == ()


def test_a_first_n_of_filtered_windows_ends_with_them() -> None:
    text = (
        f"SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_end ORDER BY n) AS r "
        f"FROM ({COUNTED}) WHERE n > 2) WHERE r <= 3"
    )
    made = operator_of(query(text).plan)
    assert isinstance(made, TopN) and made.limit == 3
    assert made.policy.retain == 10 * SECOND
    ever = text.replace("PARTITION BY window_end", "PARTITION BY auction")
    assert policy(query(ever).plan).retain is None


# --- policies -------------------------------------------------------------------------

OUTER = "SELECT SUM(n) FROM TUMBLE(TABLE ({}), DESCRIPTOR(window_time), 1 MINUTE)"


@pytest.mark.parametrize(
    ("inner", "outer", "early", "late"),
    [
        ("", "", None, Late.ON_UPDATE),
        ("", " EMIT LATE NEVER", None, Late.ON_UPDATE),
        ("", " EMIT EARLY EVERY 100 ROWS", Early.ON_UPDATE, Late.ON_UPDATE),
        ("", " EMIT CHANGES", Early.ON_UPDATE, Late.ON_UPDATE),
        (" RETAIN 1 HOUR", " EMIT CHANGES", Early.ON_UPDATE, Late.ON_UPDATE),
        (" EMIT LATE EVERY 1 MINUTE", " EMIT CHANGES", None, Late.EVERY),
        (" EMIT FINAL", "", None, Late.NEVER),
        (" EMIT EARLY EVERY 5 ROWS", "", Early.ROWS, Late.EVERY),
    ],
)
def test_policies_of_an_inner_window(
    inner: str, outer: str, early: Early | None, late: Late
) -> None:
    text = OUTER.format(COUNTED + inner) + outer
    made = policy(only(text).of[0])
    assert (made.early, made.late) == (early, late)
    viewed = f"CREATE VIEW v AS {COUNTED}{inner}; " + OUTER.replace("({})", "v") + outer
    made = policy(only(viewed).of[0])
    assert (made.early, made.late) == (early, late)


def test_what_is_never_full_goes_up_as_it_changes() -> None:
    text = "SELECT MAX(n) FROM (SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction)"
    assert policy(only(text).of[0]).early is Early.ON_UPDATE
    frame = "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"
    text = f"SELECT MAX(n) FROM (SELECT COUNT(*) OVER (ORDER BY ts {frame}) AS n FROM bid)"
    assert policy(only(text).of[0]).early is Early.ON_UPDATE


@pytest.mark.parametrize(
    ("inner", "outer", "kept"),
    [
        ("", "", MINUTE),
        (" RETAIN 1 HOUR", "", HOUR),
        (" RETAIN 1 HOUR", " RETAIN 5 MINUTES", 5 * MINUTE),
        (" RETAIN 9 ROWS", "", None),
        (" EMIT FINAL RETAIN 1 HOUR", "", MINUTE),
    ],
)
def test_a_correction_finds_what_it_corrects(inner: str, outer: str, kept: int | None) -> None:
    assert policy(query(OUTER.format(COUNTED + inner) + outer).plan).retain == kept


def test_the_policies_beside_over_are_its_own() -> None:
    over = f"SELECT SUM(n) OVER (ORDER BY window_end ROWS 3 PRECEDING) FROM ({COUNTED})"
    made = query(f"{over} EMIT EARLY ON UPDATE LATE NEVER RETAIN 1 DAY").plan
    assert (policy(made).early, policy(made).late) == (Early.ON_UPDATE, Late.NEVER)
    assert policy(made).retain == 24 * HOUR


def test_a_ttl_of_each_stage() -> None:
    inner = "SELECT /*+ STATE_TTL('bid' = '3 h') */ auction, MAX(ts) AS t FROM bid GROUP BY auction"
    text = f"SELECT MAX(t) FROM ({inner}) q"
    made = policy(only(text).of[0]).ttl
    assert made is not None and made.length == 3 * HOUR
    assert policy(query(text).plan).ttl is None
    outer = text.replace("SELECT MAX", "SELECT /*+ STATE_TTL('q' = '1 h') */ MAX", 1)
    assert (ttl := policy(query(outer).plan).ttl) is not None and ttl.length == HOUR
    said = "SET state.ttl = '1 d'; " + text
    assert policy(only(said).of[0]).ttl is not None
    assert policy(query(said).plan).ttl is not None


def test_a_hint_beside_a_join_is_of_all_its_query_keeps() -> None:
    text = (
        "SELECT /*+ STATE_TTL('s' = '1 h') */ s.id, COUNT(*) FROM sold s JOIN bid b "
        "ON s.id = b.auction JOIN bid c ON c.auction = s.id GROUP BY s.id"
    )
    for plan in (*(plan for stream in below(text) for plan in stream.of), query(text).plan):
        assert (ttl := policy(plan).ttl) is not None and ttl.length == HOUR


# --- changes --------------------------------------------------------------------------

NEAREST = "FROM bid ASOF JOIN sold s MATCH_CONDITION (ts >= at) ON auction = id"


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("SELECT price FROM bid", False),
        ("SELECT price FROM bid UNION ALL SELECT price FROM sold", False),
        (COUNTED, True),
        (COUNTED + " EMIT FINAL", False),
        (COUNTED + " EMIT EARLY ON UPDATE LATE NEVER", True),
        (COUNTED + " EMIT ON CLOSE TIMEOUT 1 HOUR LATE NEVER", True),
        ("SELECT COUNT(*) FROM bid OVER (SESSION 1 HOUR GAP) EMIT FINAL", True),
        ("SELECT COUNT(*) FROM bid OVER (ROWS 5 PRECEDING)", False),
        ("SELECT b.price FROM bid b JOIN sold s ON b.auction = s.id", False),
        ("SELECT b.price FROM bid b SEMI JOIN sold s ON b.auction = s.id", False),
        ("SELECT b.price FROM bid b ANTI JOIN sold s ON b.auction = s.id", True),
        ("SELECT b.price FROM bid b LEFT JOIN sold s ON b.auction = s.id", True),
        ("SELECT b.price FROM bid b LEFT JOIN sold s ON b.auction = s.id EMIT LATE NEVER", False),
        (f"SELECT bid.price {NEAREST}", True),
        (f"SELECT c.n FROM ({COUNTED}) c JOIN sold s ON c.auction = s.id", True),
        (OUTER.format(COUNTED) + " EMIT FINAL", True),
        (OUTER.format(COUNTED + " EMIT FINAL") + " EMIT FINAL", False),
    ],
)  # fmt: skip
def test_whether_results_are_retracted(text: str, changes: bool) -> None:
    assert changing(query(text).plan) is changes


# --- rows of windows ------------------------------------------------------------------


def test_rows_of_windows_as_they_are() -> None:
    made = top("SELECT * FROM TUMBLE(TABLE bid, DESCRIPTOR(ts), 1 HOUR)")
    assert made.per_row and made.keys == ("auction", "price", "ts")
    assert isinstance(made.input.input, Scan)  # type: ignore[union-attr]
