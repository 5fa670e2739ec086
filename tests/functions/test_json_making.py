"""JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_QUOTE and JSON_UNQUOTE: Flink's examples, and more."""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot.errors import ParseError

from sqlwin.sql.expressions.compile.compiler import Uncompiled
from tests.functions.evaluating import value

OF_THE_MANUAL: list[tuple[str, Any]] = [
    ("JSON_OBJECT()", "{}"),
    ("JSON_OBJECT('K1' VALUE 'V1', 'K2' VALUE 'V2')", '{"K1":"V1","K2":"V2"}'),
    ("JSON_OBJECT(KEY 'K1' VALUE CAST(NULL AS STRING) NULL ON NULL)", '{"K1":null}'),
    ("JSON_OBJECT(KEY 'K1' VALUE CAST(NULL AS STRING) ABSENT ON NULL)", "{}"),
    (
        "JSON_OBJECT(KEY 'K1' VALUE JSON_OBJECT(KEY 'K2' VALUE 'V'))",
        '{"K1":{"K2":"V"}}',
    ),
    ("JSON_ARRAY()", "[]"),
    ("JSON_ARRAY(1, '2')", '[1,"2"]'),
    ("JSON_ARRAY(CAST(NULL AS STRING) NULL ON NULL)", "[null]"),
    ("JSON_ARRAY(CAST(NULL AS STRING) ABSENT ON NULL)", "[]"),
    ("JSON_ARRAY(JSON_ARRAY(1))", "[[1]]"),
    ("JSON_STRING(CAST(NULL AS INT))", None),
    ("JSON_STRING(1)", "1"),
    ("JSON_STRING(TRUE)", "true"),
    ("JSON_STRING('Hello, World!')", '"Hello, World!"'),
    ("JSON_STRING(ARRAY(1, 2))", "[1,2]"),
    ("JSON_QUOTE('SQL string')", '"SQL string"'),
    ("JSON_UNQUOTE('SQL string')", "SQL string"),
]
GIVEN: list[tuple[str, Any]] = [
    ("""JSON_OBJECT('it''s "x"' VALUE 1, 'n' VALUE NULL)""", """{"it's \\"x\\"":1,"n":null}"""),
    ("JSON_OBJECT('a', 1, 'b', ARRAY(NAMED_STRUCT('c', NULL)))", '{"a":1,"b":[{"c":null}]}'),
    ("JSON_OBJECT('a' VALUE (JSON_QUERY('{\"b\": 1}', '$')))", '{"a":{"b":1}}'),
    ("JSON_OBJECT('a' VALUE '{\"b\": [7]}' -> 'b')", '{"a":[7]}'),
    ("JSON_OBJECT('a' VALUE '{\"b\": \"x\"}' ->> 'b')", '{"a":"x"}'),
    ("JSON_ARRAY(NULL, 1.50, DATE '2024-01-31')", '[1.50,"2024-01-31"]'),
    ("JSON_BUILD_ARRAY(NULL, 1)", "[null,1]"),
    ("JSONB_BUILD_OBJECT('a', NULL)", '{"a":null}'),
    ("JSON_STRING(NAMED_STRUCT('a', NULL, 'b', 'x'))", '{"a":null,"b":"x"}'),
    ("JSON_STRING(INTERVAL '1' DAY)", "\"INTERVAL '1' DAY\""),
    ("JSON_QUOTE('\"\\\\/é')", '"\\"\\\\/é"'),
    ("JSON_UNQUOTE('\"\\\\u00e9\\\\n\"')", "é\n"),
    ('JSON_UNQUOTE(\'"a"b"\')', '"a"b"'),
    ("JSON_UNQUOTE('\"')", '"'),
    ("JSON_UNQUOTE(JSON_QUOTE('a \"b\"'))", 'a "b"'),
    ("JSON_QUOTE(NULL)", None),
]


@pytest.mark.parametrize(("text", "expected"), OF_THE_MANUAL + GIVEN)
def test_given(text: str, expected: Any) -> None:
    assert value(text) == expected


def test_keys_are_constants() -> None:
    with pytest.raises(Uncompiled, match="a key of JSON_OBJECT is a constant text"):
        value("JSON_OBJECT(UPPER('a') VALUE 1)")


@pytest.mark.parametrize(
    "text",
    ["JSON_OBJECT('a')", "JSON_OBJECT('a' VALUE 1, )", "JSON_ARRAY(1 NULL)", "JSON_ARRAY(1,)"],
)
def test_misread(text: str) -> None:
    with pytest.raises(ParseError, match=r"JSON_(OBJECT|ARRAY) takes"):
        value(text)
