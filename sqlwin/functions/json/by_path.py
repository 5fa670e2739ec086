"""Parts of JSON by paths, and the operators of PostgreSQL: of nothing and errors, see `looked_up`.

The words between the arguments of JSON_VALUE, JSON_QUERY and JSON_EXISTS come as constants, of the
functions whose names have a space.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast as as_type

from sqlwin.functions.core.entry import Call, Function, function, of, rendered
from sqlwin.functions.core.literals import literal
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import STRING
from sqlwin.functions.core.vectors import Vector
from sqlwin.functions.json import looked_up, operators
from sqlwin.functions.json.sql_path import LEGAL, parsed


def _by_path(made: Vector, *words: str) -> Callable[[Call], str]:
    """words: what is behind the path, where the call has none."""

    def text(call: Call) -> str:
        path = as_type(Typed, call.args[1])
        if path.value is not None and parsed(str(path.value)) is None:
            raise Refused(f"'{path.value}' is no path of JSON", legal=LEGAL, at=1)
        more = tuple(literal(word, STRING) for word in words)
        return rendered(made, Call((*call.args, *more), call.result))

    return text


def _along(made: Vector) -> Callable[[Call], str]:
    """Steps that are arguments."""

    def text(call: Call) -> str:
        return _steps(made, call, ", ".join(call.texts[1:]))

    return text


def _along_array(made: Vector) -> Callable[[Call], str]:
    """Steps that are a text of PostgreSQL's, `{a,b}`."""

    def text(call: Call) -> str:
        given = as_type(Typed, call.args[1]).value
        steps = [] if given is None else operators.array_of(str(given))
        if steps is None:
            raise Refused(f"'{given}' is no array of steps", legal="payload #> '{items,0}'", at=1)
        return _steps(made, call, ", ".join(literal(step, STRING).sql for step in steps))

    return text


def _steps(made: Vector, call: Call, steps: str) -> str:
    named = made.named([STRING, operators.STEPS], STRING)
    return f"{named}({call.texts[0]}, CAST([{steps}] AS VARCHAR[]))"


_WORDS = tuple(
    Function((name,), (overload,))
    for name, overload in {
        "json value": of(
            "(STRING, STRING!, STRING!, STRING!) -> STRING", _by_path(looked_up.VALUES), fails=True
        ),
        "json outcome": of("(STRING, STRING!) -> INT", looked_up.OUTCOMES, fails=False),
        "json query": of(
            "(STRING, STRING!, STRING!, STRING!, STRING!) -> STRING",
            _by_path(looked_up.QUERIES),
            fails=True,
        ),
        "json exists": of(
            "(STRING, STRING!, STRING!) -> BOOLEAN", _by_path(looked_up.EXISTS), fails=True
        ),
        "is json": of(
            "(STRING, STRING!) -> BOOLEAN",
            lambda call: f"coalesce({rendered(looked_up.IS_JSON, call)}, false)",
        ),
    }.items()
)
"""Called by what the grammar makes of words."""


def _arrow(
    name: str, step: Vector, index: Vector, doc: str, strict: bool = True
) -> tuple[Function, ...]:
    return (
        function(
            name,
            of("(STRING, STRING) -> STRING", step, strict=strict),
            of("(STRING, BIGINT) -> STRING", index, strict=True),
            doc=doc,
        ),
    )


FUNCTIONS: tuple[Function, ...] = (
    function(
        "json_value",
        of("(STRING, STRING!) -> STRING", _by_path(looked_up.VALUES, "NULL", "NULL")),
        doc="The scalar at a path, as text or `RETURNING` a type, which is behind the path; then "
        "`NULL`, `ERROR` or `DEFAULT x`, `ON EMPTY` and `ON ERROR`.",
    ),
    function(
        "json_query",
        of(
            "(STRING, STRING!) -> STRING",
            _by_path(looked_up.QUERIES, "WITHOUT", "NULL", "NULL"),
        ),
        doc="The array or object at a path, behind which may be `WITH [UNCONDITIONAL] WRAPPER` or "
        "`WITH CONDITIONAL WRAPPER`; then `NULL`, `ERROR`, `EMPTY ARRAY` or `EMPTY OBJECT`, "
        "`ON EMPTY` and `ON ERROR`.",
    ),
    function(
        "json_exists",
        of("(STRING, STRING!) -> BOOLEAN", _by_path(looked_up.EXISTS, "FALSE")),
        doc="Whether a path leads to a value that is no null; behind it `TRUE`, `FALSE`, "
        "`UNKNOWN` or `ERROR`, `ON ERROR`.",
    ),
    function(
        "json_length",
        of("(STRING, STRING?) -> INT", looked_up.LENGTHS, fails=False),
        doc="How many elements the array, or fields the object, at a path has; 1 for a scalar.",
    ),
    *_arrow(
        "->",
        operators.STEP,
        operators.INDEX,
        "The JSON of an object's field, or of an array's element, from 0 or, below it, the end.",
    ),
    *_arrow("->>", operators.STEP_TEXT, operators.INDEX_TEXT, "As `->`, as text."),
    function(
        "#>",
        of("(STRING, ARRAY<STRING>) -> STRING", operators.ALONG),
        of("(STRING, STRING!) -> STRING", _along_array(operators.ALONG), fails=True, strict=True),
        doc="The JSON that several steps lead to, `'{items,0,sku}'` or an array of them.",
    ),
    function(
        "#>>",
        of("(STRING, ARRAY<STRING>) -> STRING", operators.ALONG_TEXT),
        of(
            "(STRING, STRING!) -> STRING",
            _along_array(operators.ALONG_TEXT),
            fails=True,
            strict=True,
        ),
        doc="As `#>`, as text.",
    ),
    function(
        "jsonb_extract_path json_extract_path",
        of("(STRING, STRING, STRING...) -> STRING", _along(operators.ALONG), fails=True),
        doc="The JSON that several steps lead to.",
    ),
    function(
        "jsonb_extract_path_text json_extract_path_text",
        of("(STRING, STRING, STRING...) -> STRING", _along(operators.ALONG_TEXT), fails=True),
        doc="What several steps lead to, as text.",
    ),
    *_arrow(
        "json_extract",
        operators.EXTRACT,
        operators.INDEX,
        "The JSON at a path, a JSON pointer (`/a/0`), a name or an index.",
        strict=False,
    ),
    *_arrow(
        "json_extract_string",
        operators.EXTRACT_TEXT,
        operators.INDEX_TEXT,
        "As JSON_EXTRACT, as text.",
        strict=False,
    ),
    *_WORDS,
)
