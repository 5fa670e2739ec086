"""What a NULL keeps from being computed: most of Spark's functions evaluate their arguments from
left to right, up to the first that is NULL, so that `a + b * c` does not overflow where `a` is
NULL. Those that divide evaluate the divisor first. Where an argument is NULL for every row, such as
`CAST(NULL AS INT)`, none of them is evaluated.

>>> from sqlwin.functions.core.types import INT
>>> call = Call((Typed("a", INT), Typed("(b * c)", INT, fails=True)), INT)
>>> guarded("+", "({0} + {1})", call)
'CASE WHEN a IS NOT NULL THEN (a + (b * c)) END'
>>> guarded("%", "({0} % {1})", Call((call.args[1], call.args[0]), INT))
'CASE WHEN a IS NOT NULL THEN ((b * c) % a) END'
>>> guarded("+", "({0} + {1})", Call((Typed("a", INT), Typed("b", INT)), INT))
'(a + b)'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlwin.functions.core.entry import Call, How, rendered
from sqlwin.functions.core.typed import Body, Typed

MOST = 400
"""Characters of an operand that is computed twice rather than bound by a lambda."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RIGHT_FIRST = _names("/ % div pmod try_divide try_mod")
_NULL_IF_ANY = _RIGHT_FIRST | _names(
    """
    + - * try_add try_subtract try_multiply & | ^ ~ << >> >>> bit_get negative positive abs
    = <> < <= > >= not
    log pow hypot atan2 conv width_bucket sqrt
    substring left right replace translate substring_index overlay lpad rpad repeat instr contains
    startswith endswith find_in_set like ilike rlike regexp_replace regexp_extract
    regexp_extract_all regexp_count regexp_instr split split_part sha2 upper lower length reverse
    trim ltrim rtrim btrim initcap ascii hex unhex md5 round bround ceil floor
    date_add date_sub add_months next_day datediff timestampdiff months_between date_format
    make_date format_number year month day hour minute second dayofweek weekday dayofyear
    quarter weekofyear last_day unix_timestamp unix_micros
    [] element_at try_element_at get levenshtein array_position array_contains slice array_union
    array_except array_intersect arrays_overlap array_remove map_contains_key map_from_arrays
    """
)
"""Functions that are NULL where any argument is."""
_NULL_IF_FIRST = frozenset(("nullif", "concat"))
"""Of these Spark looks at the others even where one of those is a NULL as it stands."""


def is_null(function: str, call: Call) -> bool:
    """Whether it is NULL for every row, whatever its other arguments are."""
    args = call.args if function in _NULL_IF_ANY else call.args[: int(function in _NULL_IF_FIRST)]
    return any(isinstance(arg, Typed) and arg.value is None for arg in args)


def guarded(function: str, how: How, call: Call) -> str:
    """The call as text, with arguments that may fail kept from the rows that those before them
    decide."""
    if function not in _NULL_IF_ANY | _NULL_IF_FIRST:
        return rendered(how, call)
    order = list(range(len(call.args)))
    if function in _RIGHT_FIRST:
        order.reverse()
    failing = [place for place, at in enumerate(order) if place and _fails(call.args[at])]
    if function in _RIGHT_FIRST and _fails(call.args[-1]):
        failing.append(1)  # the engine does not look at it where all of the left is NULL
    for place in reversed(range(max(failing, default=0))):
        how = _unless_null(how, order[place])
    return rendered(how, call)


def _fails(arg: Typed | Body) -> bool:
    return isinstance(arg, Typed) and arg.fails


def _unless_null(how: How, at: int) -> Callable[[Call], str]:
    """NULL where that argument is, before anything else is looked at."""

    def text(call: Call) -> str:
        looked = call.args[at]
        assert isinstance(looked, Typed)
        if looked.is_constant and looked.value is not None:
            return rendered(how, call)
        if len(looked.sql) <= MOST:
            return f"CASE WHEN {looked.sql} IS NOT NULL THEN {rendered(how, call)} END"
        name = f"__q{at}"  # within one another
        args = (*call.args[:at], replace(looked, sql=f"{name}.a"), *call.args[at + 1 :])
        body = rendered(how, replace(call, args=args))
        body = f"CASE WHEN {name}.a IS NOT NULL THEN {body} END"
        return f"list_apply([{{'a': {looked.sql}}}], lambda {name}: {body})[1]"

    return text
