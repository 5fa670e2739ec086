"""Columns of every type, each with the values at which functions go wrong.

A case reads columns of the stream `t` by name; two columns of a type make a pair for functions of
two arguments. The second has what is often a second argument: small counts, other patterns.

>>> [column.name for column in COLUMNS][:4]
['b', 'b2', 't', 't2']
>>> len(VALUES["b"]), VALUES["t"][:3].to_pylist()
(3, [None, 0, 1])
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from decimal import Decimal
from typing import Literal

import numpy as np
import pyarrow as pa

from sqlwin.schema import TIMESTAMP, Column

NAN, INF = float("nan"), float("inf")
TEXT_INT = pa.map_(pa.string(), pa.int32())
PAIR = pa.struct([("a", pa.int32()), ("b", pa.string())])

_INTS = (None, 0, 1, -1, 2, 3, 5, 7, 10, 42, -7, 100, 1000)
_COUNTS = (None, 0, 1, 2, 3, 5, -1, -2, 10)
_DOUBLES = (
    *(None, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.7, 0.1, 1.005, 123.456, -123.456),
    *(1e7, 1e-3, 1e-4, 1e15, 9007199254740993.0, 1e20, 1.5e300, 5e-324, 1.7976931348623157e308),
    *(2147483647.5, -2147483648.9, 9.223372036854775807e18, NAN, INF, -INF),
)
_FLOATS = (
    *(None, 0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 0.1, 1.1, 16777217.0, 1e10, 1e-5),
    *(3.4028234663852886e38, 1e-45, NAN, INF, -INF),
)
_DECIMALS = ("0", "0.01", "-0.01", "1", "1.5", "2.5", "-2.5", "1.005", "12.34", "-12.34")
_TEXTS = (
    *(None, "", " ", "a", "A", "abc", "ABC", "aBc def", "  trimmed  ", "a,b,c", "Hello World"),
    *("Spark SQL", "aaaa", "abcabc", "a_c", "a%c", "a\\c", "a.c", "a'b\"c", "tab\tline\nend\r"),
    *("\x00nul", "ß", "éa", "é", "İ", "ǅ", "ΑΣ", "日本語", "😀", "a😀b", "👨‍👩‍👧", "ﬀ"),
    *("1", "12", "-1.5", "true", "2024-02-29", "z" * 40),
)
_OTHER_TEXTS = (
    *(None, "", "a", "b", "B", "bc", ",", " ", "abc", "%", "_", ".", "\\", "é", "語", "😀", "xyz"),
    "l",
)
_NUMBERS = (
    *(
        None,
        "",
        " ",
        "0",
        "1",
        "-1",
        "+1",
        " 12 ",
        "1.5",
        "-1.5",
        ".5",
        "5.",
        "1e3",
        "1E-3",
        "1_000",
    ),
    *("1,000", "0x1A", "127", "128", "32768", "2147483647", "2147483648", "9223372036854775807"),
    *("9223372036854775808", "99999999999999999999", "1" * 38, "1" * 39, "0." + "1" * 38, "1e400"),
    *(
        "1e38",
        "NaN",
        "nan",
        "Infinity",
        "-Infinity",
        "inf",
        "+inf",
        "1.0D",
        "1f",
        "1L",
        "abc",
        "1a",
    ),
    *(
        "\t1\n",
        "１２",
        "true",
        "t",
        "yes",
        "Y",
        "FALSE",
        "f",
        "no",
        "n",
        "on",
        "--1",
        "1-",
        "$1.50",
    ),
    *("454", "-454.00", "12,454.8", "1 2", "\u00a01", "0.0", "-0", "-0.0", "00012"),
)
_DATES_AS_TEXT = (
    *(None, "", "2024-02-29", "2023-02-29", "2024-2-9", "2024", "2024-03", " 2024-02-29 ", "abc"),
    *("2024-02-29T10:11:12", "2024-02-29 10:11:12", "2024-02-29 10:11:12.123456"),
    *("2024-02-29 10:11:12.123456789", "2024-02-29 10:11:12Z", "2024-02-29 10:11:12+02:00"),
    *("2024-02-29 10:11:12 UTC", "2024-02-29 10:11:12 Europe/Paris", "2024-02-29T10:11"),
    *("2024-02-29 10", "10:11:12", "T10:11:12", "2024-02-29 24:00:00", "2024-02-29 10:60:00"),
    *("0000-01-01", "0001-01-01", "1582-10-10", "1582-10-04", "1900-01-01 00:00:00", "9999-12-31"),
    *("10000-01-01", "+10000-01-01", "-0001-01-01", "-2024-02-29", "2024-13-01", "2024-00-10"),
    *(
        "29/02/2024",
        "02/29/2024",
        "20240229",
        "epoch",
        "now",
        "today",
        "1969-12-31 23:59:59.999999",
    ),
    *("2024-03-31 02:30:00", "2024-10-27 02:30:00 Europe/Paris", "2024-02-29 10:11:12 PM"),
    *("2024-02-29 10:11:12-08:00", "2024-02-29 1:2:3", "24-02-29", "2024-12-30", "1970-01-01"),
)
_JSON = (
    *(None, "", "{}", "[]", "null", "1", '"a"', "true", '{"a":1,"b":"x"}', '{"a":"1","b":2}'),
    *('{"a":1.5,"b":null}', '{"a":null}', '{"b":"only"}', '{"A":1}', '{"a":1,"a":2,"b":"y"}'),
    *('{"a":{"b":[1,2,{"c":3}]}}', '{"a":[1,2,3],"b":"x"}', "[1,2,3]", "[1,null,3]", '["a","b"]'),
    *('[{"a":1},{"a":2}]', '{"a":1', "{'a':1}", "{a:1}", '{"a":1} x', '{"a b":1,"é":"ü"}'),
    *('{"a":"\\u00e9\\n\\"q\\""}', '{"a":12345678901234567890}', '{"a":1e3}', '{"a":NaN}'),
    *('{"a":"2024-02-29","b":"2024-02-29 10:11:12"}', '  {"a" : 1 , "b" : "s p" }  ', "abc"),
    *('{"a":2147483648}', '{"a":01}', '{"a":[]}', '{"a":{}}', '{"a":"😀"}', "[[1,2],[3]]"),
)
_URLS = (
    *(
        None,
        "",
        "http://spark.apache.org/path?query=1",
        "https://user:pw@host:8080/p/a;x?k=v&k2=v2#frag",
    ),
    *("http://host", "http://host/", "http://host/?", "http://host/p?a=1&a=2", "http://host/p?a"),
    *("ftp://host/file.txt", "mailto:a@b.c", "file:///tmp/x", "//host/p", "/only/path?q=1"),
    *(
        "http://ho st/",
        "http://host/é?k=ü",
        "http://[::1]:80/x?k=v",
        "not a url",
        "http://host:99999/",
    ),
    *(
        "http://host/p%20a?k=%20+b#f%20",
        "http://host/p?k=a=b&=c",
        "a+b%20c%2F%zz",
        "%E6%97%A5",
        "%",
    ),
)
_PATTERNS = (
    *(
        None,
        "",
        "a",
        "^a",
        "c$",
        "[a-c]+",
        "(a)(b)?",
        "\\d+",
        "\\w+",
        "\\s",
        ".",
        ".*",
        "a|b",
        "(?i)ABC",
    ),
    *(
        "a{2}",
        "[",
        "(",
        "*",
        "\\",
        "a%",
        "%c",
        "_",
        "a\\_c",
        "a\\%c",
        "\\p{L}+",
        "(?<x>a)",
        "\\bHello\\b",
    ),
    *("(a)|(é)", "[[:alpha:]]", "a*?", "(?=a)", "x*", "😀", "\\Qa.c\\E", "\\x61"),
)
_CSV = (
    *(
        None,
        "",
        "1,a",
        '1,"a,b"',
        "1",
        "1,a,extra",
        "x,a",
        ",",
        '"1","q""q"',
        " 1 , a ",
        "1;a",
        "1,\\N",
    ),
    *("-5,é", "2147483648,a", "1,\n"),
)
_BYTES = (
    *(
        None,
        b"",
        b"a",
        b"abc",
        b"\x00",
        b"\xff\xfe",
        b"\x80",
        "é".encode(),
        "日本".encode(),
        b"  x ",
    ),
    *(bytes(range(16)), b"Spark SQL", b"\xf0\x9f\x98\x80", b"12"),
)
_OTHER_BYTES = (None, b"", b"a", b"bc", b"\x00", b"\xff", b"abc")
_DATES = (
    *("1970-01-01", "1969-12-31", "2024-02-29", "2023-02-28", "2024-12-30", "2024-12-31"),
    *("2025-01-01", "2021-01-03", "2021-01-04", "2024-03-31", "2024-10-27", "2000-01-31"),
    *("1900-02-28", "1582-10-04", "1582-10-15", "1582-10-10", "1000-05-05", "0001-01-01"),
    *("9999-12-31", "0000-03-01", "-0044-03-15", "10000-01-01"),
)
_OTHER_DATES = ("1970-01-01", "2024-02-29", "2024-03-31", "2023-12-31", "0001-01-01", "9999-12-31")
_INSTANTS = (
    *(
        "1970-01-01T00:00:00",
        "1969-12-31T23:59:59.999999",
        "1969-12-31T23:59:59",
        "2024-02-29T10:11:12",
    ),
    *("2024-02-29T10:11:12.123456", "2024-02-29T23:59:59.999999", "2024-12-31T00:00:00.5"),
    *("2024-03-31T01:59:59", "2024-03-31T02:30:00", "2024-10-27T00:30:00", "2024-10-27T01:30:00"),
    *("2024-11-03T05:30:00", "2021-01-03T12:00:00", "2024-01-01T00:00:00.000001"),
    *(
        "2016-07-08T09:05:03.01",
        "1900-01-01T00:00:00",
        "1582-10-04T12:00:00",
        "1582-10-15T00:00:00",
    ),
    *("1582-10-10T01:02:03", "0001-01-01T00:00:00", "9999-12-31T23:59:59.999999"),
    *("-0044-03-15T12:00:00", "10000-01-01T00:00:00", "2038-01-19T03:14:08"),
)
_OTHER_INSTANTS = (
    *("1970-01-01T00:00:00", "2024-02-29T10:11:12", "2024-02-29T11:11:11.9", "2024-03-31T03:00:00"),
    *("1969-06-15T12:30:45.678", "0001-01-01T00:00:00", "9999-12-31T23:59:59.999999"),
)
_INT_ARRAYS: tuple[object, ...] = (
    *(None, [], [None], [1], [0], [1, 2, 3], [3, 1, 2], [1, None, 3], [1, 1, 2], [None, None, 2]),
    *([5, 4, 3, 2, 1], [-1, 0, 1], [2147483647, -2147483648], [2147483647, 1]),
)
_TEXT_ARRAYS: tuple[object, ...] = (
    *(None, [], [None], ["a"], [""], ["a", "b", "c"], ["b", "A", "a"], ["a", None, "c"]),
    *(["a", "a"], ["é", "日本", "😀"], ["1", "2", "10"], ["a,b", " "]),
)
_DOUBLE_ARRAYS: tuple[object, ...] = (
    *(None, [], [None], [1.5], [0.0, -0.0], [NAN, 1.0], [1.0, NAN, None], [INF, -INF, 0.0]),
    *([1.0, 2.0, 3.0], [NAN, NAN], [1e308, 1e308]),
)
_MAPS: tuple[object, ...] = (
    *(
        None,
        {},
        {"a": 1},
        {"a": None},
        {"a": 1, "b": 2},
        {"b": 2, "a": 1},
        {"": 0},
        {"é": 5, "a": -1},
    ),
)
_STRUCTS: tuple[object, ...] = (
    *(None, {"a": None, "b": None}, {"a": 1, "b": "x"}, {"a": 1, "b": None}, {"a": None, "b": "x"}),
    *({"a": 2, "b": ""}, {"a": -1, "b": "é"}),
)


def _integers(bits: int, values: Iterable[int | None] = _INTS) -> list[int | None]:
    top = 2 ** (bits - 1)
    inside = [value for value in values if value is None or -top <= value < top]
    return [*inside, top - 1, -top, top // 2, -top + 1]


def _instants(texts: Iterable[str], unit: Literal["D", "us"]) -> list[int | None]:
    return [None, *(int(np.datetime64(text, unit).astype(np.int64)) for text in texts)]


def _decimals(digits: int, scale: int) -> list[Decimal | None]:
    step, top = Decimal((0, (1,), -scale)), Decimal((0, (9,) * digits, -scale))
    inside = [Decimal(text).quantize(step) for text in _DECIMALS]
    # -0.01 at scale 0 is a negative zero, which no DECIMAL has
    distinct = dict.fromkeys(value or abs(value) for value in inside)
    return [None, *distinct, top, top.copy_negate(), step]


def _of_decimals(digits: int, scale: int) -> tuple[list[Decimal | None], pa.DataType]:
    return _decimals(digits, scale), pa.decimal128(digits, scale)


_COLUMNS: dict[str, tuple[Iterable[object], pa.DataType]] = {
    "b": ((None, True, False), pa.bool_()),
    "b2": ((None, True, False), pa.bool_()),
    "t": (_integers(8), pa.int8()),
    "t2": (_COUNTS, pa.int8()),
    "h": (_integers(16), pa.int16()),
    "h2": (_COUNTS, pa.int16()),
    "i": (_integers(32), pa.int32()),
    "i2": ((*_COUNTS, 31, 2147483647, -2147483648), pa.int32()),
    "l": ((*_integers(64), 1708000000, 1708000000123), pa.int64()),
    "l2": ((*_COUNTS, 63, 9223372036854775807, -9223372036854775808), pa.int64()),
    "f": (_FLOATS, pa.float32()),
    "f2": ((None, 0.0, 1.0, -2.0, 0.1, 2.5, NAN, INF), pa.float32()),
    "d": (_DOUBLES, pa.float64()),
    "d2": ((None, 0.0, -0.0, 1.0, -2.0, 0.1, 2.5, 3.0, 1e300, NAN, INF, -INF), pa.float64()),
    "dec": _of_decimals(10, 2),
    "dec2": (
        [None, *map(Decimal, ("0", "1", "-2", "2.5", "0.03", "99999999.99"))],
        pa.decimal128(10, 2),
    ),
    "big": _of_decimals(38, 18),
    "big2": (
        [None, *map(Decimal, ("0", "3", "-0.5", "0.000000000000000001"))],
        pa.decimal128(38, 18),
    ),
    "n38": _of_decimals(38, 0),
    "n38b": ([None, *map(Decimal, ("0", "3", "-7", "9" * 38))], pa.decimal128(38, 0)),
    "s": (_TEXTS, pa.string()),
    "s2": (_OTHER_TEXTS, pa.string()),
    "s_num": (_NUMBERS, pa.string()),
    "s_date": (_DATES_AS_TEXT, pa.string()),
    "s_json": (_JSON, pa.string()),
    "s_url": (_URLS, pa.string()),
    "s_pat": (_PATTERNS, pa.string()),
    "s_csv": (_CSV, pa.string()),
    "bin": (_BYTES, pa.binary()),
    "bin2": (_OTHER_BYTES, pa.binary()),
    "dt": (_instants(_DATES, "D"), pa.date32()),
    "dt2": (_instants(_OTHER_DATES, "D"), pa.date32()),
    "ts": (_instants(_INSTANTS, "us"), TIMESTAMP),
    "ts2": (_instants(_OTHER_INSTANTS, "us"), TIMESTAMP),
    "ai": (_INT_ARRAYS, pa.list_(pa.int32())),
    "ai2": ((None, [], [None], [1], [2, 3], [3, None]), pa.list_(pa.int32())),
    "sa": (_TEXT_ARRAYS, pa.list_(pa.string())),
    "sa2": ((None, [], [None], ["a"], ["c", "b"], ["é", None]), pa.list_(pa.string())),
    "da": (_DOUBLE_ARRAYS, pa.list_(pa.float64())),
    "da2": ((None, [], [NAN], [-0.0], [1.5, 2.0]), pa.list_(pa.float64())),
    "m": (_MAPS, TEXT_INT),
    "m2": ((None, {}, {"a": 9}, {"c": None, "b": 3}), TEXT_INT),
    "st": (_STRUCTS, PAIR),
    "st2": ((None, {"a": 1, "b": "x"}, {"a": None, "b": ""}), PAIR),
}

COLUMNS = tuple(Column(name, type_) for name, (_, type_) in _COLUMNS.items())


def _array(values: Iterable[object], type_: pa.DataType) -> pa.Array:
    """Dates and instants are given as days and microseconds: Python's end with the year 9999."""
    given = list(values)
    if type_ == pa.date32():
        return pa.array(given, pa.int32()).cast(type_)
    if type_ == TIMESTAMP:
        return pa.array(given, pa.int64()).cast(type_)
    if pa.types.is_map(type_):
        given = [value if value is None else list(value.items()) for value in given]  # type: ignore[attr-defined]
    return pa.array(given, type_)


VALUES: dict[str, pa.Array] = {
    name: _array(values, type_) for name, (values, type_) in _COLUMNS.items()
}


def table() -> pa.Table:
    """Every column, as long as the longest; what is shorter ends in NULLs."""
    longest = max(map(len, VALUES.values()))
    padded = [
        pa.concat_arrays([values, pa.nulls(longest - len(values), values.type)])
        for values in VALUES.values()
    ]
    return pa.table(padded, names=list(VALUES))


def digest() -> str:
    """Of all values: answers that were recorded over others are out of date."""
    text = repr([(name, str(type_), tuple(values)) for name, (values, type_) in _COLUMNS.items()])
    return hashlib.sha256(text.encode()).hexdigest()[:16]
