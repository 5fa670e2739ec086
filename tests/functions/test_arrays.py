"""Arrays, and lambdas over them: values that Spark gives, what raises, what is refused."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from sqlwin.sandbox.running import Failed
from sqlwin.sql.expressions.compile.compiler import Uncompiled
from tests.functions.evaluating import type_of, value, values

NAN = "double('NaN')"

GIVEN = [
    ("array()", []),
    ("array(1, NULL)", [1, None]),
    ("size(array(1, NULL))", 2),
    ("size(NULL)", None),
    ("array_append(array(1), 2L)", [1, 2]),
    ("array_append(array(1), NULL)", [1, None]),
    ("array_prepend(array(1), 2)", [2, 1]),
    ("array_insert(array(1, 2), 2, 7)", [1, 7, 2]),
    ("array_insert(array(1), 4, 7)", [1, None, None, 7]),
    ("array_insert(array(1, 2), -1, 7)", [1, 2, 7]),
    ("array_insert(array(1), -3, 7)", [7, None, 1]),
    ("array_remove(array(1, NULL, 1, 2), 1)", [None, 2]),
    ("array_remove(array(1), NULL)", None),
    ("array_position(array(1, 2, 2), 2)", 2),
    ("array_position(array(1), 3)", 0),
    (f"array_position(array(1.5D, {NAN}), {NAN})", 2),
    ("array_contains(array(1, NULL), 1)", True),
    ("array_contains(array(1, NULL), 2)", None),
    ("array_contains(array(1), 2)", False),
    ("array_contains(array(array(1), array(2)), array(2))", True),
    ("array_distinct(array(2, NULL, 1, 2, NULL))", [2, None, 1]),
    (f"size(array_distinct(array({NAN}, {NAN})))", 1),
    ("array_union(array(1, 2), array(2, NULL))", [1, 2, None]),
    ("array_except(array(1, 1, NULL), array(NULL))", [1]),
    ("array_intersect(array(1, NULL, 1), array(NULL, 1))", [1, None]),
    ("arrays_overlap(array(1, NULL), array(2))", None),
    ("arrays_overlap(array(1), array(2))", False),
    ("array_join(array('a', NULL, 'b'), ',')", "a,b"),
    ("array_join(array('a', NULL), ',', '?')", "a,?"),
    ("array_max(array(1, NULL, 3))", 3),
    ("array_min(array(array(2), array(1, NULL)))", [1, None]),
    ("array_repeat('x', 2)", ["x", "x"]),
    ("array_repeat('x', -2)", []),
    ("array_sort(array(3, NULL, 1))", [1, 3, None]),
    ("sort_array(array(3, NULL, 1))", [None, 1, 3]),
    ("sort_array(array(3, NULL, 1), false)", [3, 1, None]),
    ("array_sort(array(1, 3, 2), (x, y) -> y - x)", [3, 2, 1]),
    ("array_sort(array(3, 1, 2), 1)", [3, 1, 2]),
    ("sort_array(array('b', 'd'), CAST(NULL AS BOOLEAN))", None),
    ("transform(array(1, 2), one)", [1, 1]),
    ("filter(array(1, 2), false)", []),
    ("aggregate(array(1, 2, 3), 0, 100)", 100),
    ("zip_with(array(1, 2), array(3), array('x'))", [["x"], ["x"]]),
    ("arrays_zip(array(1), NULL)", None),
    ("vector_normalize(CAST(array() AS ARRAY<FLOAT>), 2.0F)", []),
    ("vector_norm(array(3.0F, 4.0F), 2.0F)", 5.0),
    ("array_compact(array(1, NULL, 2))", [1, 2]),
    ("slice(array(1, 2, 3), -2, 5)", [2, 3]),
    ("slice(array(1, 2), -3, 1)", []),
    ("sequence(5, 1, -2)", [5, 3, 1]),
    ("sequence(3, 1)", [3, 2, 1]),
    ("sequence(1, 1, 0)", [1]),
    ("flatten(array(array(1), array(2, 3)))", [1, 2, 3]),
    ("flatten(array(array(1), NULL))", None),
    ("reverse(array(1, 2))", [2, 1]),
    ("array(1) || array(2L)", [1, 2]),
    ("element_at(array(1, 2), -1)", 2),
    ("try_element_at(array(1), 5)", None),
    ("get(array(1, 2), 1)", 2),
    ("get(array(1), -1)", None),
    ("array(array(1), array(2))[1][0]", 2),
    ("arrays_zip(array(1, 2), array('a'))", [{"0": 1, "1": "a"}, {"0": 2, "1": None}]),
    ("transform(array(1, 2), x -> x + 1)", [2, 3]),
    ("transform(array(5, 5), (x, i) -> x + i)", [5, 6]),
    ("transform(array(1, 2), x -> transform(array(10), y -> x + y))", [[11], [12]]),
    ("transform(array(struct(1 AS a)), x -> x.A)", [1]),
    ("filter(array(1, NULL, 3), x -> x > 1)", [3]),
    ("filter(array(7, 8), (x, i) -> i = 1)", [8]),
    ("exists(array(1, NULL), x -> x > 1)", None),
    ("exists(array(0, 1), x -> x = 0 OR 1 / x > 0)", True),
    ("forall(array(1, NULL), x -> x > 1)", False),
    ("forall(array(), x -> false)", True),
    ("aggregate(array(1, 2), 0, (acc, x) -> acc + x, acc -> acc * 10)", 30),
    ("reduce(array(), 7, (acc, x) -> acc + x)", 7),
    ("zip_with(array(1, 2), array(10), (x, y) -> x + y)", [11, None]),
    ("vector_norm(array(3.0F, 4.0F))", 5.0),
    ("vector_cosine_similarity(array(1.0F), array(0.0F))", None),
]


@pytest.mark.parametrize(("text", "expected"), GIVEN, ids=[text for text, _ in GIVEN])
def test_value(text: str, expected: Any) -> None:
    assert value(text) == expected


RAISED = [
    ("array(1)[1]", "INVALID_ARRAY_INDEX"),
    ("array(1)[-1]", "INVALID_ARRAY_INDEX"),
    ("element_at(array(1), 2)", "INVALID_ARRAY_INDEX_IN_ELEMENT_AT"),
    ("try_element_at(array(1), 0)", "INVALID_INDEX_OF_ZERO"),
    ("array_insert(array(1), 0, 1)", "INVALID_INDEX_OF_ZERO"),
    ("slice(array(1), 0, 1)", "INVALID_PARAMETER_VALUE.START"),
    ("slice(array(1), 1, -1)", "INVALID_PARAMETER_VALUE.LENGTH"),
    ("sequence(1, 5, -1)", "Illegal sequence boundaries: 1 to 5 by -1"),
    ("sequence(1, 100000)", "COLLECTION_SIZE_LIMIT_EXCEEDED"),
    ("array_repeat('x', 100000)", "COLLECTION_SIZE_LIMIT_EXCEEDED"),
    ("array_insert(array(1), 100000, 1)", "COLLECTION_SIZE_LIMIT_EXCEEDED"),
    ("array_sort(array(1, NULL), (x, y) -> x - y)", "COMPARATOR_RETURNS_NULL"),
    ("array_sort(array_repeat(1, 1001), (x, y) -> x - y)", "at most 1000 elements"),
    (
        "vector_inner_product(array(1.0F), CAST(array() AS ARRAY<FLOAT>))",
        "VECTOR_DIMENSION_MISMATCH",
    ),
]


@pytest.mark.parametrize(("text", "reason"), RAISED, ids=[text for text, _ in RAISED])
def test_raises(text: str, reason: str) -> None:
    with pytest.raises(Failed, match=reason.replace("(", r"\(")):
        value(text)


def test_an_accumulator_that_doubles_is_stopped() -> None:
    doubled = "aggregate(sequence(1, 30), array(1), (acc, x) -> acc || acc)"
    with pytest.raises(Failed, match="AGGREGATE makes a value of more than"):
        value(doubled)


REFUSED = [
    ("array(1, date'2024-01-01')", "values of|have no|does not take"),
    ("array_append(array('a'), 1)", "does not take"),
    ("element_at(array(1), 1L)", "does not take"),
    ("aggregate(array(1), 0, (acc, x) -> acc + x * 1L)", "gives INT, as the start is, not BIGINT"),
    ("transform(array(1), (x, y, z) -> x)", "does not take"),
    ("filter(array(1), x -> x)", "a lambda gives INT here"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[text for text, _ in REFUSED])
def test_refused(text: str, reason: str) -> None:
    with pytest.raises(Uncompiled, match=reason):
        value(text)


def test_a_column_may_be_called_as_a_lambda_s_parameter() -> None:
    rows = pa.table({"__x0": [1], "x0": [5], "p": [7], "a": [[1, 2]]})
    assert values("transform(a, x -> x + x0 + p)", rows) == [[13, 14]]


def test_types() -> None:
    rows = pa.table({"a": pa.array([[1]], pa.list_(pa.int32())), "l": [1]})
    assert type_of("array_append(a, l)", rows) == "array<bigint>"
    assert type_of("array(a, array())", rows) == "array<array<int>>"
    assert type_of("transform(a, x -> x * 2L)", rows) == "array<bigint>"
    assert type_of("arrays_zip(a, array(1))", rows) == "array<struct<a:int,1:int>>"
