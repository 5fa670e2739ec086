"""What `sqlwin fmt` writes means the same, keeps its comments, and is not changed again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sqlwin.errors import QueryError
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
  WATERMARK FOR ts AS ts - interval '1' hour
) WITH (path = 'flights.csv', format = 'csv'); -- that is all
SET buckets = 4;

CREATE VIEW late AS
SELECT f.origin, ts, CASE WHEN dep_delay>60 THEN 'very' ELSE 'a bit' end AS how
FROM flights f
WHERE dep_delay > :least AND NOT origin IN ('JFK', 'EWR') AND dep_delay BETWEEN 1 AND 9000000
-- and now
;
SELECT how, count(*) AS n
FROM tumble(TABLE late, DESCRIPTOR(ts), INTERVAL '5' minute)
GROUP BY how, window_start, window_end
EMIT EARLY EVERY 5 ROWS LATE ON UPDATE
RETAIN 1 day
-- the end
"""


def test_the_layout() -> None:
    assert formatted(UGLY) == PRETTY
    assert formatted(PRETTY) == PRETTY


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_a_query_means_the_same(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    _same(text, formatted(text))


@pytest.mark.parametrize("path", GOLDENS[::SOME], ids=lambda path: path.stem)
def test_a_golden_means_the_same(path: Path) -> None:
    _golden(path)


@pytest.mark.long
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
