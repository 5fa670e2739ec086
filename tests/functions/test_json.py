"""JSON and CSV: values that Spark gives, what raises, what is refused."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from sqlwin.sandbox.running import Failed
from sqlwin.sql.expressions.compile.compiler import Uncompiled
from tests.functions.evaluating import type_of, value

PATHS = [
    ('{"a": "x"}', "$.a", "x"),
    ('{"a": ["x"]}', "$.a", '["x"]'),
    ('{"a": null}', "$.a", None),
    ('{"a": [null]}', "$.a[0]", "null"),
    ('{"a": 1.50}', "$.a", "1.5"),
    ('{"a": 1e400}', "$", '{"a":"Infinity"}'),
    ('{"a": [{"b": 1}, {"b": 2}]}', "$.a[*].b", "[1,2]"),
    ('{"a": [{"b": "x"}]}', "$.a[*].b", '"x"'),
    ("[[1, 2], [3, 4]]", "$[*][*]", "[1,2,3,4]"),
    ('{"a.b": 1}', "$[''a.b'']", "1"),
    ('{"a": "😀"}', "$", '{"a":"\\uD83D\\uDE00"}'),
    ('{"a": 1}} more', "$.a", "1"),
    ('{"a": 1, b}', "$.a", None),
    ('{"a": 01}', "$.a", None),
    ('{"a": 1}', "a", None),
    ('{"a": 1}', "$.*", None),
]


@pytest.mark.parametrize(("text", "path", "expected"), PATHS)
def test_path(text: str, path: str, expected: str | None) -> None:
    assert value(f"get_json_object('{text}', '{path}')".replace("\\", "\\\\")) == expected


GIVEN = [
    ("json_array_length('[1, [2, 3]] x')", 2),
    ("json_array_length('{}')", None),
    ("""json_object_keys('{"a": {"b": 1}, "c": 2}')""", ["a", "c"]),
    ("""to_json(struct(1 AS a, NULL AS b, 1e20D AS c))""", '{"a":1,"c":1.0E20}'),
    ("to_json(struct(NULL AS b), map('ignoreNullFields', 'false'))", '{"b":null}'),
    ("to_json(map('a', NULL))", '{"a":null}'),
    ("to_json(array(double('NaN'), 1D))", '["NaN",1.0]'),
    ("to_json(struct(0.00 AS d))", '{"d":0.00}'),
    ("to_json(struct(array(1, 2) AS a), map('pretty', 'true'))", '{\n  "a" : [ 1, 2 ]\n}'),
    ("""from_json('{"a": 1, "b": "x"}', 'a INT, b STRING')""", {"a": 1, "b": "x"}),
    ("""from_json('{"a": "1", "b": 2}', 'a INT, b STRING')""", {"a": None, "b": "2"}),
    ("""from_json('{"a": 1', 'a INT')""", {"a": None}),
    ("""from_json('', 'a INT')""", None),
    ("""from_json('{"a": 128}', 'a TINYINT')""", {"a": -128}),
    ("""from_json('[1, "x"]', 'ARRAY<INT>')""", None),
    ("""from_json('{"a": [1, 2.50]}', 'a STRING')""", {"a": "[1,2.5]"}),
    (
        """from_json('{"a": "x"}', 'a INT, _corrupt_record STRING')""",
        {"a": None, "_corrupt_record": '{"a": "x"}'},
    ),
    ("""from_json('{a: 1}', 'a INT', map('allowUnquotedFieldNames', 'true'))""", {"a": 1}),
    ("""from_json('{"a": 3}', schema_of_json('{"a": 1}')).a""", 3),
    ("""schema_of_json('{"b": 1.5, "a": [null]}')""", "STRUCT<a: ARRAY<STRING>, b: DOUBLE>"),
    ("to_json(struct(date'2024-02-29' AS d))", '{"d":"2024-02-29"}'),
    (
        "to_json(struct(timestamp'2024-02-29 10:11:12.5' AS t))",
        '{"t":"2024-02-29T10:11:12.500Z"}',
    ),
    (
        "to_json(struct(date'2024-02-29' AS d), map('dateFormat', 'dd/MM/yyyy'))",
        '{"d":"29/02/2024"}',
    ),
    (
        """from_json('{"d": "29/02/2024"}', 'd DATE', map('dateFormat', 'dd/MM/yyyy'))""",
        {"d": date(2024, 2, 29)},
    ),
    (
        "from_csv('29/02/2024', 'd DATE', map('dateFormat', 'dd/MM/yyyy'))",
        {"d": date(2024, 2, 29)},
    ),
    (f"from_json('{{\"a\": {'1' * 5000}}}', 'a INT')", {"a": None}),
    (f"get_json_object('{'[' * 2000}', '$[0]')", None),
    ("to_csv(struct(1, 'a,b', NULL, ''))", '1,"a,b",,""'),
    ("to_csv(struct(' x ', array(1, NULL)))", 'x,"[1,]"'),
    ("to_csv(struct(1, 2), map('sep', ';'))", "1;2"),
    ("from_csv('1,\"a,b\"', 'a INT, b STRING')", {"a": 1, "b": "a,b"}),
    ("from_csv('x', 'a INT, b STRING')", {"a": None, "b": None}),
    ("from_csv('a;b', 'a STRING, b STRING', map('sep', ';'))", {"a": "a", "b": "b"}),
    ("schema_of_csv('1,2.5,x')", "STRUCT<_c0: INT, _c1: DOUBLE, _c2: STRING>"),
]


@pytest.mark.parametrize(("text", "expected"), GIVEN, ids=[text for text, _ in GIVEN])
def test_value(text: str, expected: Any) -> None:
    assert value(text) == expected


RAISED = [
    ("from_json('{', 'a INT', map('mode', 'FAILFAST'))", "MALFORMED_RECORD_IN_PARSING"),
    ("from_csv('x', 'a INT', map('mode', 'FAILFAST'))", "MALFORMED_RECORD_IN_PARSING"),
    ("""from_json('{"a": 1, "a": 2}', 'MAP<STRING, INT>')""", "DUPLICATED_MAP_KEY"),
]


@pytest.mark.parametrize(("text", "reason"), RAISED, ids=[text for text, _ in RAISED])
def test_raises(text: str, reason: str) -> None:
    with pytest.raises(Failed, match=reason):
        value(text)


REFUSED = [
    ("to_json(1)", "a struct, map or array, not INT"),
    ("to_json(map(array(1), 2))", "is no key of JSON"),
    ("from_json('1', 'INT')", "FROM_JSON makes no INT"),
    ("from_json('1', 'nonsense<')", "is no schema"),
    ("from_json('{}', 'a INT, a INT')", "is no schema"),
    ("from_json('{}', 'a INTERVAL DAY TO SECOND')", "an interval is read as a STRING"),
    ("from_csv('', 'a INT, b interval month')", "an interval is read as a STRING"),
    ("from_json('{}', 'MAP<INT, INT>')", "keys of a map of JSON are STRINGs"),
    ("from_json('{}', 'a INT', map('mode', 'DROPMALFORMED'))", "there is no mode DROPMALFORMED"),
    ("to_json(struct(1), map('dateFormat', 'yyyy-b'))", "yyyy-b|[Ii]llegal|pattern"),
    ("from_json('{}', 'a INT', map('locale', 'de'))", "the option locale is not supported"),
    ("from_csv('1', 'a ARRAY<INT>')", "a field of CSV is a number"),
    ("schema_of_json('bad')", "no JSON"),
    ("parse_json('1')", "no columns of type VARIANT"),
    ("xpath_int('<a/>', 'a')", "XML"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[text for text, _ in REFUSED])
def test_refused(text: str, reason: str) -> None:
    with pytest.raises(Uncompiled, match=reason):
        value(text)


def test_the_schema_is_the_type() -> None:
    text = """from_json('{}', 'a INT, `b c` MAP<STRING, ARRAY<DECIMAL(10, 2)>>')"""
    assert type_of(text) == "struct<a:int,b c:map<string,array<decimal(10,2)>>>"
