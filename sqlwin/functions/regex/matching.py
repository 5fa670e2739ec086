"""Java's matcher, over the engines of `translation`: find, split; `replacing` replaces.

>>> split("a1b2c", r"\\d", 2)
['a', 'b2c']

Java counts in units of UTF-16, and goes on by one of them behind an empty match: the next one may
be in the middle of a character beyond U+FFFF, which it cuts in two. Each half is `?` as UTF-8.

>>> split("\N{GRINNING FACE}", "x*", -1)
['?', '?', '']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from threading import local
from time import process_time
from typing import Any

import re2
import regex

from sqlwin.functions.regex.classes import BadPattern
from sqlwin.functions.regex.translation import Translated, translated
from sqlwin.lazy_dataclass import dataclass

SECONDS = 1.0
"""Of the engine that may take long, for all texts of one call."""
_time = local()
_MANY_LINES = re.compile("[\\n\\r]")
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False


@dataclass(frozen=True)
class Matcher:
    how: Translated

    @cached_property
    def fast(self) -> Any:
        """None where RE2 does not take it: it bounds the size of a pattern, too."""
        if self.how.re2 is None:
            return None
        try:
            return re2.compile(self.how.re2, _OPTIONS)
        except re2.error:
            return None

    @property
    def exact(self) -> bool:
        """Whether RE2 finds the same in every text."""
        return self.fast is not None and not self.how.common

    @cached_property
    def full(self) -> Any:
        try:
            return regex.compile(self.how.text)
        except regex.error as failure:
            raise BadPattern(f"this regular expression cannot be read: {failure}") from None

    def _fits(self, text: str) -> bool:
        if self.fast is None:
            return False
        return not self.how.common or (text.isascii() and not _MANY_LINES.search(text))

    def find(self, text: str) -> Any:
        """The first match; None where there is none."""
        if self._fits(text):
            return self.fast.search(text)
        return _in_time(lambda left: self.full.search(text, timeout=left))

    def all(self, text: str) -> tuple[str, list[Any]]:
        """All matches, and the text they are of, where a character may be cut into two halves."""
        found = list(self._whole(text))
        if text.isascii() or not any(_is_before_pair(match, text) for match in found):
            return text, found
        return self._cut(text)

    def _cut(self, text: str) -> tuple[str, list[Any]]:
        found, at = list[Any](), 0
        while at <= len(text):
            match = _in_time(lambda left: self.full.search(text, at, timeout=left))  # noqa: B023
            if match is None:
                break
            found.append(match)
            at = match.end()
            if _is_before_pair(match, text):
                text = text[:at] + _halves(text[at]) + text[at + 1 :]
            at += match.start() == at
        return text, found

    def _whole(self, text: str) -> Iterator[Any]:
        if not self._fits(text):
            yield from _in_time(lambda left: list(self.full.finditer(text, timeout=left)))
            return
        last = None
        for match in self.fast.finditer(text):
            # RE2's finds an empty match twice where it did not begin to look
            if match.span() != last:
                yield match
            last = match.span()


def _is_before_pair(match: Any, text: str) -> bool:
    """Whether it is empty, and before a character beyond U+FFFF."""
    at = match.end()
    return match.start() == at and text[at : at + 1] > "\uffff"


def _halves(character: str) -> str:
    high, low = divmod(ord(character) - 0x10000, 0x400)
    return chr(0xD800 + high) + chr(0xDC00 + low)


def joined(text: str) -> str:
    """Halves side by side are one character again; others are `?`."""
    if text.isascii():
        return text
    pairs = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return pairs.encode("utf-8", "replace").decode("utf-8")


def begin() -> None:
    """A call begins: it has all its time."""
    _time.left = SECONDS


def _in_time(search: Callable[[float], Any]) -> Any:
    left, start = getattr(_time, "left", SECONDS), process_time()
    try:
        return search(left)
    except TimeoutError:
        message = f"a regular expression takes more than {SECONDS} s"
        raise ValueError(message) from None
    finally:
        _time.left = max(left - (process_time() - start), 0.001)


@lru_cache(maxsize=1024)
def matcher(pattern: str) -> Matcher:
    """ValueError where Java would not take it."""
    try:
        made = Matcher(translated(pattern))
        if made.fast is None:
            _ = made.full
    except (BadPattern, RecursionError) as failure:
        raise ValueError(
            f"[INVALID_PARAMETER_VALUE.PATTERN] PatternSyntaxException: {failure}: {pattern[:200]}"
        ) from None
    return made


def _group(match: Any, number: int, groups: int) -> str:
    """Empty where the group has no part in the match."""
    if not 0 <= number <= groups:
        raise ValueError(
            "[INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX] Expects group index between 0 and "
            f"{groups}, but got {number}."
        )
    return match[number] or ""


def extracted(text: str, pattern: str, number: int) -> str:
    found = matcher(pattern)
    match = found.find(text)
    return "" if match is None else _group(match, number, found.how.groups)


def all_extracted(text: str, pattern: str, number: int) -> list[str]:
    found = matcher(pattern)
    _, matches = found.all(text)
    return [joined(_group(match, number, found.how.groups)) for match in matches]


def split(text: str, pattern: str, limit: int) -> list[str]:
    """At most so many parts, all of them where the limit is no more than 0."""
    if text and not pattern:
        last = limit - 1 if 0 < limit < len(text) else len(text)
        return [*text[:last], *([text[last:]] * (last < len(text)))]
    made: list[str] = []
    at = 0
    text, matches = matcher(pattern).all(text)
    for match in matches:
        if limit > 0 and len(made) == limit - 1:
            break
        if at == 0 and match.end() == 0:
            continue
        made.append(text[at : match.start()])
        at = match.end()
    return [joined(part) for part in (*made, text[at:])]
