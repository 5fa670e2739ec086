"""MATCH_RECOGNIZE emits what the reference emits, after each step, and at the end the batch answer.

Patterns, conditions, policies and feeds are drawn; rows come in any order, late ones among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import SECOND, format_instant
from sqlwin.sql import script
from tests.properties.hosts import Host, answering_hosts, reference

STREAM = (
    "CREATE STREAM s (id BIGINT, k STRING, v BIGINT, ts TIMESTAMP, "
    "WATERMARK FOR ts AS ts - INTERVAL '3' SECOND, OFFSET id);"
)
START = 1_704_099_600 * SECOND
CONDITIONS = {
    "a": [
        "v < 2",
        "a.v <> 3",
        "a.v > PREV(a.v)",
        "PREV(v, 2) IS NULL OR v = 0",
        "COUNT(a.v) < 3",
        "AVG(a.v) < 2",
        "COUNT(DISTINCT a.v) < 3",
    ],
    "b": [
        "v > 0",
        "b.v >= a.v",
        "b.v <> LAST(b.v, 1)",
        "SUM(u.v) < 6",
        "b.v = FIRST(v)",
        "MEDIAN(b.v) < 3",
    ],
    "c": [
        "v = 3",
        "c.v < LAST(b.v)",
        "c.v > PREV(c.v)",
        "COUNT(*) > 2",
        "MAX(a.v) < c.v",
        "SIZE(COLLECT_LIST(b.v)) < 2",
    ],
}
MEASURES = (
    "FIRST(ts) AS first_ts, LAST(ts) AS last_ts, COUNT(*) AS n, SUM(b.v) AS bs, c.v AS c_v, "
    "LAST(a.v, 1) AS a_1, FIRST(v, 1) AS v_1, PREV(FIRST(v)) AS before, CLASSIFIER() AS kind, "
    "SUM(u.v) AS us, FIRST(u.ts) AS u_ts, CLASSIFIER(u) AS u_kind, FINAL LAST(b.v, 1) AS f_b, "
    "FINAL COUNT(u.v) FILTER (WHERE u.v > 0) AS f_us, FINAL CLASSIFIER() AS f_kind"
)
ALL_ROWS = ["ALL ROWS PER MATCH", "ALL ROWS PER MATCH OMIT EMPTY MATCHES"]
UNMATCHED = "ALL ROWS PER MATCH WITH UNMATCHED ROWS"
ROWS = st.lists(
    st.tuples(st.sampled_from(["x", "y", None]), st.integers(0, 3), st.integers(0, 30)),
    min_size=1,
    max_size=6,
)
STEPS = st.lists(st.one_of(ROWS, ROWS, st.integers(1, 40)), min_size=1, max_size=7)
"""Rows are pushed; a number is the seconds by which the clock goes on."""


def patterns(excluding: bool = False) -> st.SearchStrategy[str]:
    quantifiers = ["", "", "*", "+", "?", "{2}", "{1,2}", "*?", "+?", "??"]
    leaves = st.builds(str.__add__, st.sampled_from("abc"), st.sampled_from(quantifiers))
    around = ["({})", "({})", "{{- {} -}}" if excluding else "({})"]
    return st.recursive(
        st.one_of(leaves, leaves, leaves, st.just("^")),
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(" ".join),
            st.lists(inner, min_size=2, max_size=2).map(lambda parts: f"({' | '.join(parts)})"),
            st.lists(inner, min_size=1, max_size=3).map(lambda ps: f"PERMUTE({', '.join(ps)})"),
            st.builds(
                lambda part, round_, sign: round_.format(part) + sign,
                inner,
                st.sampled_from(around),
                st.sampled_from(quantifiers),
            ),
        ),
        max_leaves=4,
    )


@st.composite
def queries(draw: st.DrawFn, late: st.SearchStrategy[str]) -> str:
    defined = [
        f"{name} AS {draw(st.sampled_from(conditions))}"
        for name, conditions in CONDITIONS.items()
        if draw(st.integers(0, 3))
    ]
    rows = draw(st.sampled_from(["", "", *ALL_ROWS, UNMATCHED]))
    # each variable is in the pattern, which needs a row unless all of a match are given
    ends = ["a b? c?", "c a* b?", "(a | b | c)"]
    rest = draw(st.sampled_from(ends if not rows else [*ends, "a* b* c?", "(a | b | c)??"]))
    pattern = f"{draw(patterns(rows in ALL_ROWS))} {rest}"
    skips = ["PAST LAST ROW", "TO NEXT ROW", "TO LAST b", "TO c", "TO LAST u"]
    skip = draw(st.sampled_from(skips if rows != UNMATCHED else skips[:1]))
    within = draw(st.sampled_from(["", "WITHIN INTERVAL '9' SECOND", "WITHIN INTERVAL '2' SECOND"]))
    keys = draw(st.sampled_from(["PARTITION BY k", "PARTITION BY k", ""]))
    define = f"DEFINE {', '.join(defined)}" if defined else ""
    return (
        f"SELECT * FROM s MATCH_RECOGNIZE ({keys} ORDER BY ts MEASURES {MEASURES} {rows} "
        f"AFTER MATCH SKIP {skip} PATTERN ({pattern}) {within} SUBSET u = (a, b) {define}) "
        f"{draw(late)}"
    )


LATE = ["EMIT LATE ON UPDATE", "EMIT LATE EVERY INTERVAL '10' SECOND", "EMIT LATE NEVER"]
RETAINED = st.builds(
    lambda late, retain: f"{late} {retain}",
    st.sampled_from([*LATE, "EMIT FINAL"]),
    st.sampled_from(["", "RETAIN 4 SECONDS", "RETAIN 12 SECONDS"]),
)
CORRECTED = st.sampled_from([f"{late} RETAIN 1 HOUR" for late in LATE[:2]])


CHANGING = """CREATE VIEW w AS
SELECT k, window_start AS ts, MAX(v) AS v FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' SECOND)
GROUP BY k, window_start, window_end HAVING COUNT(*) <> 2 AND SUM(v) <> 1
EMIT LATE ON UPDATE RETAIN 1 HOUR;"""
"""A row is another with each row of its second, or none."""


def emissions(text: str, steps: list[Any], host: Host) -> list[Counter[Any]]:
    """What goes out at each step, and at the end of input."""
    running, made, ids, now = host(script(f"{STREAM} {text}")), [], 0, 0
    for step in [*steps, None]:
        query = next(running)
        if isinstance(step, int):
            now += step
            query.advance(now=format_instant(START + now * SECOND))
        elif step is None:
            query.drain()
        else:
            rows = [
                {"id": ids + n, "k": k, "v": v, "ts": format_instant(START + ts * SECOND)}
                for n, (k, v, ts) in enumerate(step)
            ]
            ids += len(rows)
            query.push("s", rows)
        found = query.results().to_pylist()
        made.append(Counter(tuple(row.items()) for row in found))
    return made


@given(queries(RETAINED), STEPS, answering_hosts())
def test_as_the_reference(text: str, steps: list[Any], host: Host) -> None:
    assert emissions(text, steps, host) == emissions(text, steps, reference)


@given(queries(RETAINED), STEPS, answering_hosts())
def test_over_rows_that_are_retracted(text: str, steps: list[Any], host: Host) -> None:
    over = CHANGING + text.replace("FROM s ", "FROM w ")
    assert emissions(over, steps, host) == emissions(over, steps, reference)


EXPIRING = st.builds(
    lambda time, update, visibility, cleanup: (
        f"SET 'state.ttl.time' = '{time}'; SET 'state.ttl.update' = '{update}'; "
        f"SET 'state.ttl.visibility' = '{visibility}'; SET 'state.ttl.cleanup' = '{cleanup}';"
    ),
    st.sampled_from(["processing", "event"]),
    st.sampled_from(["create-and-write", "read-and-write"]),
    st.sampled_from(["never-return-expired", "return-expired-if-not-cleaned-up"]),
    st.sampled_from(["compaction", "timers", "incremental(1, false)", "incremental(2, true)"]),
)


@given(queries(RETAINED), EXPIRING, st.booleans(), STEPS, answering_hosts())
def test_as_the_reference_where_partitions_expire(
    text: str, settings: str, retracted: bool, steps: list[Any], host: Host
) -> None:
    made = settings + (CHANGING if retracted else "")
    read = "w" if retracted else "s"
    hinted = text.replace("SELECT *", f"SELECT /*+ STATE_TTL('{read}' = '7 seconds') */ *")
    expiring = made + hinted.replace("FROM s ", f"FROM {read} ")
    assert emissions(expiring, steps, host) == emissions(expiring, steps, reference)


def standing(made: list[Counter[Any]]) -> Counter[Any]:
    """The values that stand at the end, by the greatest revision of each row key."""
    last: dict[str, tuple[int, Any]] = {}
    for step in made:
        for items in step:
            row = dict(items)
            key, revision, op = row["row_key"], row["revision"], row["op"]
            values = {
                n: v for n, v in row.items() if n not in ("op", "emit", "revision", "row_key", "id")
            }
            if revision >= last.get(key, (-1, None))[0]:
                last[key] = (revision, None if op == "-D" else tuple(values.items()))
    return Counter(values for _, values in last.values() if values is not None)


@given(queries(CORRECTED), STEPS, answering_hosts())
def test_the_last_revisions_are_the_batch_answer(text: str, steps: list[Any], host: Host) -> None:
    """All rows at once, in the order of time; of each instant one, for positions order others."""
    seen: dict[int, Any] = {}
    in_turn(text, _chosen(steps, lambda row: seen.setdefault(row[2], row) is row), host)


@given(queries(CORRECTED), STEPS, answering_hosts())
def test_the_last_revisions_of_retracted_rows(text: str, steps: list[Any], host: Host) -> None:
    """Of each instant the rows of one key, for of all of them there is one row to match."""
    seen: dict[int, Any] = {}
    own = _chosen(steps, lambda row: seen.setdefault(row[2], row[0]) == row[0])
    in_turn(CHANGING + text.replace("FROM s ", "FROM w "), own, host)


def _chosen(steps: list[Any], chosen: Callable[[Any], bool]) -> list[Any]:
    """The steps of rows that are chosen, in their order."""
    made = [[*filter(chosen, step)] if isinstance(step, list) else step for step in steps]
    return [step for step in made if step != []]


def in_turn(text: str, steps: list[Any], host: Host) -> None:
    """The last revisions are those of all rows at once."""
    whole = sorted(
        (row for step in steps if isinstance(step, list) for row in step), key=lambda row: row[2]
    )
    batch = emissions(text, [whole] if whole else [], reference)
    assert standing(emissions(text, steps, host)) == standing(batch)
