"""Lines of CSV in texts: read, written, and what is in them."""

from __future__ import annotations

from typing import Any
from typing import cast as as_type

import pyarrow as pa

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.literals import literal
from sqlwin.functions.core.typed import Body, Refused, Typed
from sqlwin.functions.core.types import NULL, STRING, is_struct, name
from sqlwin.functions.csv import read as csv_read
from sqlwin.functions.csv.read import FROM_CSV, read_of
from sqlwin.functions.csv.text import TO_CSV
from sqlwin.functions.json.options import NO_ZONES, options, printable, schema
from sqlwin.functions.json.time_options import FORMATS

_BOTH = ("sep", "delimiter", "quote", "escape", "nullValue")
_BLANKS = (*FORMATS, "ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace")
_WRITING = (*_BOTH, *_BLANKS, "emptyValue", "quoteAll")
_READING = (
    *(*_BOTH, *_BLANKS, "mode", "columnNameOfCorruptRecord", "comment"),
    *("nanValue", "positiveInf", "negativeInf"),
)
_NEVER = (
    *NO_ZONES,
    *("charToEscapeQuoteEscaping", "escapeQuotes", "lineSep", "unescapedQuoteHandling"),
    *("multiLine", "header", "enforceSchema", "preferDate", "charset", "encoding"),
)


def _behind(args: tuple[Any, ...], at: int) -> Typed | None:
    return args[at] if len(args) > at else None


def _to_csv(call: Call) -> str:
    given = as_type(Typed, call.args[0])
    if given.type == NULL:
        return "CAST(NULL AS VARCHAR)"
    if not is_struct(given.type):
        message = f"TO_CSV takes a struct, not {name(given.type).upper()}"
        raise Refused(message, legal="TO_CSV(STRUCT(a, b))", at=0)
    chosen = options(_behind(call.args, 1), _WRITING, _NEVER, reads=False)
    wanted = cast(given, printable(given.type), implicitly=True)
    named = TO_CSV.named([wanted.type, STRING], STRING)
    return f"{named}({wanted.sql}, {literal(chosen, STRING).sql})"


def _from_csv_type(args: tuple[Typed | Body, ...]) -> pa.DataType:
    made = schema(str(as_type(Typed, args[1]).value))
    if not is_struct(made):
        raise Refused(f"FROM_CSV makes no {name(made).upper()}", legal="'a INT, b STRING'", at=1)
    for field in made:
        read_of(field.type, {})
    return made


def _from_csv(call: Call) -> str:
    chosen = options(_behind(call.args, 2), _READING, _NEVER)
    named = FROM_CSV.named([STRING, STRING], call.result)
    return f"{named}({call.texts[0]}, {literal(chosen, STRING).sql})"


def _schema_of_csv(call: Call) -> str:
    line = as_type(Typed, call.args[0]).value
    chosen = options(_behind(call.args, 1), _READING, _NEVER)
    return literal(csv_read.inferred(line, chosen), STRING).sql


FUNCTIONS: tuple[Function, ...] = (
    function(
        "to_csv",
        of("(ANY, STRING!?) -> STRING", _to_csv, fails=True),
        doc="The fields of a struct as a line of CSV.",
    ),
    function(
        "from_csv",
        of("(STRING, STRING!, STRING!?)", _from_csv, typing=_from_csv_type, fails=True),
        doc="A line of CSV as a struct of a schema; what does not fit is NULL.",
    ),
    function(
        "schema_of_csv",
        of("(STRING!, STRING!?) -> STRING", _schema_of_csv, strict=True),
        doc="The schema of a constant line of CSV.",
    ),
)
