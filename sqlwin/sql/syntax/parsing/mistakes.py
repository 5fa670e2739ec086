"""Syntax errors, taught by example.

`grammar/mistakes/*.txt` hold wrong texts under the message each deserves. Two
texts make the same mistake where the parser stops in the same state at the same
word or, failing that, at the same kind of word.
Before them comes a change that makes the statement readable, see `repairs`; anything else says
what was read and what might have stood there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from pathlib import Path

from lark import Lark, Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.expressions.volatile import WINDOWS, WINDOWS_LEGAL, is_clock
from sqlwin.sql.syntax.parsing.repairs import Repair, comma_too_many, inserted, repair
from sqlwin.sql.text.prepared import offset, span

END = "the end of the text"
_CALLED = re.compile(r"(\bOF\s+)?\b(\w+)\s*\Z", re.IGNORECASE)
"""What is called where the parser stops, and whether it is the version of a table."""
_BEFORE = (
    (
        "COMMA",
        re.compile(r"\bIN\s+[^\s(][^(),]*\Z", re.IGNORECASE),
        "IN needs brackets",
        "product IN ('tea', 'coffee')",
    ),
    (
        "COMMA",
        re.compile(r"\bBETWEEN\s+[^\s,]+\s*\Z", re.IGNORECASE),
        "BETWEEN needs AND between its bounds",
        "qty BETWEEN 1 AND 2",
    ),
    (
        "LPAR",
        re.compile(r"\b(?:session_)?window\s*\(\s*\w+\s*\Z", re.IGNORECASE),
        "a window is of a column, and of no expression",
        "a computed column, at AS TO_TIMESTAMP(text), WATERMARK FOR at AS at; window(at, '1 hour')",
    ),
    (
        "AS",
        re.compile(r"\b(?:TIMESTAMP|VERSION)\s*\Z", re.IGNORECASE),
        "a stream is read as its rows come, and not as of a time or a version",
        "FROM orders; JOIN rates FOR SYSTEM_TIME AS OF o.ts, the version of each row's time",
    ),
)
"""The kind of word at which the parser stops, what the text ends with there, and the message that
it deserves with what is legal: these have no state of their own."""
_WORDS = {
    "NAME": "a name",
    "STRING": "'text'",
    "NUMBER": "a number",
    "LPAR": "(",
    "RPAR": ")",
    "COMMA": ",",
    "EQUAL": "=",
    "SEMICOLON": ";",
    "DOT": ".",
    "LSQB": "[",
    "RSQB": "]",
    "KIND": "STREAM",
    "SIDE": "PRECEDING",
    "KSQL_PART": "SIZE",
    "WINDOW_WORD": "WINDOW",
    "NAMED_WINDOW": "WINDOW",
    "_GROUP": "GROUP",
    "KSQL_WINDOW": "WINDOW TUMBLING",
    "MATCH": "MATCH_CONDITION",
    "LATERAL_VIEW": "LATERAL VIEW",
    "ORDINALITY": "WITH ORDINALITY",
    "AS_OF": "FOR SYSTEM_TIME AS OF",
    "BEGIN_SET": "BEGIN STATEMENT SET",
    "EXPLAIN_SET": "EXPLAIN STATEMENT SET BEGIN",
    "EXECUTE_SET": "EXECUTE STATEMENT SET BEGIN",
    "MACRO": "FUNCTION",
    "MATERIALIZED": "MATERIALIZED VIEW",
    "DROPPED": "TABLE",
    "SHOWN": "TABLES",
    "WITH_OPTIONS": "WITH",
    "ENCODING": "FORMAT PLAIN ENCODE",
    "_PIPE": "|>",
    "MATCH_RECOGNIZE": "MATCH_RECOGNIZE",
    "SERIES": "GENERATE_SERIES",
    "TABLE_ROWS": "TABLE",
    "CROSS_CALL": "CROSS JOIN",
    "LATERAL_CALL": "LATERAL",
    "LATERAL_QUERY": "LATERAL",
    "AS_OF_NOW": "FOR SYSTEM_TIME AS OF PROCTIME",
    "$END": "the end",
}
_QUIET = frozenset(
    (
        "END_SET",
        "SET_OPERATION",
        "TEXT",
        "OP",
        "STAR",
        "HINT",
        "STREAM_OPERATOR",
        "NTH_VALUE",
        "UNNEST",
        "DOT",
        "EQUAL",
    )
)


_BEHIND = ("", "SET a = b; ", "SET a = b; SET a = b; ")
"""The parser's states at the beginning of a statement: the first, the second, and those behind."""


@dataclass(frozen=True)
class Stop:
    """Where the parser stopped: its state, and the word's kind and text in capitals."""

    state: object
    kind: str
    word: str


@dataclass(frozen=True)
class Lesson:
    message: str
    legal: str
    examples: tuple[str, ...]


_WINDOW_FIRST = Lesson(
    "a ksqlDB window stands between FROM and GROUP BY",
    "FROM orders WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY product EMIT CHANGES",
    (),
)
_ANYWHERE = {"KSQL_WINDOW": _WINDOW_FIRST}
"""What is a mistake wherever the parser stops at it, by its kind."""


def explained(
    unexpected: UnexpectedInput, text: str, grammar: Lark, folder: Path, start: str
) -> QueryError:
    place = _place(unexpected, text)
    stop = _stop(unexpected)
    called = _CALLED.search(text, 0, offset(text, place))
    if stop.kind == "LPAR" and called is not None and not called[1] and is_clock(called[2]):
        return QueryError(WINDOWS, span(text, *called.span(2)), text, WINDOWS_LEGAL)
    if start == "start":
        meant = repair(text, offset(text, place), grammar)
        if meant is not None:
            return _proposed(meant, text)
    lesson = _ANYWHERE.get(stop.kind) or _nearest(stop, taught(grammar, folder))
    if lesson is not None:
        return QueryError(lesson.message, place, text, lesson.legal)
    for kind, pattern, message, legal in _BEFORE:
        if kind == stop.kind and pattern.search(text, 0, offset(text, place)):
            return QueryError(message, place, text, legal)
    for change in (inserted, comma_too_many) if start == "start" else ():
        meant = change(text, offset(text, place), grammar)
        if meant is not None:
            return _proposed(meant, text)
    shown = END if stop.kind == "$END" else _shown(unexpected)
    return QueryError(f"cannot read {shown} here", place, text, _expected(unexpected))


def _proposed(meant: Repair, text: str) -> QueryError:
    return QueryError(meant.message, span(text, meant.at, meant.at + meant.length), text)


def lessons(folder: Path) -> Iterator[Lesson]:
    """Blocks of a message, a line `legal: …`, and wrong texts, one a line."""
    for path in sorted((folder / "mistakes").glob("*.txt")):
        for block in path.read_text("utf-8").split("\n\n"):
            lines = [line for line in block.splitlines() if line and not line.startswith("#")]
            if lines:
                message, legal, *examples = lines
                yield Lesson(message, legal.removeprefix("legal: "), tuple(examples))


@lru_cache(maxsize=1)
def taught(grammar: Lark, folder: Path) -> tuple[tuple[Stop, Lesson], ...]:
    """Where each example stops: alone, and as a statement behind others."""
    known: dict[Stop, Lesson] = {}
    for lesson in lessons(folder):
        for before, example in product(_BEHIND, lesson.examples):
            try:
                grammar.parse(before + example, start="start")
            except UnexpectedInput as unexpected:
                known.setdefault(_stop(unexpected), lesson)
            else:
                raise ValueError(f"not a mistake: {example}")
    return tuple(known.items())


def _nearest(stop: Stop, known: tuple[tuple[Stop, Lesson], ...]) -> Lesson | None:
    same = [(other, lesson) for other, lesson in known if other.state == stop.state]
    for other, lesson in same:
        if (other.kind, other.word) == (stop.kind, stop.word):
            return lesson
    for other, lesson in same:
        if other.kind == stop.kind:
            return lesson
    return None


def _stop(unexpected: UnexpectedInput) -> Stop:
    state = getattr(unexpected, "state", None)
    position = getattr(state, "position", None)
    if isinstance(unexpected, UnexpectedToken):
        token: Token = unexpected.token
        return Stop(position, token.type, str(token).upper())
    return Stop(position, "character", getattr(unexpected, "char", ""))


def _shown(unexpected: UnexpectedInput) -> str:
    if isinstance(unexpected, UnexpectedToken):
        return str(unexpected.token)
    return str(getattr(unexpected, "char", "this"))


def _place(unexpected: UnexpectedInput, text: str) -> Span:
    if isinstance(unexpected, UnexpectedCharacters):
        start = int(unexpected.pos_in_stream or 0)  # type: ignore[redundant-expr]
        return span(text, start, start + 1)
    assert isinstance(unexpected, UnexpectedToken)
    if unexpected.token.type == "$END":
        end = len(text.rstrip())
        return span(text, end, end + 1)
    start = unexpected.token.start_pos or 0
    return span(text, start, start + len(unexpected.token))


def _expected(unexpected: UnexpectedInput) -> str:
    """Words that may stand there, the rare ones left out."""
    given = getattr(unexpected, "accepts", None) or getattr(unexpected, "expected", None) or ()
    names = sorted(name for name in given if name not in _QUIET and not name.startswith("__"))
    words = [_WORDS.get(name, name.replace("_", " ").strip()) for name in names]
    return ", ".join(dict.fromkeys(words))
