"""Maps and structs: values that Spark gives, what raises, what is refused."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest

from sqlwin.sandbox.running import Failed
from sqlwin.sql.expressions.compile.compiler import Uncompiled
from tests.functions.evaluating import type_of, value, values

AB = "map('a', 1, 'b', NULL)"
GIVEN = [
    (AB, [("a", 1), ("b", None)]),
    ("map()", []),
    ("named_struct(upper('x'), 1).X", 1),
    ("transform_values(map('a', 1), struct('v', 9))", [("a", {"col1": "v", "col2": 9})]),
    ("map_zip_with(map('a', 1), map('b', 2), array('x'))", [("a", ["x"]), ("b", ["x"])]),
    ("map('a', 1).IDENTIFIER('a')", 1),
    ("IDENTIFIER('COAL' || 'ESCE')(NULL, 1)", 1),
    ("IDENTIFIER('`one`')", 1),
    ("bitmap_count(X '1010')", 2),
    (f"{AB}['a']", 1),
    (f"{AB}['z']", None),
    (f"element_at({AB}, 'b')", None),
    ("map(1, 'x')[1L]", "x"),
    ("map(double('NaN'), 1)[double('NaN')]", 1),
    ("map(0.0D, 1)[-0.0D]", 1),
    ("map('k', struct(1 AS x))['k'].x", 1),
    ("map_from_arrays(array(1, 2), array('a', 'b'))", [(1, "a"), (2, "b")]),
    ("map_from_entries(array(struct(1, 'a')))", [(1, "a")]),
    ("map_from_entries(array(struct(1, 'a'), NULL))", None),
    ("map_concat(map('a', 1), map('b', 2L))", [("a", 1), ("b", 2)]),
    ("map_concat(map('a', 1), CAST(NULL AS MAP<STRING, INT>))", None),
    (f"map_keys({AB})", ["a", "b"]),
    (f"map_values({AB})", [1, None]),
    (f"map_entries({AB})", [{"key": "a", "value": 1}, {"key": "b", "value": None}]),
    (f"map_contains_key({AB}, 'b')", True),
    (f"map_filter({AB}, (k, v) -> v > 0)", [("a", 1)]),
    (f"transform_keys({AB}, (k, v) -> upper(k))", [("A", 1), ("B", None)]),
    (f"transform_values({AB}, (k, v) -> v + 1)", [("a", 2), ("b", None)]),
    (
        "map_zip_with(map('a', 1), map('a', 2, 'b', 3), (k, x, y) -> coalesce(x, 0) + y)",
        [("a", 3), ("b", 3)],
    ),
    ("str_to_map('a:1,b')", [("a", "1"), ("b", None)]),
    ("str_to_map('a=1&b=2=3', '&', '=')", [("a", "1"), ("b", "2=3")]),
    ("str_to_map('a1bxc22d', '[0-9]+', '[xy]')", [("a", None), ("b", "c"), ("d", None)]),
    ("struct(1, 'a')", {"col1": 1, "col2": "a"}),
    ("struct(1 AS x, 2)", {"x": 1, "col2": 2}),
    ("(1, 2).col2", 2),
    ("named_struct('a b', 1)", {"a b": 1}),
    ("named_struct('X', 1).x", 1),
    ("named_struct('x', 1)['x']", 1),
    ("array(struct(1 AS x), NULL).x", [1, None]),
    ("CAST(array(1, NULL) AS STRING)", "[1, null]"),
    (f"CAST({AB} AS STRING)", "{a -> 1, b -> null}"),
    ("CAST(struct(1, array('x'), NULL) AS STRING)", "{1, [x], null}"),
    ("CAST(array('1', '2') AS ARRAY<INT>)", [1, 2]),
    ("TRY_CAST(array('1', 'x') AS ARRAY<INT>)", [1, None]),
    ("CAST(struct(1, 'x') AS STRUCT<a: BIGINT, b: STRING>)", {"a": 1, "b": "x"}),
    ("CAST(map('1', 2) AS MAP<INT, STRING>)", [(1, "2")]),
]


@pytest.mark.parametrize(("text", "expected"), GIVEN, ids=[text for text, _ in GIVEN])
def test_value(text: str, expected: Any) -> None:
    assert value(text) == expected


RAISED = [
    ("map('a', 1, 'a', 2)", "DUPLICATED_MAP_KEY"),
    ("map(CAST(NULL AS STRING), 1)", "NULL_MAP_KEY"),
    ("map_from_arrays(array(1, 1), array(1, 2))", "DUPLICATED_MAP_KEY"),
    ("map_from_arrays(array(0.0D, -0.0D), array(1, 2))", "DUPLICATED_MAP_KEY"),
    ("map_from_arrays(array(1), array(1, 2))", "different lengths"),
    ("map_concat(map('a', 1), map('a', 2))", "DUPLICATED_MAP_KEY"),
    ("transform_keys(map('a', 1, 'b', 2), (k, v) -> 'same')", "DUPLICATED_MAP_KEY"),
    ("transform_keys(map('a', 1), (k, v) -> nullif(v, 1))", "NULL_MAP_KEY"),
    ("str_to_map('a:1,a:2')", "DUPLICATED_MAP_KEY"),
    ("CAST(array('x') AS ARRAY<INT>)", "CAST_INVALID_INPUT"),
]


@pytest.mark.parametrize(("text", "reason"), RAISED, ids=[text for text, _ in RAISED])
def test_raises(text: str, reason: str) -> None:
    with pytest.raises(Failed, match=reason):
        value(text)


REFUSED = [
    ("map('a')", "does not take"),
    ("map(map('a', 1), 2)", "a map is no key of a map"),
    ("named_struct('x', 1, 'X', 2)", "two fields of a struct have one name"),
    ("named_struct(concat(one, 'x'), 1)", "a constant"),
    ("struct(1 AS a).b", "there is no field b"),
    ("map_contains_key(map('a', 1), 1)", "does not take"),
    ("CAST(struct(1) AS STRUCT<a: INT, b: INT>)", "cannot be cast"),
    ("TRY_CAST(map('a', 1) AS MAP<INT, INT>)", "a key of MAP<INT,INT> may be NULL"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[text for text, _ in REFUSED])
def test_refused(text: str, reason: str) -> None:
    with pytest.raises(Uncompiled, match=reason):
        value(text)


def test_names_of_columns_are_names_of_fields() -> None:
    rows = pa.table({"i": [1], "s": ["a"]})
    assert values("struct(i, upper(s), s AS t)", rows) == [{"i": 1, "col2": "A", "t": "a"}]
    assert type_of("map(s, i)", rows) == "map<string,bigint>"


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("map(-(0D), 1)", 1),
        ("map_concat(map(1D, 1), map(-(0D), 1))", 1),
        ("map_from_entries(array(struct(-0D, 1)))", 1),
        ("map_from_arrays(array(-0D), array(1))", -1),
    ],
)
def test_the_keys_of_a_map_of_constants_have_no_minus_zero(text: str, sign: int) -> None:
    (key,) = [key for key, _ in value(text) if key == 0]
    assert math.copysign(1, key) == sign
