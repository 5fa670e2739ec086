"""What was probably meant: the change of one word or sign that makes a statement readable.

A word near a keyword is taken for it, a bracket is closed or left out, a comma left out. A change
is proposed only where the whole statement can be read with it, so it is never a guess from the
word alone; of those that can, the nearest to the place where the parser stopped is proposed.

>>> from sqlwin.sql.syntax.parsing.parser import grammar
>>> text = "SELECT product, COUNT(*) AS n FRM orders GROUP BY product"
>>> repair(text, len(text), grammar())
Repair(message='FRM: did you mean FROM?', at=30, length=3)
>>> text = "SELECT UPPER(product FROM orders"
>>> repair(text, len(text), grammar()).message
'the ( behind UPPER is not closed'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache

from lark import Lark
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from sqlwin.lazy_dataclass import dataclass

LONGEST = 20_000
"""Characters of a text that is read again; a longer one has its message without a proposal."""
TRIED = 24
NEAR = 0.7
_TOKEN = re.compile(
    r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|`[^`]*`|--[^\n]*|[^\W\d]\w*|\S"
)
_KEYWORD = re.compile(r"(?<![\\\w])[A-Z][A-Z_]{2,}(?!\w)")
_NO_KEYWORDS = frozenset(("NAME", "RLIKE", "IDR", "TUMBLE", "HOP", "CUMULATE"))


@dataclass(frozen=True)
class Repair:
    """at, length: of what is wrong, in characters of the text."""

    message: str
    at: int
    length: int


@dataclass(frozen=True)
class _Change:
    """text: as it would be. distance: in characters, from where the parser stopped."""

    text: str
    repair: Repair
    distance: int


def repair(text: str, stop: int, grammar: Lark) -> Repair | None:
    """stop: where the parser stopped, in characters."""
    if len(text) > LONGEST:
        return None
    tokens = [(found.start(), found[0]) for found in _TOKEN.finditer(text)]
    tokens = [token for token in tokens if not token[1].startswith("--")]
    first = max((at + 1 for at, token in tokens if token == ";" and at < stop), default=0)
    last = min((at for at, token in tokens if token == ";" and at >= stop), default=len(text))
    own = [token for token in tokens if first <= token[0] < last]
    changes = sorted(_changes(text, own, stop, last, grammar), key=lambda change: change.distance)
    for change in changes[:TRIED]:
        if _reads(change.text, last + len(change.text) - len(text), grammar):
            return change.repair
    return None


def comma_too_many(text: str, stop: int, grammar: Lark) -> Repair | None:
    """Of a comma right before the place where the parser stopped.

    >>> from sqlwin.sql.syntax.parsing.parser import grammar
    >>> comma_too_many("CREATE STREAM orders (id INT,, product STRING)", 29, grammar())
    Repair(message='there is a comma too many', at=28, length=1)
    """
    at = len(text[:stop].rstrip()) - 1
    if len(text) > LONGEST or at < 0 or text[at] != ",":
        return None
    end = text.find(";", stop)
    changed = text[:at] + " " + text[at + 1 :]
    if not _reads(changed, len(text) if end < 0 else end, grammar):
        return None
    return Repair("there is a comma too many", at, 1)


def inserted(text: str, stop: int, grammar: Lark) -> Repair | None:
    """A sign that is missing before the word at the stop, or the quotes of a name around it.

    >>> from sqlwin.sql.syntax.parsing.parser import grammar
    >>> inserted("SET a = 1 SET b = 2", 10, grammar()).message
    'a ; is missing before SET'
    >>> inserted("CREATE STREAM s (from STRING)", 17, grammar()).message
    'from is a word of SQL; as a name it stands in backquotes: `from`'
    """
    found = _TOKEN.match(text, stop)
    if len(text) > LONGEST or found is None:
        return None
    token, end = found[0], found.end()
    last = text.find(";", end)
    last = len(text) if last < 0 else last
    said = {
        f"{text[:stop]}{sign} {text[stop:]}": f"a {called} is missing before {token}"
        for sign, called in ((",", "comma"), (";", ";"), ("=", "="))
    }
    if token[0] in "'\"" and len(token) > 2:
        name = f"`{token[1:-1]}`"
        said[f"{text[:stop]}{name}{text[end:]}"] = f"{token} is text; a name is {name}"
    elif token[0].isalpha():
        name = f"`{token}`"
        why = f"{token} is a word of SQL; as a name it stands in backquotes: {name}"
        said[f"{text[:stop]}{name}{text[end:]}"] = why
    for changed, message in said.items():
        if _reads(changed, last + len(changed) - len(text), grammar):
            return Repair(message, stop, len(token))
    return None


def _changes(
    text: str, tokens: list[tuple[int, str]], stop: int, last: int, grammar: Lark
) -> Iterator[_Change]:
    known = _keywords(grammar)
    opened: list[tuple[int, str]] = []
    before = ""
    reached = [token for token in tokens if token[0] <= stop]
    for at, token in tokens[: len(reached) + 1]:  # of INNER JION the first word stops the parser
        distance = abs(stop - at)
        if token[0].isalpha() and token.upper() not in known:
            for word in get_close_matches(token.upper(), known, 4, NEAR):
                changed = text[:at] + word + text[at + len(token) :]
                said = Repair(f"{token}: did you mean {word}?", at, len(token))
                yield _Change(changed, said, distance)
        if at > stop:
            break
        if token == ")" and not opened:
            changed = text[:at] + " " + text[at + 1 :]
            yield _Change(changed, Repair("this ) closes nothing", at, 1), distance)
        elif token == ")":
            opened.pop()
        elif token == "(":
            opened.append((at, before))
        before = token
    if opened:
        at, name = opened[-1]
        called = name[:1].isalpha() and name.upper() not in known
        said = Repair(
            f"the ( behind {name} is not closed" if called else "this ( is not closed", at, 1
        )
        yield from (
            _Change(f"{text[:end]}) {text[end:]}", said, stop - end)
            for end in _ends(tokens, at, stop, last)
        )


def _ends(tokens: list[tuple[int, str]], opened: int, stop: int, last: int) -> Iterator[int]:
    """Where the bracket may have been meant to close: before a word, or at the stop."""
    yield min(stop, last)
    yield from (at for at, token in reversed(tokens) if opened < at < stop and token[0].isalpha())


def _reads(text: str, end: int, grammar: Lark) -> bool:
    """Whether all of the statement that ends there can be read."""
    try:
        grammar.parse(text, start="start")
    except UnexpectedToken as unexpected:
        return unexpected.token.type != "$END" and (unexpected.token.start_pos or 0) > end
    except UnexpectedCharacters as unexpected:
        return int(unexpected.pos_in_stream or 0) > end  # type: ignore[redundant-expr]
    except UnexpectedInput:
        return False
    return True


@lru_cache(maxsize=1)
def _keywords(grammar: Lark) -> tuple[str, ...]:
    words = {
        word
        for terminal in grammar.terminals
        for word in _KEYWORD.findall(terminal.pattern.to_regexp())
    }
    return tuple(sorted(words - _NO_KEYWORDS))
