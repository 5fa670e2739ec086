"""Lists, structs and maps that are pushed: what fits is taken, any other row is malformed."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import sqlwin

MAP = pa.map_(pa.string(), pa.int64())
STRUCT = pa.struct([("f", pa.int64()), ("m", MAP)])
LIST = pa.list_(pa.int64())
MISFIT = object()
CASES: list[tuple[pa.DataType, Any, Any]] = [
    (MAP, {"a": 1, "b": None}, [("a", 1), ("b", None)]),
    (MAP, [("a", 1)], [("a", 1)]),
    (MAP, [["a", 1]], [("a", 1)]),
    (MAP, [{"key": "a", "value": 1}], [("a", 1)]),
    (MAP, '{"a": 1}', [("a", 1)]),
    (MAP, {}, []),
    (MAP, {"a": "x"}, MISFIT),
    (MAP, 5, MISFIT),
    (MAP, "x", MISFIT),
    (MAP, [1], MISFIT),
    (STRUCT, {"f": 1, "m": {"a": 1}}, {"f": 1, "m": [("a", 1)]}),
    (STRUCT, {"f": 1}, {"f": 1, "m": None}),
    (STRUCT, {"g": 1}, MISFIT),
    (STRUCT, {"f": "x"}, MISFIT),
    (STRUCT, {"m": 5}, MISFIT),
    (STRUCT, [1], MISFIT),
    (STRUCT, 5, MISFIT),
    (LIST, [1, None], [1, None]),
    (LIST, (1,), [1]),
    (LIST, [], []),
    (LIST, ["x"], MISFIT),
    (LIST, {"a": 1}, MISFIT),
    (LIST, 5, MISFIT),
    (pa.list_(MAP), [{"a": 1}, {}], [[("a", 1)], []]),
    (pa.list_(MAP), [5], MISFIT),
]


@pytest.mark.parametrize("beside", [[], [None], ["what fits nothing"]])
@pytest.mark.parametrize(("type_", "value", "taken"), CASES)
def test_each_value_by_itself(type_: pa.DataType, value: Any, taken: Any, beside: Any) -> None:
    schema = pa.schema([("v", type_), ("ts", pa.timestamp("us", "UTC"))])
    query = sqlwin.query("SELECT v FROM s", {"s": sqlwin.stream(schema, ts="ts")})
    query.push("s", [{"v": v, "ts": "2024-01-01T00:00:00Z"} for v in [value, *beside]])
    good = [row for row in query.table()["v"].to_pylist() if row is not None]
    assert good == ([] if taken is MISFIT else [taken])
    lost = beside.count("what fits nothing") + (taken is MISFIT)
    assert query.refused() == ({"malformed": lost} if lost else {})


def test_a_map_is_read_by_its_keys() -> None:
    schema = pa.schema([("m", MAP), ("ts", pa.timestamp("us", "UTC"))])
    query = sqlwin.query("SELECT m['a'] AS a FROM s", {"s": sqlwin.stream(schema, ts="ts")})
    query.push("s", [{"m": {"a": 7}, "ts": "2024-01-01T00:00:00Z"}])
    assert query.table()["a"].to_pylist() == [7]
