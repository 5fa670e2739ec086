"""Java's regular expressions, written anew for two engines that do not know them.

| engine         | takes                                         | time                     |
|----------------|-----------------------------------------------|--------------------------|
| RE2            | what has neither looks around nor memory      | as long as the text is   |
| Python `regex` | the rest: `(?=…)`, `\\1`, `a++`, Unicode's `\\b` | stopped after a second   |

Both find the same match, the first and in it the first alternative, as Java's. A pattern is parsed
once and written for both. Some are the same in RE2 for most texts only: `$` before the end of the
last line, `\\b` beside letters that are not of ASCII. Those are marked `common`, and each text is
looked at first.

>>> made = translated("(a|b)+$")
>>> print(ascii(made.text))
'(a|b)+(?:(?<!\\\\r)(?=\\\\n\\\\Z)|(?=(?:\\\\r\\\\n|[\\\\r\\x85\\u2028\\u2029])?\\\\Z))'
>>> made.re2, made.common, made.groups
('(a|b)+\\\\z', True, 1)
>>> translated("(")
Traceback (most recent call last):
sqlwin.functions.regex.classes.BadPattern: Unclosed group
"""

from __future__ import annotations

import re
from functools import lru_cache

from sqlwin.functions.regex.atoms import Atoms
from sqlwin.functions.regex.classes import BadPattern
from sqlwin.functions.regex.pattern_reader import Flags
from sqlwin.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Translated:
    """text: for `regex`. re2: for RE2, None where it is none of its. common: re2 is the same only
    for texts of ASCII in one line. test: for RE2, where only whether there is a match counts.
    literal: the only text that matches."""

    text: str
    re2: str | None
    common: bool
    test: str | None
    groups: int
    names: dict[str, int]
    literal: str | None


class _Parser(Atoms):
    def alternatives(self) -> None:
        """Up to the end of a group, or of the pattern."""
        flags = self.flags
        while True:
            self.sequence()
            if not self.take("|"):
                break
            self.put("|")
        self.flags = flags

    def sequence(self) -> None:
        while self.at < len(self.pattern) and self.peek() not in "|)":
            if "x" in self.flags and self.blank():
                continue
            start = len(self.out)
            if self.atom():
                self.quantifier(start)

    def atom(self) -> bool:
        """False for what cannot be repeated."""
        letter = self.next()
        if letter in "?*+":
            raise BadPattern(f"Dangling meta character '{letter}'")
        if letter == "{":
            raise BadPattern("Illegal repetition")
        if letter == "\\":
            return self.escape()
        if letter == "(":
            return self.group()
        if letter == "[":
            made = self.class_()
            self.plain = self.plain and made.plain
            self.put(made.written())
        elif letter in "^$":
            self.anchor(letter)
        elif letter == ".":
            self.dot()
        else:
            self.literal(letter)
        return True

    def quantifier(self, start: int) -> None:
        found = self.count()
        if found is None:
            return
        if self.take("?"):
            found += "?"
        elif self.take("+"):
            self.plain = False
            found += "+"
        one = [self.out[at] for at in range(start, len(self.out))]
        del self.out[start:]
        group = one[0][0].startswith("(") and one[-1][0].endswith(")")
        if not group and (len(one) != 1 or not _is_one(one[0][0])):
            one = [("(?:",) * 3, *one, (")",) * 3]
        self.out += [*one, (found,) * 3]

    def count(self) -> str | None:
        if self.peek() in ("*", "+", "?") and self.peek():
            return self.next()
        if not self.take("{"):
            return None
        found = re.compile(r"(\d+)(,(\d*))?\}").match(self.pattern, self.at)
        if found is None:
            raise BadPattern("Illegal repetition")
        low, high = int(found[1]), found[3]
        if high and int(high) < low:
            raise BadPattern("Illegal repetition range")
        self.at = found.end()
        self.plain = self.plain and max(low, int(high or 0)) <= 1000
        return "{" + found[0]

    def group(self) -> bool:
        flags = self.flags
        if not self.take("?"):
            self.groups += 1
            return self.grouped("(", flags)
        for mark in ("=", "!", "<=", "<!", ">"):
            if self.peek(len(mark)) == mark and self.take(mark):
                self.plain = False
                return self.grouped(f"(?{mark}", flags)
        if self.take("<"):
            return self.named(flags)
        return self.flagged(flags)

    def named(self, flags: Flags) -> bool:
        name = self.until(">")
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", name):
            raise BadPattern("The name of a group begins with a letter, and has letters and digits")
        if name in self.names:
            raise BadPattern(f"Named capturing group <{name}> is already defined")
        self.groups += 1
        self.names[name] = self.groups
        return self.grouped("(", flags)

    def flagged(self, flags: Flags) -> bool:
        """`(?i)` holds to the end of the group around, `(?i:…)` for its own."""
        found = re.compile(r"([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])").match(self.pattern, self.at)
        if found is None or not set(found[1] + (found[2] or "")) <= set("idmsuxU"):
            raise BadPattern("Unknown inline modifier")
        self.at = found.end()
        letters = (flags.letters | set(found[1])) - set(found[2] or "")
        if "U" in letters:
            self.plain = False
        self.flags = Flags(letters)
        return self.grouped("(?:", flags) if found[3] == ":" else False

    def grouped(self, mark: str, flags: Flags) -> bool:
        self.put(mark)
        self.depth += 1
        self.alternatives()
        self.depth -= 1
        if not self.take(")"):
            raise BadPattern("Unclosed group")
        self.put(")")
        self.flags = flags
        return True

    def translated(self) -> Translated:
        self.alternatives()
        if self.at < len(self.pattern):
            raise BadPattern("Unmatched closing ')'")
        text, re2, test = ("".join(piece[way] for piece in self.out) for way in range(3))
        plain = self.plain
        return Translated(
            text,
            re2 if plain else None,
            self.common,
            test if plain and self.testable else None,
            self.groups,
            self.names,
            "".join(self.letters) if len(self.letters) == len(self.out) else None,
        )


def _is_one(text: str) -> bool:
    """Whether a quantifier behind it takes all of it."""
    return len(text) == 1 or (text[0] == "\\" and len(text) == 2) or _is_class(text)


def _is_class(text: str) -> bool:
    return text[0] == "[" and re.fullmatch(r"\[(?:\\.|[^\\\]])*\]", text, re.DOTALL) is not None


@lru_cache(maxsize=1024)
def translated(pattern: str) -> Translated:
    """BadPattern where Java would not take it."""
    return _Parser(pattern).translated()
