"""What is known of an aggregate function: its arguments, constants and result.

>>> Param.FRACTION.accepts(0.5), Param.COUNT.accepts(0), Param.ERROR.accepts(0.05)
(True, False, True)
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import pyarrow as pa

from sqlwin.aggregates.results import Types
from sqlwin.lazy_dataclass import dataclass

NUMBER, PAIR = "a number", "two numbers"
LINE = "the dependent number, then the independent one"


class Param(Enum):
    """The kinds of constants; the value says it in words, for messages."""

    FRACTION = "a fraction from 0 to 1"
    COUNT = "a positive integer"
    TEXT = "a string, of BINARY a BINARY"
    LG = "an integer from 4 to 21"
    NOMINAL = "an integer from 4 to 26"
    ACCURACY = "an integer from 8 to 65535"
    FLAG = "TRUE or FALSE"
    ERROR = "a standard deviation from 0.001 to 0.39"

    def accepts(self, value: object) -> bool:
        if self is Param.FLAG:
            return isinstance(value, bool)
        if self is Param.TEXT:
            return isinstance(value, str | bytes)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return False
        if self is Param.COUNT:
            return isinstance(value, int) and value > 0
        if self in _INTEGERS:
            least, most = _INTEGERS[self]
            return isinstance(value, int) and least <= value <= most
        smallest, largest = (0.001, 0.39) if self is Param.ERROR else (0, 1)
        return smallest <= value <= largest


_INTEGERS = {Param.LG: (4, 21), Param.NOMINAL: (4, 26), Param.ACCURACY: (8, 65535)}


class Distinct(Enum):
    """What DISTINCT in front of the argument does."""

    REFUSED = "refused"
    SAME = "changes nothing"
    CHANGES = "equal arguments count once"


class Nothing(Enum):
    """The value where no row takes part."""

    NULL = "NULL"
    ZERO = "0"
    EMPTY = "an empty list"
    EMPTY_MAP = "an empty map"
    EMPTY_SKETCH = "an empty sketch"
    NO_BITS = "4096 bytes of 0"
    ALL_BITS = "4096 bytes of 255"


@dataclass(frozen=True)
class Signature:
    """name: canonical. arity: least and greatest number of arguments, constants aside.

    result: argument types to result type, None where they are not accepted.
    accepts: in words, for messages. example: a legal call.
    params: constants after the arguments. defaults: of the last ones, where left out; None: none.
    several: with a COUNT it is of so many rows, an array.
    listed: a FRACTION may also be an array of them, and the result then is an array.
    distinct: what DISTINCT does. sorts: ORDER BY (or WITHIN GROUP) is allowed.
    limits: LIMIT is allowed, after it.
    casts: what arguments are cast to before, but BINARY. full_state: all values are kept.
    reads: an expression over `x`, which an argument that is accepted becomes first; what raises in
    it is an error of its row.
    invertible: a row can be taken out again exactly (sums: integers and DECIMAL).
    exact: False for sketches; bound then gives the error. nothing: of no rows.
    """

    name: str
    arity: tuple[int, int]
    result: Callable[[Types], pa.DataType | None]
    accepts: str
    example: str
    params: tuple[Param, ...] = ()
    defaults: tuple[int | float | str | None, ...] = ()
    several: bool = False
    listed: bool = False
    distinct: Distinct = Distinct.REFUSED
    sorts: bool = False
    limits: bool = False
    casts: pa.DataType | None = None
    reads: str = ""
    full_state: bool = False
    invertible: bool = False
    exact: bool = True
    bound: str = ""
    nothing: Nothing = Nothing.NULL

    def returns(self, types: Types, listed: bool = False) -> pa.DataType | None:
        """The result type; listed: the fractions were written as an array, or there is a COUNT."""
        one = self.result(types)
        array = listed and (self.listed or self.several)
        return pa.list_(one) if array and one is not None else one

    @property
    def numeric(self) -> bool:
        """Whether its arguments are numbers: a STRING then is read as a DOUBLE, as in Spark."""
        return self.accepts in (NUMBER, PAIR, LINE)

    def keeps_values(self, distinct: bool = False, limit: int | None = None) -> bool:
        """Whether a call keeps all (distinct) values instead of a small accumulator."""
        if self.full_state:
            return distinct or limit is None
        bounded = self.nothing is Nothing.EMPTY  # TOP_K keeps k of them
        return distinct and self.distinct is Distinct.CHANGES and not bounded
