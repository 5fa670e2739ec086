"""Functions of regular expressions, as Java has them: see `regex.translation`.

A constant pattern that RE2 takes is matched by DuckDB or Arrow, which have RE2 within; any other
is matched text by text.
"""

from __future__ import annotations

import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.limits import BYTES
from sqlwin.functions.core.literals import literal
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import BOOLEAN, INT, STRING
from sqlwin.functions.core.vectors import by_value, only, vector
from sqlwin.functions.regex.matching import Matcher, all_extracted, begin, extracted, matcher, split
from sqlwin.functions.regex.replacing import parts_of, replaced
from sqlwin.functions.texts.parts import replace
from sqlwin.functions.texts.regex_calls import TEXTS, called, constant, never_empty, timed


@vector("rlike")
def _rlike(texts: pa.Array, patterns: pa.Array) -> pa.Array:
    pattern = only(patterns)
    if pattern is not None:
        found = matcher(pattern)
        if found.fast is not None and found.how.test is not None:
            return pc.match_substring_regex(texts, found.how.test)
    begin()
    return by_value(_matches, texts, patterns, type=BOOLEAN)


def _matches(text: str, pattern: str) -> bool:
    return matcher(pattern).find(text) is not None


def _rlike_text(call: Call) -> str:
    found = constant(call)
    if found is not None and found.how.literal is not None:
        return f"contains({call.texts[0]}, {literal(found.how.literal, STRING).sql})"
    return called(_rlike, call, BOOLEAN)


_replaced = timed("regexpreplace")(replaced)


@vector("regexpreplaceall")
def _all_replaced(texts: pa.Array, patterns: pa.Array, replacements: pa.Array) -> pa.Array:
    """By Arrow, where RE2 takes a constant pattern that no empty text matches: of empty matches
    Java finds others. And where no value can get too long."""
    pattern, put = only(patterns), only(replacements)
    made = None if pattern is None or put is None else _rewritten(matcher(pattern), put)
    longest = pc.max(pc.binary_length(texts)).as_py() or 0
    if made is not None and longest * made[1] <= BYTES:
        found = matcher(pattern).how.re2
        return pc.replace_substring_regex(texts, pattern=found, replacement=made[0])
    begin()
    return by_value(replaced, texts, patterns, replacements, type=STRING)


def _rewritten(found: Matcher, replacement: str) -> tuple[str, int] | None:
    """As RE2 has it, and how many times longer it may make a text; None where it does not do."""
    if not never_empty(found):
        return None
    try:
        parts = parts_of(replacement, found.how)
    except ValueError:
        return None
    if any(isinstance(part, int) and part > 9 for part in parts):
        return None
    texts = (f"\\{part}" if isinstance(part, int) else part for part in parts)
    made = "".join("\\\\" if text == "\\" else text for text in texts)
    return made, 1 + sum(4 for _ in parts)


def _replace_text(call: Call) -> str:
    if len(call.args) == 4:
        position = call.args[3]
        assert isinstance(position, Typed)
        if position.is_constant and position.value is not None and position.value < 1:
            raise Refused("a position counts from 1", at=3)
        return called(_replaced, call, STRING)
    found, put = constant(call), call.args[2]
    assert isinstance(put, Typed)
    plain = isinstance(put.value, str) and not set(put.value) & set("\\$")
    if found is not None and found.how.literal and plain:
        old = literal(found.how.literal, STRING).sql
        return f"{replace.named([STRING] * 3, STRING)}({call.texts[0]}, {old}, {put.sql})"
    return called(_all_replaced, call, STRING)


_extracted = timed("regexpextract")(extracted)
_all_extracted = timed("regexpextractall")(all_extracted)
_ONE = "CAST(1 AS INTEGER)"


def _extract_text(call: Call) -> str:
    """By DuckDB, where RE2 takes a constant pattern that has the group."""
    found, group = constant(call), _group(call)
    if found is not None and found.exact and 0 <= group <= min(found.how.groups, 9):
        pattern = literal(found.how.re2, STRING).sql
        return f"regexp_extract({call.texts[0]}, {pattern}, {group})"
    return called(_extracted, call, STRING, *[_ONE] * (len(call.args) == 2))


def _group(call: Call) -> int:
    """-1 where it is not the same for all rows."""
    if len(call.args) == 2:
        return 1
    given = call.args[2]
    assert isinstance(given, Typed)
    return given.value if isinstance(given.value, int) else -1


def _extract_all_text(call: Call) -> str:
    found, group = constant(call), _group(call)
    if found is not None and never_empty(found) and 0 <= group <= min(found.how.groups, 9):
        pattern = literal(found.how.re2, STRING).sql
        all_of = f"regexp_extract_all({call.texts[0]}, {pattern}, {group})"
        return f"list_apply({all_of}, lambda __g: coalesce(__g, ''))" if group else all_of
    return called(_all_extracted, call, TEXTS, *[_ONE] * (len(call.args) == 2))


def _counted(text: str, pattern: str) -> int:
    return len(matcher(pattern).all(text)[1])


@vector("regexpcount")
def _count(texts: pa.Array, patterns: pa.Array) -> pa.Array:
    pattern = only(patterns)
    if pattern is not None and never_empty(matcher(pattern)):
        return pc.count_substring_regex(texts, matcher(pattern).how.re2)
    begin()
    return by_value(_counted, texts, patterns, type=INT)


def _placed(text: str, pattern: str, _group: int) -> int:
    match = matcher(pattern).find(text)
    return 0 if match is None else match.start() + 1


@vector("regexpinstr")
def _place(texts: pa.Array, patterns: pa.Array, groups: pa.Array) -> pa.Array:
    """Arrow says the place in bytes, which are letters where all are of ASCII."""
    pattern = only(patterns)
    found = None if pattern is None or groups.null_count else matcher(pattern)
    if found is not None and found.exact and pc.all(pc.string_is_ascii(texts)).as_py():
        return pc.add(pc.find_substring_regex(texts, found.how.re2), pa.scalar(1, INT))
    begin()
    return by_value(_placed, texts, patterns, groups, type=INT)


def _place_text(call: Call) -> str:
    return called(_place, call, INT, *["CAST(0 AS INTEGER)"] * (len(call.args) == 2))


@timed("regexpsubstr")
def _found(text: str, pattern: str) -> str | None:
    match = matcher(pattern).find(text)
    return str(match[0]) or None if match is not None else None


def _found_text(call: Call) -> str:
    found = constant(call)
    if found is not None and found.exact:
        pattern = literal(found.how.re2, STRING).sql
        return f"nullif(regexp_extract({call.texts[0]}, {pattern}, 0), '')"
    return called(_found, call, STRING)


@vector("split")
def _split(texts: pa.Array, patterns: pa.Array, limits: pa.Array) -> pa.Array:
    """By Arrow, where RE2 takes a constant pattern that no empty text matches."""
    pattern, limit = only(patterns), only(limits)
    if pattern and limit is not None:
        found = matcher(pattern)
        if never_empty(found):
            most = limit - 1 if limit > 0 else None
            return pc.split_pattern_regex(texts, pattern=found.how.re2, max_splits=most)
    begin()
    return by_value(split, texts, patterns, limits, type=TEXTS)


def _split_text(call: Call) -> str:
    found = constant(call)
    if len(call.args) == 2 and found is not None and found.how.literal:
        return f"string_split({call.texts[0]}, {literal(found.how.literal, STRING).sql})"
    return called(_split, call, TEXTS, *["CAST(-1 AS INTEGER)"] * (len(call.args) == 2))


FUNCTIONS: tuple[Function, ...] = (
    function(
        "rlike regexp regexp_like",
        of("(STRING, STRING) -> BOOLEAN", _rlike_text, fails=True),
        doc="Whether the regular expression matches a part of the text.",
    ),
    function(
        "regexp_replace",
        of("(STRING, STRING, STRING, INT!?) -> STRING", _replace_text, fails=True),
        doc="With each match replaced, from a position on; $1 is the first group.",
    ),
    function(
        "regexp_extract",
        of("(STRING, STRING, INT?) -> STRING", _extract_text, fails=True),
        doc="A group of the first match, the first one or of a number; empty without a match.",
    ),
    function(
        "regexp_extract_all",
        of("(STRING, STRING, INT?) -> ARRAY<STRING>", _extract_all_text, fails=True),
        doc="A group of each match, the first one or of a number.",
    ),
    function(
        "regexp_count",
        of("(STRING, STRING) -> INT", _count),
        doc="The number of matches.",
    ),
    function(
        "regexp_instr",
        of("(STRING, STRING, INT?) -> INT", _place_text, fails=True),
        doc="Where the first match begins, from 1; 0 if there is none.",
    ),
    function(
        "regexp_substr",
        of("(STRING, STRING) -> STRING", _found_text, fails=True),
        doc="The first match; NULL if there is none, or it is empty.",
    ),
    function(
        "split",
        of("(STRING, STRING, INT?) -> ARRAY<STRING>", _split_text, fails=True),
        doc="The parts between matches; at most so many where a limit above 0 is given.",
    ),
)
