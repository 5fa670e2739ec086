"""Classes of characters, `[a-z&&[^\\d]]`, and characters behind a backslash, `\\x41`."""

from __future__ import annotations

import re
from functools import lru_cache

from sqlwin.functions.regex.classes import (
    SHORT,
    BadPattern,
    Class,
    in_both_cases,
    properties,
    quoted,
)
from sqlwin.functions.regex.pattern_reader import Reading

_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}


class Brackets(Reading):
    def character(self) -> str:
        """The one that stands behind a backslash."""
        letter = self.next()
        if letter in _CONTROLS:
            return _CONTROLS[letter]
        if letter in "xu":
            return self.by_number(letter)
        if letter == "0":
            found = re.compile(r"[0-3][0-7]{0,2}|[4-7][0-7]?").match(self.pattern, self.at)
            if found is None:
                raise BadPattern("Illegal octal escape sequence")
            self.at = found.end()
            return chr(int(found[0], 8))
        if letter == "c":
            return chr(ord(self.next()) ^ 64)
        if letter.isascii() and letter.isalpha():
            raise BadPattern("Illegal/unsupported escape sequence")
        return letter

    def by_number(self, letter: str) -> str:
        if letter == "x" and self.take("{"):
            digits = self.until("}")
        else:
            count = 2 if letter == "x" else 4
            digits = self.peek(count)
            self.at += count
            if len(digits) < count:
                raise BadPattern("Illegal escape sequence of a number")
        if not re.fullmatch("[0-9A-Fa-f]+", digits) or int(digits, 16) > 0x10FFFF:
            raise BadPattern("Illegal escape sequence of a number")
        return chr(int(digits, 16))

    def class_(self) -> Class:
        made = Class(negated=self.take("^"))
        empty = True
        while True:
            if self.at >= len(self.pattern):
                raise BadPattern("Unclosed character class")
            if self.peek() == "]" and not empty:
                self.at += 1
                return made
            if self.take("&&"):
                made.within.append(self.common_part())
            elif self.take("["):
                made.others.append(self.class_().written())
            elif "x" in self.flags and self.blank():
                continue
            else:
                self.item(made)
            empty = False

    def common_part(self) -> str:
        """What is behind `&&`, up to the next one or the end."""
        part = Class()
        while self.peek() not in ("]", "") and self.peek(2) != "&&":
            if self.take("["):
                part.others.append(self.class_().written())
            else:
                self.item(part)
        return part.written()

    def item(self, made: Class) -> None:
        if self.peek() == "\\":
            after = self.pattern[self.at + 1 : self.at + 2]
            if after == "Q":
                self.at += 2
                made.inside += "".join(map(quoted, self.until("\\E")))
                return
            if after and (after.lower() in SHORT or after in "pP"):
                self.class_escape(made)
                return
        first = self.one()
        last = first
        if self.peek() == "-" and self.peek(2) not in ("-]", "-["):
            self.at += 1
            last = self.one()
            if last < first:
                raise BadPattern("Illegal character range")
        self.range_(made, first, last)

    def range_(self, made: Class, first: str, last: str) -> None:
        one = quoted(first)
        made.inside += one if first == last else f"{one}-{quoted(last)}"
        if "i" in self.flags and "u" in self.flags and first == last:
            made.inside += "".join(map(quoted, {first.lower()[:1], first.upper()[:1]}))
        elif "i" in self.flags:
            made.inside += in_both_cases(first, last)

    def one(self) -> str:
        letter = self.next()
        return self.character() if letter == "\\" else letter

    def class_escape(self, made: Class) -> None:
        """`\\d` and the like, `\\p{…}`."""
        self.at += 1
        letter = self.next()
        if letter in "pP":
            name = self.until("}") if self.take("{") else self.next()
            negated = letter == "P"
            if name.startswith("^"):
                raise BadPattern(f"Unknown character property name {{{name}}}")
            text, plain = properties(name, negated)
            self.plain = self.plain and plain
        elif "U" in self.flags and letter.lower() in "dws":
            text = f"\\{letter}"
        else:
            text = f"[{'^' * letter.isupper()}{SHORT[letter.lower()]}]"
        if text.startswith("[") and not text.startswith("[^"):
            made.inside += text[1:-1]
        elif text.startswith("\\"):
            made.inside += text
        else:
            made.inside += _negated(text)


@lru_cache
def _negated(text: str) -> str:
    """Inside a class: all that is not in a list of ranges of ASCII is written as ranges, too."""
    inside = [chr(code) for code in range(0x10000) if re.match(text, chr(code))]
    made, start = "", 0
    codes = [ord(each) for each in inside] + [0x110000]
    while start < len(codes) - 1:
        stop = start
        while stop + 1 < len(codes) - 1 and codes[stop + 1] == codes[stop] + 1:
            stop += 1
        last = 0x10FFFF if codes[stop] == 0xFFFF else codes[stop]
        made += _range_of(codes[start], last)
        start = stop + 1
    return made


def _range_of(first: int, last: int) -> str:
    """Without the surrogates, which no text has."""
    if first < 0xD800 <= last:
        return _range_of(first, 0xD7FF) + _range_of(0xE000, last)
    return f"{quoted(chr(first))}-{quoted(chr(last))}"
