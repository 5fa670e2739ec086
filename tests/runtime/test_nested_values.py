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
    (LIST, [True], MISFIT),
    (LIST, [[1]], MISFIT),
    (MAP, {"a": False}, MISFIT),
    (STRUCT, {"f": True}, MISFIT),
    (pa.list_(pa.bool_()), [True], [True]),
    (pa.list_(pa.date32()), [19753], MISFIT),
    (pa.list_(pa.timestamp("us", "UTC")), [19753], MISFIT),
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


def _nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def _endless() -> Any:
    value: dict[str, Any] = {}
    value["again"] = [value, value]
    return value


@pytest.mark.parametrize("type_", [pa.string(), pa.int64(), pa.date32(), LIST, MAP, STRUCT])
@pytest.mark.parametrize("value", [_nested(500), _nested(5000), _endless()])
def test_what_is_nested_too_deep_is_one_row_of_the_error_stream(
    type_: pa.DataType, value: Any
) -> None:
    query = sqlwin.query("SELECT n FROM s", {"s": pa.schema([("n", pa.int64()), ("v", type_)])})
    query.push("s", [{"n": 1}, {"n": 2, "v": value}, {"n": 3}])
    assert query.table()["n"].to_pylist() == [1, 3]
    (row,) = query.expired().to_pylist()
    assert row["position"] == "0:1"
    assert row["reason"].startswith("malformed: v is nested deeper than 500 levels, not a")


def test_as_deep_as_a_line_of_json_may_be() -> None:
    query = sqlwin.query("SELECT v FROM s", {"s": pa.schema([("v", pa.string())])})
    query.push("s", [{"v": _nested(499)}])
    assert query.table()["v"].to_pylist() == ["[" * 499 + "1" + "]" * 499]


def test_a_binary_is_not_nested_too_deep() -> None:
    query = sqlwin.query("SELECT v FROM s", {"s": pa.schema([("v", pa.binary())])})
    with pytest.raises(sqlwin.InputError, match="a BINARY is nested deeper than 500 levels"):
        query.push("s", [{"v": _nested(500)}])


@pytest.mark.parametrize(
    ("type_", "value", "key"),
    [(MAP, {"a": 7}, [("a", 7)]), (LIST, [7, None], [7, None]), (STRUCT, {"f": None}, None)],
)
def test_keys_of_groups(type_: pa.DataType, value: Any, key: Any) -> None:
    schema = pa.schema([("v", type_), ("ts", pa.timestamp("us", "UTC"))])
    query = sqlwin.query(
        "SELECT v, COUNT(*) AS n FROM TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '1' MINUTE)"
        " GROUP BY v, window_start, window_end",
        {"s": sqlwin.stream(schema, ts="ts")},
    )
    query.push("s", [{"v": value, "ts": "2024-01-01T00:00:00Z"}] * 2)
    query.drain()
    (row,) = query.table().to_pylist()
    assert (row["v"], row["n"]) == (key or {"f": None, "m": None}, 2)
