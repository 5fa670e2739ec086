"""The arrows of JSON and functions like them give what PostgreSQL and DuckDB give."""

from __future__ import annotations

import json
from decimal import Decimal
from itertools import product
from typing import Any

import duckdb
import psycopg
import pytest

from sqlwin.functions.json import operators
from sqlwin.sandbox.running import Failed
from sqlwin.sql.expressions.compile.compiler import Uncompiled
from tests.functions.evaluating import value
from tests.support.postgres import running

TEXTS = (
    *('{"a": 1.50, "b": {"a": [1, "x", null]}, "": "empty", "0": "zero"}', '["x", {"a": true}]'),
    *("[]", "{}", "null", '"a"', "7", "true", '{"a": null}', '{"a": 1, "a": 2}', "[[1, 2], [3]]"),
    '{"a": "é\\u00e9\\ud83d\\ude00\\n", "é": 12345678901234567890.12345678901234567890}',
)
NAMES = ("a", "b", "", "0", "é", "A", "-1")
INDEXES = (0, 1, 2, -1, -2, -3)
PATHS = (
    ("b", "a", "1"),
    ("0",),
    ("1", "a"),
    ("-1", "0"),
    (" 1", "+1"),
    ("a", "a"),
    ("b", "a", "2"),
)
DUCKDB_PATHS = ("$.a", "$.b.a[1]", "$[0]", "/b/a/0", "/0", "a", "$.b.a", "/a/x", "$")


def test_as_in_postgresql() -> None:
    with running() as server, psycopg.connect(server.url) as db:
        for name, (as_json, as_text) in _ours().items():
            steps: Any = {"name": NAMES, "index": INDEXES, "path": PATHS}[name]
            for text, step in product(TEXTS, steps):
                given = list(step) if name == "path" else step
                signs = ("#>", "#>>") if name == "path" else ("->", "->>")
                # a jsonb that is a scalar is an array of one to an index, which is a quirk
                asked = ", ".join(f"(%(t)s::json {sign} %(s)s)::text" for sign in signs)
                theirs = db.execute(f"SELECT {asked}", {"t": text, "s": given}).fetchone()
                ours = (as_json(text, given), as_text(text, given))
                assert list(map(_read, ours)) == list(map(_read, theirs or ())), (text, given)


def _ours() -> dict[str, tuple[Any, Any]]:
    return {
        "name": (operators.stepped, operators.stepped_text),
        "index": (operators.indexed, operators.indexed_text),
        "path": (operators.taken, operators.as_text),
    }


def test_as_in_duckdb() -> None:
    connection = duckdb.connect()
    for text, path in product(TEXTS, DUCKDB_PATHS):
        if "123456" in text or '"a": 2' in text:
            continue  # DuckDB rounds long numbers, and takes the first of two
        asked = "SELECT json_extract($1, $2)::VARCHAR, json_extract_string($1, $2)"
        theirs = connection.execute(asked, [text, path]).fetchone()
        ours = (operators.extracted(text, path), operators.extracted_text(text, path))
        assert list(map(_read, ours)) == list(map(_read, theirs or ())), (text, path)


def _read(text: str | None) -> Any:
    """Whatever its spaces are."""
    try:
        return text and ("json", json.loads(text, parse_float=Decimal))
    except ValueError:
        return text


GIVEN: list[tuple[str, Any]] = [
    ("""'{"a": [1, "x"]}' -> 'a' -> -1""", '"x"'),
    ("""'{"a": [1, "x"]}'->'a'->>1 = 'x'""", True),
    ("""'{"a": {"b": 5}}' -> '$.a.b'""", "5"),
    ("""'{"a": 5}' -> ('a' || '')""", "5"),
    ("""'{"a": 5}' -> concat('a', '')""", "5"),
    ("""'z' || '{"a": 5}' ->> 'a' || 'y'""", "z5y"),
    ("""-('{"a": 5}' ->> 'a')::INT + 1""", -4),
    ("""'{"a": [5, 6]}' #>> '{a, "1"}'""", "6"),
    ("""'{"a": [5, 6]}' #> ARRAY('a', '1')""", "6"),
    ("""'{"a": [5, 6]}' #> '{}'""", '{"a":[5,6]}'),
    ("""'{"a": [5, 6]}' #> ARRAY('a', NULL)""", None),
    ("""TRANSFORM(ARRAY('{"a": {"b": 1}}'), x -> x -> 'a' ->> 'b')""", ["1"]),
    ("TRANSFORM(ARRAY(1), x -> 'a')", ["a"]),
    ("""AGGREGATE(ARRAY('{"v": 2}'), 1, (s, x) -> s + (x ->> 'v')::INT)""", 3),
    ("CAST(NULL AS STRING) -> 'a'", None),
    ("""'{"a": 1}' -> CAST(NULL AS STRING)""", None),
    ("""JSONB_EXTRACT_PATH('{"a": {"b": "c"}}', 'a', 'b')""", '"c"'),
    ("""JSON_EXTRACT_PATH_TEXT('{"a": {"b": "c"}}', 'a', 'b')""", "c"),
    ("""JSON_EXTRACT('{"a": {"b": "c"}}', '/a/b')""", '"c"'),
    ("JSON_EXTRACT_STRING('[7, \"x\"]', 1)", "x"),
]


@pytest.mark.parametrize(("text", "expected"), GIVEN)
def test_given(text: str, expected: Any) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    "text", ["'{' -> 'a'", "'' ->> 0", "'x' #> '{}'", "JSON_EXTRACT('x', '$')", "'{}x' -> 'a'"]
)
def test_what_is_no_json_fails(text: str) -> None:
    with pytest.raises(Failed, match=r"\[INVALID_JSON\]"):
        value(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("5 -> 'a'", "-> does not take INT, STRING"),
        ("'{}' #> 'a,b'", "'a,b' is no array of steps"),
        ("'{}' -> 1.5", "-> does not take STRING, DECIMAL"),
    ],
)
def test_refused(text: str, reason: str) -> None:
    with pytest.raises(Uncompiled) as refused:
        value(text)
    assert str(refused.value).startswith(reason)
