"""JSON by columns says what the exact reader and writer say."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from sqlwin.functions.core.nested_values import made, values
from sqlwin.functions.json import text
from sqlwin.functions.json.options import schema
from sqlwin.functions.json.read import FROM_JSON, Reader
from sqlwin.functions.json.write import quoted
from sqlwin.schema import TIMESTAMP

DRAW = random.Random(1)
LEAVES = [
    *("1", "-1", "0", "-0", "007", "127", "128", "200", "256", "-129", "32768", "2147483648"),
    *("9223372036854775807", "9223372036854775808", "123456789012345678901", "9" * 400, "9" * 1100),
    *("1.5", "-0.0", "-0.5", "-0e5", "1e3", "1E-3", "1e400", "0.1e-400", "1.", ".5", "+1", "1.10"),
    *("0." + "1" * 1100, "-", "1e", "NaN", "-INF", "nan", "true", "false", "truex", "null", "nul"),
    *(
        '""',
        '"x"',
        '"1.50"',
        '"-0"',
        '"é😀"',
        '"a\\n\\t\\"\\\\\\/"',
        '"\\u0041"',
        '"\\ud83d\\ude00"',
    ),
    *(
        '"\\ud800"',
        '"\\x"',
        '"\\u12"',
        '"a\tb"',
        '"\x7f\u2028"',
        "'q'",
        '"1,000"',
        '" 1"',
        '"٣"',
        '"1_0"',
    ),
    *('"2024-02-29"', '"2024-2-9"', '"2023-02-29"', '"19782"', '"0001-01-01"', '"+12345-01-01"'),
    *('"2024-01-01T10:11:12.123456789Z"', '"2024-01-01 10:11"', '"1500-03-01T00:00:00+02:00"'),
    *('"NaN"', '"Infinity"', '"true"', '"AQI="', "[1,]", "{,}", "/**/1", "1 2", "\\", '"open'),
]
NAMES = ["a", "b", "c", "d", "x", "_corrupt_record"]
SCHEMAS = [
    "a INT, b STRING",
    "a TINYINT, b SMALLINT, c BIGINT, d BOOLEAN",
    "a DOUBLE, b FLOAT",
    "a DECIMAL(10, 2), b DECIMAL(38, 0)",
    "a DATE, b TIMESTAMP",
    "a ARRAY<INT>, b ARRAY<STRUCT<a: STRING, b: DOUBLE>>, c STRUCT<a: INT, b: STRUCT<c: DATE>>",
    "a STRING, b ARRAY<DECIMAL(5, 1)>, c ARRAY<TIMESTAMP>, _corrupt_record STRING",
    "ARRAY<STRUCT<a: INT, b: STRING>>",
    "ARRAY<ARRAY<BIGINT>>",
]


def document(depth: int = 0) -> str:
    """Mostly JSON, with whatever goes wrong in it."""
    kind, space = DRAW.random(), DRAW.choice(["", "", " ", "\n"])
    if depth < 4 and (kind < 0.35 or (depth == 0 and kind < 0.8)):
        pairs = [
            f'{space}"{DRAW.choice(NAMES)}"{space}:{space}{document(depth + 1)}'
            for _ in range(DRAW.randint(0, 4))
        ]
        return f"{{{','.join(pairs)}{space}}}"
    if depth < 4 and kind < 0.5:
        return f"[{','.join(document(depth + 1) for _ in range(DRAW.randint(0, 3)))}{space}]"
    if DRAW.random() < 0.6:
        return json.dumps(DRAW.choice([None, True, 0, DRAW.randint(-300, 300), 2.5, "text", "été"]))
    return DRAW.choice(LEAVES)


def damaged(text: str) -> str:
    at = DRAW.randint(0, len(text))
    put = DRAW.choice(["", "", '"', ",", "}", "]", "\\", "0", " ", "\0"])
    return text[:at] + put + text[at + DRAW.randint(0, 1) :]


def documents(count: int) -> list[str | None]:
    plain = [document() for _ in range(count)]
    fields = [
        f'{{"a":{DRAW.choice(LEAVES)}, "b": {DRAW.choice(LEAVES)}, "c":[{DRAW.choice(LEAVES)}]}}'
        for _ in range(count)
    ]
    deep = ["[" * n + "]" * n for n in (400, 600, 999, 1001)] + ['{"a":' * 600 + "1" + "}" * 600]
    ends = [DRAW.choice(plain) + DRAW.choice(["}", " x", "\ufeff", "  "]) for _ in range(99)]
    return [*plain, *fields, *map(damaged, plain[::3]), *ends, *deep, "", "  ", None]


def read(type_: pa.DataType, options: dict[str, str], texts: list[str | None]) -> Any:
    given = pa.array([json.dumps(options)] * len(texts))
    return FROM_JSON.compute(type_, pa.array(texts, pa.string()), given)


@pytest.mark.parametrize("named", SCHEMAS)
@pytest.mark.parametrize("options", [{}, {"dateformat": "yyyy-M-d", "allowsinglequotes": "false"}])
def test_from_json_by_columns(named: str, options: dict[str, str]) -> None:
    type_ = schema(named)
    reader = Reader(type_, options)
    for texts in (documents(150), ['{"a": 1}', None]):
        slow = made([None if text is None else reader.read(text) for text in texts], type_)
        quick = read(type_, options, texts)
        quick.validate(full=True)
        pairs = zip(texts, map(repr, values(quick)), map(repr, values(slow)), strict=True)
        assert [each for each in pairs if each[1] != each[2]] == []


def test_a_map_with_a_key_twice_raises_beside_usual_texts() -> None:
    texts: list[str | None] = ['{"a": {"k": 1}}', '{"a": {"k": 1, "k": 2}}']
    with pytest.raises(ValueError, match="DUPLICATED_MAP_KEY"):
        read(schema("a MAP<STRING, INT>"), {}, texts)


def test_failfast_raises_for_a_text_that_the_decoder_refuses() -> None:
    with pytest.raises(ValueError, match="MALFORMED_RECORD_IN_PARSING"):
        read(schema("a INT"), {"mode": "FAILFAST"}, ['{"a": 1}', '{"a": "x"}'])


INSTANTS = [
    0,
    -1,
    999,
    -62135596800000001,
    -62135596800000000,
    253402300799999999,
    253402300800000000,
]
DOUBLES = [0.0, -0.0, 1e-3, 9.99e-4, 1e7, 9999999.999, 1e20, 5e-324, 123456.789, -1.0, 100.0]
DOUBLES += [float("nan"), float("inf"), float("-inf")]
DRAWN: list[tuple[pa.DataType, Any]] = [
    (pa.int8(), lambda: DRAW.randint(-128, 127)),
    (pa.int64(), lambda: DRAW.choice([2**63 - 1, -(2**63), DRAW.randint(-999, 999)])),
    (pa.bool_(), lambda: DRAW.random() < 0.5),
    (pa.float64(), lambda: DRAW.choice([*DOUBLES, DRAW.gauss(0, 1) * 10 ** DRAW.randint(-6, 12)])),
    (pa.float32(), lambda: DRAW.choice([0.1, 1e10, 2.5, 1e-5])),
    (pa.string(), lambda: "".join(DRAW.choices('ab"\\\n\x00\x1f\x7fé😀/', k=DRAW.randint(0, 3)))),
    (pa.string(), lambda: DRAW.choice(["plain", ""])),
    (pa.binary(), lambda: DRAW.randbytes(DRAW.randint(0, 4))),
    (pa.date32(), lambda: DRAW.choice([0, -719162, -719163, 2932896, 2932897, 20000])),
    (TIMESTAMP, lambda: DRAW.choice([*INSTANTS, DRAW.randint(-(10**16), 10**16)])),
    (pa.decimal128(9, 6), lambda: Decimal(DRAW.randint(-1, 99)).scaleb(-6)),
    (pa.decimal128(20, 10), lambda: Decimal(DRAW.randint(-1, 99)).scaleb(-10)),
]


def some_type(depth: int = 0) -> tuple[pa.DataType, Any]:
    """A type, and how one of its values is drawn: no NULL at its top, and any within."""
    kind = DRAW.random()
    if depth == 3 or (depth and kind < 0.5):
        return DRAW.choice(DRAWN)
    if kind < 0.7 or depth == 0:
        fields = [some_type(depth + 1) for _ in range(DRAW.randint(0, 5))]
        names = [DRAW.choice(["a", 'b"c', "é"]) + str(at) for at in range(len(fields))]
        type_ = pa.struct([(name, part) for name, (part, _) in zip(names, fields, strict=True)])
        return type_, lambda: {
            name: or_null(draw) for name, (_, draw) in zip(names, fields, strict=True)
        }
    inner, draw = some_type(depth + 1)
    if kind < 0.85:
        return pa.list_(inner), lambda: [or_null(draw) for _ in range(DRAW.randint(0, 3))]
    key, key_draw = DRAW.choice(DRAWN)
    return pa.map_(key, inner), lambda: [(key_draw(), or_null(draw))] * DRAW.randint(0, 2)


def or_null(draw: Any) -> Any:
    return None if DRAW.random() < 0.2 else draw()


def compact(shape: Any) -> str:
    if isinstance(shape, str):
        return shape
    if isinstance(shape, list):
        return f"[{','.join(map(compact, shape))}]"
    return "{" + ",".join(f"{quoted(name)}:{compact(part)}" for name, part in shape) + "}"


@pytest.mark.parametrize("options", [{}, {"ignorenullfields": "false", "dateformat": "d/M/y"}])
def test_to_json_by_columns(options: dict[str, str]) -> None:
    for _ in range(60):
        type_, draw = some_type()
        rows = made([or_null(draw) for _ in range(20)], type_)
        shape = text.shaped(type_, not options, text.leaves_of(options))
        slow = [None if value is None else compact(shape(value)) for value in values(rows)]
        for given, wanted in ((rows, slow), (rows[3:17], slow[3:17]), (rows[:0], [])):
            quick = text.TO_JSON.compute(given, pa.array([json.dumps(options)] * len(given)))
            assert quick.to_pylist() == wanted
