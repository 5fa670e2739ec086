"""JSON_VALUE, JSON_QUERY, JSON_EXISTS and IS JSON: the examples of Flink's manual, and more."""

from __future__ import annotations

import sys
from typing import Any

import pyarrow as pa
import pytest

from sqlwin.functions.json import documents
from sqlwin.functions.json.sql_path import parsed
from sqlwin.sandbox.running import Failed
from sqlwin.sql.expressions.compile.compiler import Uncompiled
from tests.functions.evaluating import type_of, value

OF_THE_MANUAL: list[tuple[str, Any]] = [
    ("""JSON_VALUE('{"a": true}', '$.a')""", "true"),
    ("""JSON_VALUE('{"a": true}', '$.a' RETURNING BOOLEAN)""", True),
    ("""JSON_VALUE('{"a": true}', 'lax $.b' DEFAULT FALSE ON EMPTY)""", "false"),
    ("""JSON_VALUE('{"a": true}', 'strict $.b' DEFAULT FALSE ON ERROR)""", "false"),
    ("""JSON_VALUE('{"a.b": [0.998,0.996]}','$.["a.b"][0]' RETURNING DOUBLE)""", 0.998),
    (
        """JSON_VALUE('{"contains blank": "right"}', 'strict $.[''contains blank'']'
        NULL ON EMPTY DEFAULT 'wrong' ON ERROR)""",
        "right",
    ),
    ("""JSON_QUERY('{ "a": { "b": 1 } }', '$.a')""", '{"b":1}'),
    ("JSON_QUERY('[1, 2]', '$')", "[1,2]"),
    ("JSON_QUERY(CAST(NULL AS STRING), '$')", None),
    ("""JSON_QUERY('{"a":[{"c":"c1"},{"c":"c2"}]}', 'lax $.a[*].c')""", '["c1","c2"]'),
    ("JSON_QUERY('{}', '$' WITH CONDITIONAL ARRAY WRAPPER)", "[{}]"),
    ("JSON_QUERY('[1, 2]', '$' WITH CONDITIONAL ARRAY WRAPPER)", "[1,2]"),
    ("JSON_QUERY('[1, 2]', '$' WITH UNCONDITIONAL ARRAY WRAPPER)", "[[1,2]]"),
    ("JSON_QUERY(1, '$')", None),
    ("JSON_QUERY(1, '$' WITH CONDITIONAL ARRAY WRAPPER)", "[1]"),
    ("JSON_QUERY('{}', 'lax $.invalid' EMPTY OBJECT ON EMPTY)", "{}"),
    ("JSON_QUERY('{}', 'strict $.invalid' EMPTY ARRAY ON ERROR)", "[]"),
    ("""JSON_EXISTS('{"a": true}', '$.a')""", True),
    ("""JSON_EXISTS('{"a": true}', '$.b')""", False),
    ("""JSON_EXISTS('{"a": [{ "b": 1 }]}', '$.a[0].b')""", True),
    ("""JSON_EXISTS('{"a": true}', 'strict $.b' TRUE ON ERROR)""", True),
    ("""JSON_EXISTS('{"a": true}', 'strict $.b' FALSE ON ERROR)""", False),
    ("'1' IS JSON AND '[]' IS JSON AND '{}' IS JSON AND '\"abc\"' IS JSON", True),
    ("'abc' IS JSON OR NULL IS JSON", False),
    ("'1' IS JSON SCALAR AND '[]' IS JSON ARRAY AND '{}' IS JSON OBJECT", True),
    ("'1' IS JSON ARRAY OR '1' IS JSON OBJECT OR '{}' IS JSON SCALAR OR '{}' IS JSON ARRAY", False),
]


@pytest.mark.parametrize(("text", "expected"), OF_THE_MANUAL)
def test_of_the_manual(text: str, expected: Any) -> None:
    assert value(text) == expected


GIVEN: list[tuple[str, Any]] = [
    # nothing is an error of a strict path, and empty for a lax one
    ("""JSON_VALUE('{"a": 1}', '$.b' DEFAULT 'e' ON EMPTY DEFAULT 'r' ON ERROR)""", "r"),
    ("""JSON_VALUE('{"a": 1}', 'lax $.b' DEFAULT 'r' ON ERROR DEFAULT 'e' ON EMPTY)""", "e"),
    ("""JSON_VALUE('{"a": null}', '$.a' DEFAULT 'e' ON EMPTY DEFAULT 'r' ON ERROR)""", "e"),
    ("""JSON_VALUE('{"a": [1]}', '$.a' DEFAULT 'e' ON EMPTY DEFAULT 'r' ON ERROR)""", "r"),
    ("""JSON_VALUE('{"a": [1]}', 'LAX $.a' DEFAULT 'e' ON EMPTY DEFAULT 'r' ON ERROR)""", "e"),
    ("JSON_VALUE('{', 'lax $' DEFAULT 'e' ON EMPTY DEFAULT 'r' ON ERROR)", "r"),
    ("JSON_VALUE(CAST(NULL AS STRING), '$' DEFAULT 'e' ON EMPTY DEFAULT 'r' ON ERROR)", None),
    ("""JSON_VALUE('{"a": "x"}', '$.a' RETURNING INT)""", None),
    ("""JSON_VALUE('{"a": "x"}', '$.a' RETURNING INT DEFAULT -1 ON ERROR)""", -1),
    ("""JSON_VALUE('{"a": "7"}', '$.a' RETURNING INT DEFAULT -1 ON ERROR)""", 7),
    ("""JSON_VALUE('{"a": 1.50}', '$.a')""", "1.50"),
    ("""JSON_VALUE('{"a": 123456789012345678901234567890}', '$.a')""", "1234567890" * 3),
    ("""JSON_VALUE('{"a": "é\\\\u00e9\\\\ud83d\\\\ude00\\\\ud800"}', '$.a')""", "éé😀?"),
    ("""JSON_VALUE('{"a": 1, "a": 2}', '$.a')""", "2"),
    ("""JSON_VALUE(' {"a" : 1} ', ' $ . a ')""", "1"),
    ("""JSON_QUERY('{"a": [{"b": 1}, {"c": 2}, {"b": [1.0]}]}', '$.a[*].b')""", "[1,[1.0]]"),
    ("""JSON_QUERY('{"a": {"b": 1, "c": {}}}', '$.a.*')""", "[1,{}]"),
    ("""JSON_QUERY('{"a": []}', '$.a[*].b' EMPTY OBJECT ON ERROR)""", "[]"),
    ("""JSON_QUERY('{"a": 1}', '$.a[*]' EMPTY OBJECT ON ERROR)""", "{}"),
    ("""JSON_QUERY('{"a": 1}', 'lax $.a[*]' EMPTY ON EMPTY)""", "[]"),
    ("""JSON_QUERY('{"a": 1}', '$.a' WITH WRAPPER)""", "[1]"),
    ("""JSON_QUERY('{"a": 1}', '$.a' WITHOUT ARRAY WRAPPER)""", None),
    ("""JSON_QUERY('{"a": 1}', '$' RETURNING STRING WITHOUT WRAPPER)""", '{"a":1}'),
    ("""JSON_EXISTS('{"a": null}', '$.a')""", False),
    ("""JSON_EXISTS('{"a": []}', '$.a[*]')""", False),
    ("""JSON_EXISTS('{"a": [0]}', '$.a[*]')""", True),
    ("JSON_EXISTS('{', '$.a' UNKNOWN ON ERROR)", None),
    ("JSON_EXISTS(NULL, '$.a' TRUE ON ERROR)", None),
    ("NULL IS NOT JSON", True),
    ("'{} {}' IS JSON OR '{''a'': 1}' IS JSON OR 'NaN' IS JSON OR '01' IS JSON", False),
    ("'x' IS NOT JSON AND '{}' IS NOT JSON ARRAY", True),
    ("""JSON_LENGTH('{"a": [1, 2]}')""", 1),
    ("""JSON_LENGTH('{"a": [1, 2]}', '$.a')""", 2),
    ("JSON_LENGTH('7')", 1),
    ("JSON_LENGTH('x')", None),
]


@pytest.mark.parametrize(("text", "expected"), GIVEN)
def test_given(text: str, expected: Any) -> None:
    assert value(text) == expected


FAILING = [
    ("""JSON_VALUE('{"a": 1}', '$.b' ERROR ON ERROR)""", "[JSON_PATH_ERROR] $.b: there is no 'b'"),
    ("JSON_VALUE('{', '$' ERROR ON ERROR)", "[INVALID_JSON] no JSON: {"),
    ("JSON_VALUE('{}', 'lax $.a' ERROR ON EMPTY)", "[JSON_PATH_EMPTY] lax $.a finds nothing"),
    ("JSON_VALUE('{}', '$' ERROR ON ERROR)", "[JSON_PATH_ERROR] $ finds an array or object"),
    ("JSON_VALUE('\"x\"', '$' RETURNING INT ERROR ON ERROR)", "[CAST_INVALID_INPUT]"),
    ("JSON_VALUE('{', '$' DEFAULT 'x' ON EMPTY ERROR ON ERROR)", "[INVALID_JSON]"),
    ("JSON_QUERY('1', '$' ERROR ON ERROR)", "[JSON_PATH_ERROR] $ finds a scalar"),
    ("JSON_QUERY('null', '$' ERROR ON EMPTY)", "[JSON_PATH_EMPTY]"),
    ("JSON_EXISTS('{}', '$.a' ERROR ON ERROR)", "[JSON_PATH_ERROR]"),
]


@pytest.mark.parametrize(("text", "reason"), FAILING)
def test_failing(text: str, reason: str) -> None:
    with pytest.raises(Failed) as failed:
        value(text)
    assert str(failed.value).startswith(reason)


REFUSED = [
    ("JSON_VALUE('{}', 'a')", "'a' is no path of JSON"),
    ("JSON_VALUE('{}', '$..a')", "'$..a' is no path of JSON"),
    ("JSON_EXISTS('{}', '$.a[last]' TRUE ON ERROR)", "'$.a[last]' is no path of JSON"),
    ("JSON_QUERY('{}', '$.a ? (@ > 1)')", "is no path of JSON"),
    ("JSON_VALUE('{}', '$' RETURNING ARRAY<INT>)", "JSON_VALUE returns a scalar"),
    ("JSON_VALUE(ARRAY(1), '$')", "json_value does not take ARRAY"),
    ("'{}' IS JSON OBJECT WITH UNIQUE KEYS", "IS JSON does not look for keys"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_refused(text: str, reason: str) -> None:
    with pytest.raises(Uncompiled) as refused:
        value(text)
    assert reason.lower() in str(refused.value).lower()


def test_types() -> None:
    rows = pa.table({"s": ["{}"]})
    typed = "JSON_VALUE(s, '$' RETURNING DECIMAL(5, 2) DEFAULT 0 ON EMPTY)"
    assert type_of(typed, rows) == "decimal(5,2)"
    assert type_of("JSON_EXISTS(s, '$')", rows) == "boolean"


def test_depth_is_the_same_however_deep_the_caller_is() -> None:
    deepest = documents.DEEPEST
    whole = "[" * deepest + "]" * deepest
    objects = '{"a":' * deepest + "1" + "}" * deepest

    def at(depth: int) -> bool:
        if depth:
            return at(depth - 1)
        return value(f"'{whole}' IS JSON") and not value(f"'[{whole}]' IS JSON")

    assert at(0)
    frames = len([*_frames()])
    assert at(sys.getrecursionlimit() - frames - 150)
    assert value(f"JSON_QUERY('{whole}', '$')") == whole
    assert value(f"JSON_QUERY('{objects}', '$')") == objects


def _frames() -> Any:
    frame = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("$", ()),
        ("$.a['b c'].\"d.e\"[0]", ("a", "b c", "d.e", 0)),
        (r"$['it\'s']", ("it's",)),
        ("strict $.ä", ("ä",)),
    ],
)
def test_paths(text: str, steps: tuple[Any, ...]) -> None:
    path = parsed(text)
    assert path is not None
    assert path.steps == steps


@pytest.mark.parametrize("text", ["", "a", "$a", "$.", "$[", "$[-1]", "$.a b", "lax", "$..a"])
def test_no_paths(text: str) -> None:
    assert parsed(text) is None
