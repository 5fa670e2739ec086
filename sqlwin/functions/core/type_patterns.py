"""One type of a signature, as `ARRAY<T>` or `INT?`, and which types it takes.

Invariant: a letter stands for one type in all of a signature (`Bound`), the widest of what is given
for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa

from sqlwin.functions.core.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DAY_TIME,
    DOUBLE,
    FLOAT,
    INT,
    NULL,
    SMALLINT,
    STRING,
    TINYINT,
    YEAR_MONTH,
    as_decimal,
    is_decimal,
    is_float,
    is_integral,
    is_interval,
    is_list,
    is_map,
    is_numeric,
    is_orderable,
    is_struct,
)
from sqlwin.functions.core.widening import implicit, widest
from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ

Bound = dict[str, pa.DataType]
"""Of each letter, the type it stands for so far."""
CONCRETE: dict[str, pa.DataType] = {
    "BOOLEAN": BOOLEAN,
    "TINYINT": TINYINT,
    "SMALLINT": SMALLINT,
    "INT": INT,
    "BIGINT": BIGINT,
    "FLOAT": FLOAT,
    "DOUBLE": DOUBLE,
    "STRING": STRING,
    "BINARY": BINARY,
    "DATE": DATE,
    "TIMESTAMP": TIMESTAMP,
    "TIMESTAMP_NTZ": TIMESTAMP_NTZ,
    "VOID": NULL,
}
INTERVALS = {"INTERVAL_YM": YEAR_MONTH, "INTERVAL_DT": DAY_TIME}
CLASSES: dict[str, Callable[[pa.DataType], bool]] = {
    "N": is_numeric,
    "I": is_integral,
    "F": is_float,
    "O": is_orderable,
    "S": lambda type_: type_ in (STRING, BINARY),
}
_DEFAULTS = {"N": DOUBLE, "I": INT, "F": DOUBLE, "S": STRING}
"""What a NULL alone is taken for."""
ANY = "TUVKAOB"


@dataclass(frozen=True)
class Pattern:
    """name: of a type, a letter, ARRAY, MAP, STRUCT, ANY or `=>`. inner: of nested ones; of a
    lambda its parameters and its result."""

    name: str
    inner: tuple[Pattern, ...] = ()
    type: pa.DataType | None = None
    constant: bool = False

    @property
    def is_lambda(self) -> bool:
        return self.name == "=>"

    @property
    def is_letter(self) -> bool:
        return re.fullmatch(r"[A-Z]\d?", self.name) is not None

    def bind(self, given: pa.DataType, bound: Bound, loose: bool) -> bool:
        """Whether a type may be given here; letters become as wide as it needs."""
        if self.type is not None:
            return implicit(given, self.type, loose)
        if self.is_letter:
            return self._bind_letter(given, bound, loose)
        if self.name == "STRUCT":
            return is_struct(given)
        if given == NULL or self.name == "ANY":
            return True
        if self.name == "DECIMAL":
            return is_decimal(given) or is_integral(given)
        if self.name in INTERVALS:
            return is_interval(given) and given.whole == INTERVALS[self.name]
        parts = _parts(given, self.name)
        if parts is None or not self.inner:
            return parts is not None
        return all(
            pattern.bind(part, bound, loose=False)
            for pattern, part in zip(self.inner, parts, strict=True)
        )

    def _bind_letter(self, given: pa.DataType, bound: Bound, loose: bool) -> bool:
        wide = widest(bound.get(self.name, NULL), given, loose)
        of_class = CLASSES.get(self.name[0])
        if wide == STRING and of_class in (is_numeric, is_float) and loose:
            wide = DOUBLE
        if wide is None or (wide != NULL and of_class is not None and not of_class(wide)):
            return False
        bound[self.name] = wide
        return True

    def made(self, bound: Bound, given: pa.DataType | None = None) -> pa.DataType:
        """The type this stands for. given: what was passed, kept where nothing is wanted."""
        if self.type is not None:
            return self.type
        if self.is_letter:
            found = bound.get(self.name, NULL)
            return _DEFAULTS.get(self.name[0], NULL) if found == NULL else found
        if self.name in ("ARRAY", "MAP") and (self.inner or given == NULL):
            return self._nested([part.made(bound) for part in self.inner] or [NULL, NULL])
        if self.name in INTERVALS:
            whole = INTERVALS[self.name]
            kept = given is not None and is_interval(given) and given.whole == whole
            return given if kept else whole
        assert given is not None, f"{self.name} says nothing of a result"
        if self.name == "DECIMAL":
            return pa.decimal128(1, 0) if given == NULL else as_decimal(given)
        return given

    def _nested(self, parts: list[pa.DataType]) -> pa.DataType:
        """Arrow has no map whose keys are of no type: those of NULL are texts."""
        first, *rest = parts
        if self.name == "ARRAY":
            return pa.list_(first)
        return pa.map_(STRING if first == NULL else first, *rest)


def _parts(type_: pa.DataType, nested: str) -> tuple[pa.DataType, ...] | None:
    if nested == "ARRAY" and is_list(type_):
        return (type_.value_type,)
    if nested == "MAP" and is_map(type_):
        return (type_.key_type, type_.item_type)
    return None


@dataclass(frozen=True)
class Match:
    """wanted: what each argument has to become, None for a lambda. bound: of letters so far."""

    wanted: tuple[pa.DataType | None, ...]
    bound: Bound
    result: pa.DataType | None
