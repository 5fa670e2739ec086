"""What `sqlwin fmt` writes means the same, keeps its comments, and is not changed again."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from sqlwin.errors import QueryError, SqlwinError
from sqlwin.formatting import layout
from sqlwin.formatting.expression_words import WORDS
from sqlwin.formatting.formatted import formatted
from sqlwin.sql import script
from sqlwin.testing.golden import Golden, load
from sqlwin.testing.opened import bound
from tests.golden.functions import FUNCTIONS

REPO = Path(__file__).parents[2]
QUERIES = sorted((REPO / "queries").rglob("*.sql"))
GOLDENS = sorted((REPO / "tests" / "golden").rglob("*.golden"))
SOME = 30
"""One golden of so many is laid out in each run of the tests; all of them in the long ones."""

UGLY = """
-- Departures of an hour.

create   stream flights ( -- as they land
  origin string,ts TIMESTAMP,
    /* minutes */ dep_delay int, watermark for ts as ts - interval '1' hour)
with (path='flights.csv',format = 'csv') ; -- that is all
set buckets=4;


create view late as select f . origin,ts,case when dep_delay>60 then 'very' else 'a bit' end as how
from flights f where dep_delay > :least and not origin in ('JFK', 'EWR') and
dep_delay between 1 and 9000000
-- and now
; select how, count(*) as n from tumble(table late, descriptor(ts), interval '5' minute)
group by how, window_start, window_end emit early every 5 rows late on update retain 1 day
-- the end
"""
PRETTY = """\
-- Departures of an hour.

CREATE STREAM flights ( -- as they land
  origin string,
  ts TIMESTAMP,
  /* minutes */
  dep_delay int,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH (path = 'flights.csv', format = 'csv'); -- that is all
SET buckets = 4;

CREATE VIEW late AS
SELECT f.origin, ts, CASE WHEN dep_delay>60 THEN 'very' ELSE 'a bit' END AS how
FROM flights f
WHERE dep_delay > :least AND NOT origin IN ('JFK', 'EWR') AND dep_delay BETWEEN 1 AND 9000000
-- and now
;
SELECT how, count(*) AS n
FROM tumble(TABLE late, DESCRIPTOR(ts), INTERVAL '5' MINUTE)
GROUP BY how, window_start, window_end
EMIT EARLY EVERY 5 ROWS LATE ON UPDATE
RETAIN 1 DAY
-- the end
"""


def test_the_layout() -> None:
    assert formatted(UGLY) == PRETTY
    assert formatted(PRETTY) == PRETTY


MATCHES = [
    (
        "s match_recognize (partition by one order by ts measures first(a.one) as s, "
        "final last(b.last) as as_ one row per match after match skip to last b "
        "pattern (a b+ one?) within interval '1' day subset u = (a, b) "
        "define b as b.one is not null, one as x in (1, 2))",
        "s MATCH_RECOGNIZE (PARTITION BY one ORDER BY ts MEASURES first(a.one) AS s, "
        "FINAL last(b.last) AS as_ ONE ROW PER MATCH AFTER MATCH SKIP TO LAST b "
        "PATTERN (a b+ one?) WITHIN INTERVAL '1' DAY SUBSET u = (a, b) "
        "DEFINE b AS b.one IS NOT NULL, one AS x IN (1, 2))",
    ),
    (
        "s match_recognize (order by ts all rows per match with unmatched rows "
        "after match skip past last row pattern (a) define a as true)",
        "s MATCH_RECOGNIZE (ORDER BY ts ALL ROWS PER MATCH WITH UNMATCHED ROWS "
        "AFTER MATCH SKIP PAST LAST ROW PATTERN (a) DEFINE a AS TRUE)",
    ),
]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        *MATCHES,
        (
            "q pivot (sum(v) as n for k in ('as' as a, null))",
            "q PIVOT (sum(v) AS n FOR k IN ('as' AS a, NULL))",
        ),
        ("q unpivot (v for k in (a, b as 'c'))", "q UNPIVOT (v FOR k IN (a, b AS 'c'))"),
        ("a join (b join c on a) on b", "a JOIN (b JOIN c ON a) ON b"),
        (
            "a where d > interval 1 day and day < ts - interval '1-2' year to month",
            "a WHERE d > INTERVAL 1 DAY AND day < ts - INTERVAL '1-2' YEAR TO MONTH",
        ),
        (
            "a where json_value(b, '$' returning int default empty on error) is not null and "
            "error is json object and json_query(value, '$' with conditional wrapper) = '[]'",
            "a WHERE json_value(b, '$' RETURNING int DEFAULT empty ON error) IS NOT NULL   AND "
            "error IS JSON OBJECT   AND json_query(value, '$' WITH CONDITIONAL WRAPPER) = '[]'",
        ),
        (
            "a where floor(ts to hour) = ts at time zone tz and json_array(p format json) = q",
            "a WHERE floor(ts TO HOUR) = ts AT TIME ZONE tz AND json_array(p FORMAT JSON) = q",
        ),
        ("a retain '1 day'", "a RETAIN '1 day'"),
    ],
)
def test_words_of_clauses(given: str, expected: str) -> None:
    assert (
        formatted(f"SELECT * FROM {given}").replace("\n", " ").strip()
        == f"SELECT * FROM {expected}"
    )


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_a_query_means_the_same(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    _same(text, formatted(text))


@pytest.mark.parametrize("path", GOLDENS[::SOME], ids=lambda path: path.stem)
def test_a_golden_means_the_same(path: Path) -> None:
    _golden(path)


@pytest.mark.long
def test_many_goldens_mean_the_same() -> None:
    for path in GOLDENS[::8]:
        _golden(path)


@pytest.mark.hours
def test_every_golden_means_the_same() -> None:
    for path in GOLDENS:
        _golden(path)


def _golden(path: Path) -> None:
    golden = load(path)
    try:
        before = bound(golden, FUNCTIONS)
    except QueryError:
        return  # it is one of a mistake
    made = formatted(golden.query)
    assert formatted(made) == made, path
    after = bound(_with(golden, made), FUNCTIONS)
    assert (after.statements, after.streams) == (before.statements, before.streams), path


def _with(golden: Golden, query: str) -> Golden:
    blocks = (
        replace(each, argument="", lines=tuple(query.split("\n"))) if each.kind == "query" else each
        for each in golden.blocks
    )
    return replace(golden, blocks=tuple(blocks))


def _same(before: str, after: str) -> None:
    params = dict.fromkeys(("servers", "url", "password"), "1")
    one, other = (script(text, params=params) for text in (before, after))
    assert (other.statements, other.streams, other.settings) == (
        *(one.statements, one.streams, one.settings),
    )
    assert formatted(after) == after


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-- nothing\n",
        ";",
        "SELECT a FROM s -- b",
        "SELECT a -- b\n, c FROM s",
        "SELECT 'a;\n b' FROM s",
    ],
)
def test_small_texts(text: str) -> None:
    made = formatted(text)
    assert formatted(made) == made


@pytest.mark.parametrize(
    "text",
    [
        "CREATE STREAM s (when TIMESTAMP, like INT, WATERMARK FOR when AS when);\n"
        "SELECT s.when, s.like\nFROM s",
        "SELECT case.a FROM 'case.csv' case",
        "SELECT is, in + 1 AS in FROM s WHERE is IS NOT NULL AND in IN (1, 2)",
        "SELECT a case, b null, named_struct('a', 1) AS else FROM s",
        "CREATE STREAM s (a STRUCT<case: INT, null: INT> NOT NULL)",
        "SELECT transform(xs, is -> is + 1) AS then FROM s",
        "SELECT a FROM s between WHERE between.a > 1 AND a < 2",
    ],
)
def test_a_name_that_is_a_keyword_elsewhere_stays_as_it_is(text: str) -> None:
    assert "".join(formatted(text).split()) == "".join(text.split())


def test_words_of_an_expression_that_nobody_can_read_stay_as_they_are() -> None:
    assert formatted("select (a is) or from s") == "SELECT (a is) or FROM s\n"


def test_the_check_sees_a_name_in_capitals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "keywords", lambda run, source: WORDS)
    with pytest.raises(SqlwinError, match="would change"):
        formatted("SELECT is FROM s")


@pytest.mark.parametrize(
    "text",
    ["SELECT\n  'a  \n b' AS c\nFROM s\n", "/* a  \n b */\nSELECT c FROM s\n"],
)
def test_blanks_within_a_text_or_a_comment_stay(text: str) -> None:
    assert formatted(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "select c1 from s1 order by c1 desc nulls last, c2 asc nulls first limit 3 offset 2",
        "select c1 from s1 order by c1 offset 2 rows fetch first 3 rows only",
        "select c1 from s1 order by c1 desc fetch next 1 row with ties",
        "select case when c1 is not null then interval '1 day' else c3 end as c2 from s1",
        "select c1 from s1 where not c1 like 'a' escape '/' or c2 rlike 'b' and c3 = true",
        "select f1(distinct c1) filter (where c1 > 1) as c2 from s1 group by c3",
        "select f1(1) within group (order by c1 desc) as c2 from s1",
        "select f1(c1 ignore nulls) over (partition by c2 order by c3 rows between unbounded "
        "preceding and current row exclude current row) as c4 from s1",
        "select f1(c1 order by c2 desc nulls first) as c4 from s1 qualify f2() over w1 <= 3",
        "select c1 from s1 union all by name select c1 from s2 except corresponding by (c1) "
        "select c1 from s3 intersect select c1 from s4",
        "create view v1 as with v2 as (select c1 from s1) select c1 from v2 emit early on update",
        "explain plan for select c1 from s1 left join s2 on s1.c1 = s2.c1 or s1.c2 between 1 and 2",
    ],
)
def test_every_keyword_is_in_capitals(text: str) -> None:
    bare = re.sub(r"'[^']*'", "", formatted(text))
    assert not [
        word for word in re.findall(r"[A-Za-z]\w*", bare) if word.islower() and word.isalpha()
    ]
    assert formatted(formatted(text)) == formatted(text)


def test_names_that_are_keywords_elsewhere_stay() -> None:
    text = "select first(a order by b desc) as last, end, filter from s order by end desc limit 3"
    assert formatted(text) == (
        "SELECT first(a ORDER BY b DESC) AS last, end, filter\nFROM s\nORDER BY end DESC\nLIMIT 3\n"
    )


PIPED = """from orders o|>where value>1 -- of some
and note='a'|>set a=1,b=a|>join pays p using (id)|>aggregate sum(value) as total,count(*) as n
group by product|>order by n desc|>limit 3 emit final"""
PIPES = """\
FROM orders o
|> WHERE value>1 -- of some
    AND note='a'
|> SET a=1, b=a
|> JOIN pays p USING (id)
|> AGGREGATE sum(value) AS total, count(*) AS n GROUP BY product
|> ORDER BY n DESC
|> LIMIT 3
EMIT FINAL
"""


def test_each_pipe_operator_begins_a_line() -> None:
    assert formatted(PIPED) == PIPES
    assert formatted(PIPES) == PIPES
