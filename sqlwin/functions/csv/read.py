"""FROM_CSV: a line of CSV as a struct of a schema, and the schema that fits a line.

A field that is not of its type is NULL; a column named `_corrupt_record` has the line then, and
also where it has more or fewer fields. With `mode` FAILFAST such a line raises.

>>> Lines({}).parts('1,"a, b",x"y,"q""q"')
['1', 'a, b', 'x"y', '"q""q"']
>>> inferred("1,abc", "{}")
'STRUCT<_c0: INT, _c1: STRING>'
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from sqlwin.functions.core.literals import decimal_of
from sqlwin.functions.core.nested_values import made
from sqlwin.functions.core.typed import Refused
from sqlwin.functions.core.types import (
    BINARY,
    BOOLEAN,
    DATE,
    FLOAT,
    STRING,
    is_decimal,
    is_float,
    is_integral,
)
from sqlwin.functions.core.vectors import vector
from sqlwin.functions.csv.text import BLANK
from sqlwin.functions.instants.iso import clock_of, days_of, is_time_of_day, micros_of
from sqlwin.functions.json.time_options import readers
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ

Read = Callable[[str], Any]
"""None where it is not of the type."""
_INTEGER = re.compile(r"[+-]?\d+")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_JAVA = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)[fFdD]?", re.ASCII)
_JAVA_ODD = {"NaN": "nan", "+NaN": "nan", "-NaN": "nan"}
_JAVA_ODD |= {"Infinity": "inf", "+Infinity": "inf", "-Infinity": "-inf"}


class Lines:
    """Lines split at their separators. options: names in lower case."""

    def __init__(self, options: Mapping[str, str]) -> None:
        def on(name: str) -> bool:
            return options.get(name, "false").lower() == "true"

        self._between = options.get("sep", options.get("delimiter", ","))
        self._quote = options.get("quote", '"')
        self._escape = options.get("escape", "\\")
        self._comment = options.get("comment", "")
        self._left = on("ignoreleadingwhitespace")
        self._right = on("ignoretrailingwhitespace")

    def parts(self, line: str) -> list[str | None] | None:
        """None where the line is empty, or a remark; None for a field with nothing in it."""
        if not line or (self._comment and line.startswith(self._comment)):
            return None
        found, at = list[str | None](), 0
        while at <= len(line):
            part, at = self._part(line, at)
            found.append(part)
        return found

    def _part(self, line: str, at: int) -> tuple[str | None, int]:
        """A field, and where the next one begins."""
        start = at
        if self._left:
            start += len(line[at:]) - len(line[at:].lstrip(BLANK))
        if self._quote and line.startswith(self._quote, start):
            quoted = self._quoted(line, start + 1)
            if quoted is not None:
                return quoted
        end = line.find(self._between, start)
        end = len(line) if end < 0 else end
        plain = line[start:end]
        plain = plain.rstrip(BLANK) if self._right else plain
        return plain or None, end + len(self._between)

    def _quoted(self, line: str, at: int) -> tuple[str, int] | None:
        """None where a quote within is not escaped: then the field is what is written."""
        parts = list[str]()
        while at < len(line):
            letter = line[at]
            behind = line[at + 1 : at + 2]
            if letter == self._escape and behind in (self._quote, self._escape) and behind:
                parts.append(behind)
                at += 2
            elif letter == self._quote:
                rest = line[at + 1 :].lstrip(" \t")
                if rest and not rest.startswith(self._between):
                    return None
                end = len(line) - len(rest)
                return "".join(parts), end + len(self._between)
            else:
                parts.append(letter)
                at += 1
        return "".join(parts), at + len(self._between)


class Reader:
    def __init__(self, type_: pa.DataType, options: Mapping[str, str]) -> None:
        self._lines = Lines(options)
        self._null = options.get("nullvalue", "")
        self._fails = options.get("mode", "PERMISSIVE").upper() == "FAILFAST"
        self._corrupt = options.get("columnnameofcorruptrecord", "_corrupt_record")
        kept = [field for field in type_ if field.name != self._corrupt]
        self._fields = [(field.name, read_of(field.type, options)) for field in kept]
        self._nulls = dict.fromkeys(field.name for field in type_)

    def read(self, line: str) -> dict[str, Any]:
        parts = self._lines.parts(line)
        row, whole = self._row(parts or [])
        if parts is None or not whole or len(parts) != len(self._fields):
            if self._fails:
                message = f"Malformed records are detected in record parsing: {line}"
                raise ValueError(f"[MALFORMED_RECORD_IN_PARSING] {message}")
            if self._corrupt in self._nulls:
                row[self._corrupt] = line or None
        return row

    def _row(self, parts: list[str | None]) -> tuple[dict[str, Any], bool]:
        row, whole = dict(self._nulls), True
        for (name, read), part in zip(self._fields, parts, strict=False):
            if part is not None and part != self._null:
                row[name] = read(part)
                whole = whole and row[name] is not None
        return row, whole


def read_of(type_: pa.DataType, options: Mapping[str, str]) -> Read:
    """Refused for types that no field of CSV has."""
    if is_integral(type_):
        limit = 2 ** (type_.bit_width - 1)
        return lambda text: _integer(text, limit)
    if is_float(type_):
        odd = {
            options.get("nanvalue", "NaN"): "nan",
            options.get("positiveinf", "Inf"): "inf",
            options.get("negativeinf", "-Inf"): "-inf",
        }
        return lambda text: _float(text, odd, type_ == FLOAT)
    if is_decimal(type_):
        return lambda text: _decimal(text, type_)
    if type_ in FORMATS and FORMATS[type_] in options:
        return readers(options)[type_]
    if type_ not in _READS:
        raise Refused("a field of CSV is a number, text, date, timestamp or BOOLEAN", at=1)
    return _READS[type_]


def _integer(text: str, limit: int) -> int | None:
    found = int(text) if _INTEGER.fullmatch(text) and len(text) < 40 else None
    return found if found is not None and -limit <= found < limit else None


def _float(text: str, odd: Mapping[str, str], single: bool) -> float | None:
    if text in odd:
        return float(odd[text])
    plain = text.strip(BLANK)
    found = _JAVA.fullmatch(plain)
    if found is None:
        return float(_JAVA_ODD[plain]) if plain in _JAVA_ODD else None
    with np.errstate(over="ignore"):
        return float(np.float32(found[1])) if single else float(found[1])


def _decimal(text: str, type_: pa.DataType) -> Decimal | None:
    plain = text.replace(",", "")
    try:
        return decimal_of(Decimal(plain), type_) if _DECIMAL.fullmatch(plain) else None
    except ArithmeticError:  # of hundreds of digits
        return None


def _truth(text: str) -> bool | None:
    return {"true": True, "false": False}.get(text.lower())


def _day(text: str) -> int | None:
    return None if text.strip(BLANK).lower() == "epoch" else days_of(text)


def _instant(text: str) -> int | None:
    return None if text.strip(BLANK).lower() == "epoch" else micros_of(text)


def _clock(text: str) -> int | None:
    return clock_of(text, zoned=False)


FORMATS = {
    DATE: "dateformat",
    TIMESTAMP: "timestampformat",
    TIMESTAMP_NTZ: "timestampntzformat",
}
_READS: Mapping[pa.DataType, Read] = {
    STRING: lambda text: text,
    BINARY: str.encode,
    BOOLEAN: _truth,
    DATE: _day,
    TIMESTAMP: _instant,
    TIMESTAMP_NTZ: _clock,
}


@lru_cache(maxsize=256)
def _reader(type_: pa.DataType, options: str) -> Reader:
    return Reader(type_, json.loads(options))


@vector("fromcsv", typed=True)
def FROM_CSV(result: pa.DataType, lines: pa.Array, options: pa.Array) -> pa.Array:  # noqa: N802
    if not len(lines):
        return pa.nulls(0, result)
    read = _reader(result, options[0].as_py()).read
    return made([None if line is None else read(line) for line in lines.to_pylist()], result)


def inferred(line: object, options: str) -> str:
    """Of a constant line."""
    if not isinstance(line, str) or not line:
        raise Refused("a schema is that of a constant line", legal="'1,abc'", at=0)
    parts = Lines(json.loads(options)).parts(line) or []
    fields = (f"_c{at}: {_inferred(part or '')}" for at, part in enumerate(parts))
    return f"STRUCT<{', '.join(fields)}>"


def _inferred(part: str) -> str:
    if _integer(part, 2**31) is not None:
        return "INT"
    if _integer(part, 2**63) is not None:
        return "BIGINT"
    if _INTEGER.fullmatch(part) and len(part.strip("+-")) <= 38:
        return f"DECIMAL({len(part.strip('+-'))},0)"
    if _float(part, {"Inf": "inf", "-Inf": "-inf"}, single=False) is not None:
        return "DOUBLE"
    if re.fullmatch(r"\d{4}-\d\d-\d\d", part) and days_of(part) is not None:
        return "DATE"
    if part and (is_time_of_day(part) or micros_of(part) is not None):
        return "TIMESTAMP"
    return "BOOLEAN" if _truth(part) is not None else "STRING"
