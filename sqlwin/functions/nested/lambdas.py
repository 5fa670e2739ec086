"""Functions of arrays that take a lambda."""

from __future__ import annotations

from typing import cast as as_type

import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.entry import Call, Function, Overload, function, of
from sqlwin.functions.core.limits import BYTES
from sqlwin.functions.core.sizes import held
from sqlwin.functions.core.typed import Body, Refused
from sqlwin.functions.core.types import BINARY, STRING, is_nested, name
from sqlwin.functions.core.vectors import vector

_INDEXED = ("{0}", "CAST({1} - 1 AS INTEGER)")
"""DuckDB counts from 1."""
_PAIR = ("struct_extract({0}, 1)", "struct_extract({0}, 2)")


def _tested(word: str, known: str) -> Overload:
    """EXISTS and FORALL: OR, and AND, of all of it. known: the value at which they end."""

    def text(call: Call) -> str:
        body = as_type(Body, call.args[1])
        (own,) = body.names
        if body.result.fails:  # what comes behind the end is not computed
            one = f"(__b {word} {body.result.sql})"
            step = f"CASE WHEN __b = {known} THEN {known} ELSE {one} END"
            start = "false" if known == "true" else "true"
            return f"list_reduce({call.texts[0]}, lambda __b, {own}: {step}, {start})"
        end, rest = known, "false" if known == "true" else "true"
        whole = (
            f"CASE WHEN __b IS NULL THEN NULL WHEN list_contains(__b, {end}) THEN {end}"
            f" WHEN list_position(__b, NULL) IS NULL THEN {rest} END"
        )
        return f"list_apply([list_transform({call.filled('{0}, {1}')})], lambda __b: {whole})[1]"

    return of("(ARRAY<T>, (T) => BOOLEAN) -> BOOLEAN", text)


@vector("bounded")
def _bounded(array: pa.Array) -> pa.Array:
    """What an accumulator has become: it may double with each element."""
    if array.nbytes > BYTES:
        sizes = pa.array([array.slice(at, 1).nbytes for at in range(len(array))])
        if pc.max(sizes).as_py() > BYTES:
            raise ValueError(f"AGGREGATE makes a value of more than {BYTES} bytes")
    return array


def _aggregate(call: Call) -> str:
    arrays, start = call.texts[:2]
    merge = as_type(Body, call.args[2])
    type_ = call.type(1)
    if merge.result.type != type_:
        message = f"{name(type_).upper()}, as the start is, not {name(merge.result.type).upper()}"
        raise Refused(f"the lambda of AGGREGATE gives {message}", legal="a CAST of the start", at=2)
    text = merge.result.sql
    if type_ in (STRING, BINARY) or is_nested(type_):
        text = f"{_bounded.named([type_], type_)}({text})"
    reduced = f"list_reduce({arrays}, lambda {', '.join(merge.names)}: {text}, {start})"
    if len(call.args) == 3:
        return reduced
    finish = as_type(Body, call.args[3])
    done = f"list_apply([{reduced}], {finish.sql})[1]"
    return f"CASE WHEN {arrays} IS NOT NULL THEN {done} END"


def _transform(call: Call) -> str:
    return held(call.filled("list_transform({0}, {1})"), call.type(1))


def _zip_with(call: Call) -> str:
    one, other, merge = call.texts
    zipped = held(f"list_transform(list_zip({one}, {other}), {merge})", call.type(2))
    return f"CASE WHEN {one} IS NOT NULL AND {other} IS NOT NULL THEN {zipped} END"


_ACCUMULATED = "(ARRAY<T>, A, (A, T) => A) -> A"
_FINISHED = "(ARRAY<T>, A, (A, T) => A, (A) => U) -> U"

FUNCTIONS: tuple[Function, ...] = (
    function(
        "transform",
        of("(ARRAY<T>, (T) => U) -> ARRAY<U>", _transform),
        of("(ARRAY<T>, (T, INT) => U) -> ARRAY<U>", _transform, parameters=_INDEXED),
        doc="What a lambda makes of each element, and of its index from 0.",
    ),
    function(
        "filter",
        of("(ARRAY<T>, (T) => BOOLEAN) -> ARRAY<T>", "list_filter({0}, {1})"),
        of(
            "(ARRAY<T>, (T, INT) => BOOLEAN) -> ARRAY<T>",
            "list_filter({0}, {1})",
            parameters=_INDEXED,
        ),
        doc="The elements for which a lambda is true, which may take the index from 0, too.",
    ),
    function(
        "exists",
        _tested("OR", "true"),
        doc="Whether a lambda is true for an element; NULL where it is for none, but unknown.",
    ),
    function(
        "forall",
        _tested("AND", "false"),
        doc="Whether a lambda is true for all elements; NULL where it is not known.",
    ),
    function(
        "aggregate reduce",
        of(_ACCUMULATED, _aggregate),
        of(_FINISHED, _aggregate),
        doc="A start, with each element merged into it by a lambda; another one may finish it.",
    ),
    function(
        "zip_with",
        of("(ARRAY<T>, ARRAY<U>, (T, U) => V) -> ARRAY<V>", _zip_with, parameters=_PAIR),
        doc="What a lambda makes of each two elements; the shorter array ends in NULLs.",
    ),
)
