"""Functions of one text, or of several put together: length, concatenation, single characters.

Texts are measured in code points, as Spark's UTF8String does.
"""

from __future__ import annotations

import pyarrow as pa

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Call, Function, failing, function, of
from sqlwin.functions.core.limits import check_bytes
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import STRING, is_atomic, is_list, name
from sqlwin.functions.core.vectors import valued, vector
from sqlwin.functions.never import COLLATION


def _concat(call: Call) -> str:
    """Beside a NULL as it stands the others are evaluated, too."""
    args = [arg for arg in call.args if isinstance(arg, Typed)]
    at = next((at for at, arg in enumerate(args) if arg.is_constant and arg.value is None), 0)
    if any(arg.fails for arg in args[:at]):
        before = " || ".join(arg.sql for arg in args[:at])
        null = f"CAST(NULL AS {call.engine_type})"
        return f"CASE WHEN ({before}) IS NULL THEN {null} ELSE {null} END"
    return f"({' || '.join(call.texts)})" if call.args else "''"


def _concat_bytes(call: Call) -> str:
    return f"({' || '.join(call.texts)})"


@vector("concatws")
def concat_ws(separators: pa.Array, lists: pa.Array) -> pa.Array:
    """Elements that are NULL are left out."""
    rows = zip(separators.to_pylist(), lists.to_pylist(), strict=True)
    return pa.array([_joined(by, texts) for by, texts in rows], STRING)


def _joined(separator: str | None, texts: list[str | None]) -> str | None:
    if separator is None:
        return None
    known = [text for text in texts if text is not None]
    check_bytes(4 * (sum(map(len, known)) + len(separator) * len(known)))
    return separator.join(known)


def _concat_ws(call: Call) -> str:
    """Of texts and arrays of them: DuckDB puts them into one array first."""
    separator, *others = call.args
    assert isinstance(separator, Typed)
    parts = [_elements(arg, at) for at, arg in enumerate(others, 1) if isinstance(arg, Typed)]
    vectors = concat_ws.named([STRING, pa.list_(STRING)], STRING)
    return f"{vectors}({separator.sql}, {_all_of(parts)})"


def _all_of(parts: list[str]) -> str:
    made = parts[0]
    for part in parts[1:]:
        made = f"list_concat({made}, {part})"
    return f"coalesce({made}, CAST([] AS VARCHAR[]))"


def _elements(arg: Typed, at: int) -> str:
    if is_list(arg.type):
        if arg.type.value_type != STRING:
            raise Refused(f"CONCAT_WS does not take {name(arg.type).upper()}", at=at)
        return arg.sql
    if not is_atomic(arg.type) and arg.value is not None:
        raise Refused(f"CONCAT_WS does not take {name(arg.type).upper()}", at=at)
    return f"[{cast(arg, STRING, implicitly=True).sql}]"


@valued("reverse")
def reverse(text: str) -> str:
    return text[::-1]


@valued("quote")
def quote(text: str) -> str:
    quoted = text.replace("'", "\\'")
    return f"'{quoted}'"


def _elt(call: Call) -> str:
    """The texts after the first argument, by its number."""
    at, *others = call.texts
    whens = "".join(f" WHEN {place} THEN {text}" for place, text in enumerate(others, 1))
    outside = failing("INVALID_ARRAY_INDEX", f"The index is out of bounds: of 1 to {len(others)}.")
    chosen = f"CASE __e.at{whens} ELSE {outside} END"
    made = f"CASE WHEN __e.at IS NULL THEN NULL ELSE {chosen} END"
    return f"list_apply([{{'at': {at}}}], lambda __e: {made})[1]"


def _collate(call: Call) -> str:
    collation = call.args[1]
    assert isinstance(collation, Typed)
    if str(collation.value).upper() != "UTF8_BINARY":
        message = f"there is no collation {collation.value}: {COLLATION}"
        raise Refused(message, "UTF8_BINARY", at=1)
    return call.texts[0]


def _bits(length: str) -> str:
    return f"CAST(8 * {length} AS INTEGER)"


_CHR = "CASE WHEN {0} < 0 THEN '' ELSE chr(CAST({0} & 255 AS INTEGER)) END"
_BYTES = "octet_length({0})"
FUNCTIONS: tuple[Function, ...] = (
    function(
        "concat ||",
        of("(STRING...) -> STRING", _concat),
        of("(BINARY, BINARY...) -> BINARY", _concat_bytes),
        doc="All one behind the other; NULL if one of them is.",
    ),
    function(
        "concat_ws",
        of("(STRING) -> STRING", "CASE WHEN {0} IS NOT NULL THEN '' END"),
        of("(STRING, STRING...) -> STRING", "concat_ws({all})"),
        of("(STRING, ANY...) -> STRING", _concat_ws, fails=True),
        doc="All that are not NULL with the first between them; of arrays, their elements.",
    ),
    function(
        "length len char_length character_length",
        of("(STRING) -> INT", "CAST(length({0}) AS INTEGER)"),
        of("(BINARY) -> INT", f"CAST({_BYTES} AS INTEGER)"),
        doc="The number of characters, or of bytes.",
    ),
    function(
        "octet_length",
        of("(STRING) -> INT", "CAST(strlen({0}) AS INTEGER)"),
        of("(BINARY) -> INT", f"CAST({_BYTES} AS INTEGER)"),
        doc="The number of bytes.",
    ),
    function(
        "bit_length",
        of("(STRING) -> INT", _bits("strlen({0})")),
        of("(BINARY) -> INT", _bits(_BYTES)),
        doc="The number of bits.",
    ),
    function("reverse", of("(STRING) -> STRING", reverse), doc="From its end to its start."),
    function(
        "ascii",
        of("(STRING) -> INT", "CAST(ascii({0}) AS INTEGER)"),
        doc="The code point of the first character; 0 of no text.",
    ),
    function(
        "chr char",
        of("(BIGINT) -> STRING", _CHR),
        doc="The character of a code point from 0 to 255; beyond it starts again.",
    ),
    function(
        "elt",
        of("(INT, STRING, STRING...) -> STRING", _elt, fails=True),
        of("(INT, BINARY, BINARY...) -> BINARY", _elt, fails=True),
        doc="The argument of that number; 1 is the one behind the number.",
    ),
    function(
        "quote",
        of("(STRING) -> STRING", quote),
        doc="In quotes, with a backslash before each quote within.",
    ),
    function(
        "collate",
        of("(STRING, STRING!) -> STRING", _collate),
        doc="The text as it is; UTF8_BINARY is the collation there is.",
    ),
    function(
        "collation",
        of("(STRING) -> STRING", "'SYSTEM.BUILTIN.UTF8_BINARY'"),
        doc="The collation of texts, the same of all.",
    ),
)
