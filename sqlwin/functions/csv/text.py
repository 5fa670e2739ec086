"""TO_CSV: the fields of a struct as a line of CSV.

A text is quoted where it has a separator, a quote or a line's end in it; blanks around it are cut
off. A NULL is nothing, an empty text is `""`.

>>> row = pa.array([{"a": 1, "b": 'x, "y"', "c": ""}])
>>> TO_CSV.compute(row, pa.array(["{}"]))[0].as_py()
'1,"x, \\\\"y\\\\"",""'
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from sqlwin.functions.core.nested_values import values
from sqlwin.functions.core.types import (
    BINARY,
    STRING,
    is_list,
    is_map,
    is_struct,
)
from sqlwin.functions.core.vectors import vector
from sqlwin.functions.json.text import key_text
from sqlwin.functions.json.time_options import printers

Text = Callable[[Any], str]
BLANK = "".join(map(chr, range(0x21)))


@vector("tocsv")
def TO_CSV(rows: pa.Array, options: pa.Array) -> pa.Array:  # noqa: N802
    chosen = json.loads(options[0].as_py()) if len(options) else {}
    line = _Line(rows.type, chosen)
    return pa.array([None if row is None else line.of(row) for row in values(rows)], STRING)


class _Line:
    """options: names in lower case."""

    def __init__(self, type_: pa.DataType, options: Mapping[str, str]) -> None:
        def on(name: str, default: str) -> bool:
            return options.get(name, default).lower() == "true"

        times = printers(options)
        self._fields = [
            (field.name, times.get(field.type) or text_of(field.type)) for field in type_
        ]
        self._between = options.get("sep", options.get("delimiter", ","))
        self._quote = options.get("quote", '"')
        self._escape = options.get("escape", "\\")
        self._null = options.get("nullvalue", "")
        self._empty = options.get("emptyvalue", '""')
        self._all = on("quoteall", "false")
        self._left = on("ignoreleadingwhitespace", "true")
        self._right = on("ignoretrailingwhitespace", "true")

    def of(self, row: dict[str, Any]) -> str:
        found = [self._value(row[name], text) for name, text in self._fields]
        if found == [""]:
            raise ValueError("a line of CSV cannot be one NULL")
        return self._between.join(found)

    def _value(self, value: Any, text: Text) -> str:
        if value is None:
            return self._quoted(self._null) if self._all else self._null
        made = text(value)
        made = made.lstrip(BLANK) if self._left else made
        made = made.rstrip(BLANK) if self._right else made
        if not made:
            return self._empty
        special = any(part in made for part in (self._between, self._quote, "\n", "\r"))
        return self._quoted(made) if special or self._all else made

    def _quoted(self, text: str) -> str:
        if self._escape != self._quote:
            text = text.replace(self._escape, self._escape * 2)
        return f"{self._quote}{text.replace(self._quote, self._escape + self._quote)}{self._quote}"


def text_of(type_: pa.DataType) -> Text:
    """A NULL within a nested value is nothing."""
    if is_list(type_):
        item = text_of(type_.value_type)
        return lambda value: f"[{_listed([_or_none(item, each) for each in value])}]"
    if is_struct(type_):
        fields = [(field.name, text_of(field.type)) for field in type_]
        return lambda value: f"{{{_listed([_or_none(t, value[name]) for name, t in fields])}}}"
    if is_map(type_):
        key, item = text_of(type_.key_type), text_of(type_.item_type)
        return lambda value: f"{{{', '.join(_entry(key(k), _or_none(item, v)) for k, v in value)}}}"
    return _LEAVES.get(type_) or key_text(type_)


def _or_none(text: Text, value: Any) -> str | None:
    return None if value is None else text(value)


def _listed(parts: list[str | None]) -> str:
    first, *others = parts or [None]
    rest = ("," if part is None else f", {part}" for part in others)
    return (first or "") + "".join(rest)


def _entry(key: str, item: str | None) -> str:
    return f"{key} ->" if item is None else f"{key} -> {item}"


_LEAVES: Mapping[pa.DataType, Text] = {
    BINARY: lambda value: f"[{value.hex(' ').upper()}]",
    **printers({}),
}
