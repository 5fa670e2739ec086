"""The difference that keeps a query from going on from another's state, in words."""

from __future__ import annotations

import pytest

from sqlwin.plan.resume.compatibility import why_not
from sqlwin.sql import script

STREAM = """CREATE STREAM s (
  id BIGINT, k STRING, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts{offset});
"""
COUNTS = """SELECT COUNT(*) AS n FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE)
GROUP BY {keys}window_start, window_end"""
JOIN = """RSTREAM(SELECT a.id, b.id AS other FROM s a [{left}]
  LEFT JOIN s b [RANGE 2 SECONDS] ON a.k = b.k{rest})"""


def why(was: str, now: str, *offsets: str) -> str | None:
    one, other = offsets or ("", "")
    texts = STREAM.format(offset=one) + was, STREAM.format(offset=other) + now
    old, new = (script(text).queries[0] for text in texts)
    return why_not(old, new)


def counts(*keys: str) -> str:
    return COUNTS.format(keys="".join(f"{key}, " for key in keys))


def join(left: str, rest: str = "") -> str:
    return JOIN.format(left=left, rest=rest)


def test_offsets() -> None:
    declared = ", OFFSET id"
    assert why(counts(), counts(), "", declared) == "the offset of the stream s was none, is id"
    assert why(counts(), counts(), declared, "") == "the offset of the stream s was id, is none"


def test_options() -> None:
    read = STREAM.format(offset="")[:-2] + " WITH (connector = 'kafka', {});\n" + counts()
    old, new = (
        script(read.format(f"servers = 'a:1', topic = {topic!r}")).queries[0] for topic in "st"
    )
    assert why_not(old, new) == (
        "the options of the stream s were connector = 'kafka', topic = 's', "
        "are connector = 'kafka', topic = 't'"
    )


def test_two_keys() -> None:
    assert why(counts("k"), counts("k", "v")) == "the keys were k, are k, v"
    assert why(counts("k", "v"), counts("v", "id")) == "the keys were k, v, are v, id"


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        (
            "RANGE 4 SECONDS",
            "RANGE 4 SECONDS SLIDE 2 SECONDS",
            "the slide of the match was none, is 2 seconds",
        ),
        ("ROWS 4 SLIDE 2", "ROWS 4 SLIDE 3", "the slide of the match was 2, is 3"),
        ("ROWS 4", "ROWS 4 SLIDE 3", "the slide of the match was none, is 3"),
        ("ROWS 4", "ROWS 5", "the rows of the match were 4, are 5"),
    ],
)
def test_windows_of_a_join_at_each_instant(was: str, now: str, words: str) -> None:
    assert why(join(was), join(now)) == words


def test_conditions_of_a_join() -> None:
    one, more, other = (join("ROWS 4", rest) for rest in ("", " AND a.v = b.v", " AND a.v > b.v"))
    assert why(one, more) == "the keys of the left below were a.k, are a.k, a.v"
    assert why(one, other) == "the condition of the join below was none, is `a.v` > `b.v`"
