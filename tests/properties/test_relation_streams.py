"""What ISTREAM, DSTREAM and RSTREAM emit is what DuckDB computes of the relation at each instant.

Rows come in any order and in any batches; those that are late are within RETAIN. After each push
the relation is that of the watermark, computed from all rows so far.

    ISTREAM    what is in the relation and was not before
    DSTREAM    what was in it and is not any more
    RSTREAM    what is in it at each of its instants up to the watermark, so far
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import SECOND
from sqlwin.sql import script
from tests.properties.deliveries import START
from tests.properties.duck import connection
from tests.properties.hosts import Host, answering_hosts
from tests.properties.relation_feeds import (
    DELAY,
    STREAM,
    Answers,
    Push,
    emitted,
    rows_of,
    table,
)

FAR = 10_000
PUSHES = st.lists(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 3), st.integers(0, 25)),
        min_size=1,
        max_size=5,
    ),
    min_size=1,
    max_size=6,
)


def batch(text: str, pushes: list[Push]) -> list[Answers]:
    """DuckDB's answer after each push; `{w}` in the text is the watermark in seconds."""
    con, out = connection(), []
    for upto in [*range(len(pushes) + 1)]:
        rows = [row for push in pushes[: upto + 1] for row in push]
        watermark = FAR if upto == len(pushes) else max(ts for _, _, ts in rows) - DELAY
        con.register("s", table(rows))
        out.append(Counter(con.sql(text.format(w=watermark)).fetchall()))
        con.unregister("s")  # others have a view of that name
    return out


def came(relations: list[Answers]) -> list[Answers]:
    return [now - was for was, now in _steps(relations)]


def gone(relations: list[Answers]) -> list[Answers]:
    return [was - now for was, now in _steps(relations)]


def _steps(relations: list[Answers]) -> list[tuple[Answers, Answers]]:
    return list(zip([Counter(), *relations], relations, strict=False))


OF: dict[str, Callable[[list[Answers]], list[Answers]]] = {"ISTREAM": came, "DSTREAM": gone}
RETAIN = "RETAIN 1 HOUR"


@given(PUSHES, answering_hosts(), st.sampled_from(list(OF)), st.integers(0, 9))
def test_counts_of_a_window_of_time(pushes: list[Push], host: Host, word: str, size: int) -> None:
    window = f"(SELECT * FROM s [RANGE {size} SECONDS] {RETAIN})"
    text = f"{word}(SELECT k, COUNT(*) AS n, SUM(v) AS t FROM {window} GROUP BY k)"
    there = f"FROM s WHERE ts BETWEEN {{w}} - {size} AND {{w}}"
    relations = batch(f"SELECT k, COUNT(*), SUM(v) {there} GROUP BY k", pushes)
    assert emitted(text, pushes, host) == OF[word](relations)


@given(PUSHES, answering_hosts(), st.sampled_from(list(OF)), st.integers(1, 4), st.booleans())
def test_last_rows(pushes: list[Push], host: Host, word: str, n: int, keyed: bool) -> None:
    """Every message is an instant."""
    ones = [[row] for push in pushes for row in push]
    by = "PARTITION BY k" if keyed else ""
    last = f"QUALIFY ROW_NUMBER() OVER ({by} ORDER BY id DESC) <= {n}"
    relations = batch(f"SELECT id, v FROM s {last}", ones)
    text = f"{word}(SELECT id, v FROM s [{by} ROWS {n}])"
    expected = sum(OF[word](relations), Counter())
    assert sum(emitted(text, pushes, host), Counter()) == expected


@given(PUSHES, answering_hosts(), st.integers(1, 4), st.booleans())
def test_aggregates_of_last_rows(pushes: list[Push], host: Host, n: int, keyed: bool) -> None:
    """Of all groups, at each message."""
    ones = [[row] for push in pushes for row in push]
    by = "PARTITION BY k" if keyed else ""
    last = f"SELECT * FROM s QUALIFY ROW_NUMBER() OVER ({by} ORDER BY id DESC) <= {n}"
    query = "SELECT v, COUNT(*) AS n, MAX(k) AS k FROM {rows} WHERE v >= 1 GROUP BY v"
    *relations, _ = batch(query.format(rows=f"({last})"), ones)
    text = f"RSTREAM({query.format(rows=f's [{by} ROWS {n}]')})"
    assert sum(emitted(text, pushes, host), Counter()) == sum(relations, Counter())


@given(PUSHES, answering_hosts(), st.integers(1, 9), st.integers(0, 3))
def test_rows_at_each_change(pushes: list[Push], host: Host, size: int, least: int) -> None:
    text = f"RSTREAM(SELECT id FROM s [RANGE {size} SECONDS] WHERE v >= {least} {RETAIN})"
    micros = size * SECOND
    answer = f"""
        WITH r AS (SELECT *, ts * {SECOND} AS us FROM s),
        instants AS (SELECT us AS t FROM r UNION SELECT us + {micros + 1} FROM r)
        SELECT id FROM instants JOIN r ON us BETWEEN t - {micros} AND t
        WHERE t <= {{w}}::BIGINT * {SECOND} AND v >= {least}"""
    assert emitted(text, pushes, host) == came(batch(answer, pushes))


@given(PUSHES, answering_hosts(), st.integers(1, 4), st.integers(1, 3))
def test_rows_at_each_slide(pushes: list[Push], host: Host, slide: int, times: int) -> None:
    size = slide * times
    window = f"[RANGE {size} SECONDS SLIDE {slide} SECONDS]"
    text = f"RSTREAM(SELECT id FROM s {window} EMIT LATE ON UPDATE {RETAIN})"
    answer = f"""
        SELECT id FROM s JOIN range(0, 60, {slide}) m(t) ON ts >= t - {size} AND ts < t
        WHERE t <= {{w}}"""
    assert emitted(text, pushes, host) == came(batch(answer, pushes))


@given(PUSHES, answering_hosts())
def test_rows_of_each_instant(pushes: list[Push], host: Host) -> None:
    text = f"RSTREAM(SELECT id FROM s [NOW] {RETAIN})"
    assert emitted(text, pushes, host) == came(batch("SELECT id FROM s WHERE ts <= {w}", pushes))


@given(PUSHES, answering_hosts(), st.booleans())
def test_distinct_rows_are_emitted_once(pushes: list[Push], host: Host, union: bool) -> None:
    query = "SELECT k, v FROM s UNION SELECT k, id % 3 FROM s"
    text = query if union else "SELECT DISTINCT k, v FROM s EMIT EARLY ON UPDATE"
    answer = query if union else "SELECT DISTINCT k, v FROM s"
    assert emitted(text, pushes, host) == came(batch(answer, pushes))


INSTANTS = f"""
    WITH r AS (SELECT *, ts * {SECOND} AS us FROM s),
    instants AS (SELECT us AS t FROM r UNION SELECT us + {{after}} FROM r)"""
AT = f"UNIX_MICROS(window_end) - {START} AS t"
LATE = f"EMIT LATE ON UPDATE {RETAIN}"
KEYED = "SELECT k, {at}, COUNT(*) AS n, SUM(v) AS m FROM {rows} WHERE v >= 1 GROUP BY k {late}"


@given(PUSHES, answering_hosts(), st.integers(1, 9), st.booleans())
def test_aggregates_at_each_change(pushes: list[Push], host: Host, size: int, nested: bool) -> None:
    """A late row corrects those of the instants that hold it: they come again."""
    window = f"s [RANGE {size} SECONDS]"
    rows = f"(SELECT * FROM {window} {RETAIN}) r" if nested else window
    text = f"RSTREAM({KEYED.format(at=AT, rows=rows, late=LATE)})"
    micros = size * SECOND
    answer = f"""{INSTANTS.format(after=micros + 1)}
        SELECT k, t, COUNT(*), SUM(v) FROM instants JOIN r ON us BETWEEN t - {micros} AND t
        WHERE t < {{w}}::BIGINT * {SECOND} AND v >= 1 GROUP BY k, t"""
    assert emitted(text, pushes, host) == came(batch(answer, pushes))


PAIRS = f"""
    WITH p AS (
        SELECT a.id AS x, b.id AS y, greatest(a.ts, b.ts) * {SECOND} AS lo,
            least(a.ts + {{one}}, b.ts + {{other}}) * {SECOND} + 1 AS hi
        FROM s a, s b
        WHERE a.k = b.k AND a.v >= b.v AND a.ts - b.ts <= {{other}} AND b.ts - a.ts <= {{one}}),
    instants AS (SELECT lo AS t FROM p UNION SELECT hi FROM p)"""
JOINED = "s a [RANGE {one} SECONDS], s b [RANGE {other} SECONDS] WHERE a.k = b.k AND a.v >= b.v"


@given(PUSHES, answering_hosts(), st.integers(0, 5), st.integers(0, 5))
def test_pairs_at_each_change(pushes: list[Push], host: Host, one: int, other: int) -> None:
    sizes = {"one": one, "other": other}
    text = f"RSTREAM(SELECT a.id AS x, b.id AS y FROM {JOINED.format(**sizes)} {RETAIN})"
    answer = f"""{PAIRS.format(**sizes)}
        SELECT x, y FROM instants JOIN p ON lo <= t AND t < hi
        WHERE t <= {{w}}::BIGINT * {SECOND}"""
    assert emitted(text, pushes, host) == came(batch(answer, pushes))


@given(PUSHES, answering_hosts(), st.integers(0, 5), st.integers(0, 5))
def test_aggregates_of_pairs(pushes: list[Push], host: Host, one: int, other: int) -> None:
    sizes = {"one": one, "other": other}
    query = f"SELECT a.k, {AT}, COUNT(*) AS n FROM {JOINED.format(**sizes)} GROUP BY a.k {LATE}"
    answer = f"""{PAIRS.format(**sizes)}
        SELECT k, t, COUNT(*) FROM instants JOIN p ON lo <= t AND t < hi JOIN s ON s.id = x
        WHERE t < {{w}}::BIGINT * {SECOND} GROUP BY k, t"""
    assert emitted(f"RSTREAM({query})", pushes, host) == came(batch(answer, pushes))


@given(PUSHES, answering_hosts(), st.tuples(*[st.integers(0, 5)] * 3), st.booleans())
def test_rows_of_three_inputs(
    pushes: list[Push], host: Host, sizes: tuple[int, int, int], grouped: bool
) -> None:
    """They are there from the last of their three instants to the first end of a window."""
    inputs = ", ".join(
        f"s {n} [RANGE {size} SECONDS]" for n, size in zip("abc", sizes, strict=True)
    )
    where = "a.k = b.k AND b.k = c.k AND a.v >= c.v"
    rows = f"SELECT a.id AS x, b.id AS y, c.id AS z FROM {inputs} WHERE {where}"
    groups = f"SELECT a.k, {AT}, COUNT(*) AS n FROM {inputs} WHERE {where} GROUP BY a.k {LATE}"
    last = ", ".join(f"{n}.ts + {size}" for n, size in zip("abc", sizes, strict=True))
    found = "k, t, COUNT(*)" if grouped else "x, y, z"
    answer = f"""
        WITH p AS (
            SELECT a.k, a.id AS x, b.id AS y, c.id AS z,
                greatest(a.ts, b.ts, c.ts) * {SECOND} AS lo,
                least({last}) * {SECOND} + 1 AS hi
            FROM s a, s b, s c WHERE {where}),
        there AS (FROM p WHERE lo < hi),
        instants AS (SELECT lo AS t FROM there UNION SELECT hi FROM there)
        SELECT {found} FROM instants JOIN there ON lo <= t AND t < hi {"GROUP BY k, t" * grouped}"""
    text = f"RSTREAM({groups})" if grouped else f"RSTREAM({rows} {RETAIN})"
    emissions = sum(emitted(text, pushes, host), Counter())
    found_last = batch(answer, pushes)[-1]
    assert found_last <= emissions if grouped else emissions == found_last


@given(PUSHES, answering_hosts(), st.integers(1, 9), st.integers(0, 2))
def test_aggregates_of_aggregates(pushes: list[Push], host: Host, size: int, least: int) -> None:
    """The last revision of each instant is over the groups that it has in the end."""
    groups = f"SELECT k, COUNT(*) AS n FROM s [RANGE {size} SECONDS] GROUP BY k {LATE}"
    text = (
        f"RSTREAM(SELECT {AT}, MAX(n) AS m, COUNT(*) AS c FROM ({groups}) WHERE n > {least} {LATE})"
    )
    micros = size * SECOND
    answer = f"""{INSTANTS.format(after=micros + 1)},
        g AS (SELECT k, t, COUNT(*) AS n FROM instants JOIN r ON us BETWEEN t - {micros} AND t
            GROUP BY k, t)
        SELECT t, MAX(n), COUNT(*) FROM g WHERE n > {least} GROUP BY t"""
    runs, out, first = host(script(STREAM + text)), [], 0
    for push in pushes:
        query = next(runs)
        query.push("s", rows_of(push, first))
        first += len(push)
        out += query.results().to_pylist()
    query = next(runs)
    query.drain()
    last = {
        row["t"]: (row["t"], row["m"], row["c"]) for row in [*out, *query.results().to_pylist()]
    }
    assert Counter(last.values()) == batch(answer, pushes)[-1]
