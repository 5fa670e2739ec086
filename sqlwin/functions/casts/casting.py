"""What a cast is made of: the kinds of types, and what each pair of kinds has to say.

Modules of casts hold a table each, `CASTS: dict[tuple[str, str], How]`, from a kind to a kind:

    CASTS = {("boolean", "integral"): lambda c: c.text("CAST({0} AS {result})"),
             ("string", "integral"): lambda c: c.vector(STRICT, LENIENT)}

`cast.cast` looks there, after it has dealt with equal types, NULLs and constants.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa

from sqlwin.functions.core import types
from sqlwin.functions.core.entry import Call
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.vectors import Vector
from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import TIMESTAMP, TIMESTAMP_NTZ

_ATOMIC = {
    types.NULL: "void",
    types.BOOLEAN: "boolean",
    types.STRING: "string",
    types.BINARY: "binary",
    types.DATE: "date",
    TIMESTAMP: "timestamp",
    TIMESTAMP_NTZ: "timestamp_ntz",
}
_CLASSES: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (types.is_integral, "integral"),
    (types.is_float, "float"),
    (types.is_decimal, "decimal"),
    (types.is_list, "array"),
    (types.is_map, "map"),
    (types.is_struct, "struct"),
)


_SIMPLE = ("CAST({0} AS {result})", "CAST(trunc({0}) AS {result})")
"""Where DuckDB's own TRY_CAST does."""


def kind(type_: pa.DataType) -> str:
    """Which row or column of the table of casts a type is."""
    if types.is_interval(type_):
        return "year_month" if type_.is_months else "day_time"
    found = _ATOMIC.get(type_)
    return found or next(named for belongs, named in _CLASSES if belongs(type_))


@dataclass(frozen=True)
class Casting:
    """A cast under way. safe: TRY_CAST: what fails is NULL. inner: the same kind of cast, of what
    is within a nested value."""

    given: Typed
    to: pa.DataType
    safe: bool
    inner: Callable[[Typed, pa.DataType], Typed]

    def text(self, template: str, fails: bool = False) -> Typed:
        """DuckDB's text, with `{0}` for the value and `{result}` for the wanted type's name.

        fails: its conversions may. For a TRY_CAST they give NULL then, but what is cast fails as
        it would anywhere.
        """
        call = Call((self.given,), self.to)
        if not (fails and self.safe):
            return self._made(call.filled(template), fails)
        if template in _SIMPLE:
            return self._made(call.filled(f"TRY_{template}"), fails)
        if not self.given.fails:
            return self._made(f"TRY({call.filled(template)})", fails)
        bound = Call((replace(self.given, sql="__t.a"),), self.to).filled(template)
        whole = f"list_apply([{{'a': {self.given.sql}}}], lambda __t: TRY({bound}))[1]"
        return self._made(whole, fails)

    def vector(self, strict: Vector, lenient: Vector | None = None) -> Typed:
        """Python's: one that raises, and one that gives NULL instead. Alone it never fails."""
        chosen = lenient if self.safe and lenient is not None else strict
        named = chosen.named([self.given.type], self.to)
        return self._made(f"{named}({self.given.sql})", lenient is not None)

    def _made(self, sql: str, fails: bool) -> Typed:
        return Typed(sql, self.to, fails=self.given.fails or (fails and not self.safe))


How = Callable[[Casting], Typed]
"""Refused where the two types are of the right kinds, but cannot be cast all the same."""
