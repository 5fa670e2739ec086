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
sqlwin.functions.texts.java_class.BadPattern: Unclosed group
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from sqlwin.functions.texts.java_class import (
    SHORT,
    BadPattern,
    Class,
    in_both_cases,
    properties,
    quoted,
)

LINES = "\\n\\r\x85\u2028\u2029"
"""The ends of lines, for a class."""
_END = (
    "(?:(?<!\\r)(?=\\n\\Z)|(?=(?:\\r\\n|[\\r\x85\u2028\u2029])?\\Z))",
    "\\z",
    "(?:\\r\\n|[\\n\\r\x85\u2028\u2029])?\\z",
)
"""`$`: for `regex`; for RE2 where no line ends; for RE2 at the end of a pattern, where it does not
matter what is found."""
_UNIX_END = ("(?=\\n?\\Z)", "\\z", "\\n?\\z")
_ENDS = (
    "(?:(?=\\r\\n|[\\r\x85\u2028\u2029]|\\Z)|(?<!\\r)(?=\\n))",
    "(?=\\n|\\Z)",
)
_STARTS = (
    "(?:\\A|(?<=[\\n\x85\u2028\u2029])(?!\\Z)|(?<=\\r)(?!\\n)(?!\\Z))",
    "(?:\\A|(?<=\\n)(?!\\Z))",
)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_META = frozenset("\\.^$|?*+()[]{}#&~- ")


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


@dataclass(frozen=True)
class _Flags:
    letters: frozenset[str] = frozenset()

    def __contains__(self, flag: str) -> bool:
        return flag in self.letters


@dataclass
class _Parser:
    """out: pieces, each for `regex`, RE2, and RE2 of a test."""

    pattern: str
    at: int = 0
    flags: _Flags = field(default_factory=_Flags)
    out: list[tuple[str, str, str]] = field(default_factory=list)
    groups: int = 0
    names: dict[str, int] = field(default_factory=dict)
    plain: bool = True
    common: bool = False
    testable: bool = True
    depth: int = 0
    letters: list[str] = field(default_factory=list)

    # --- reading ------------------------------------------------------------------------

    def peek(self, many: int = 1) -> str:
        return self.pattern[self.at : self.at + many]

    def take(self, text: str) -> bool:
        found = self.pattern.startswith(text, self.at)
        self.at += len(text) * found
        return found

    def next(self) -> str:
        if self.at >= len(self.pattern):
            raise BadPattern("Unexpected end of the pattern")
        self.at += 1
        return self.pattern[self.at - 1]

    def until(self, end: str) -> str:
        stop = self.pattern.find(end, self.at)
        if stop < 0:
            raise BadPattern(f"No {end} ends what begins at {self.at}")
        found, self.at = self.pattern[self.at : stop], stop + len(end)
        return found

    def put(self, text: str, re2: str | None = None, test: str | None = None) -> None:
        other = text if re2 is None else re2
        self.out.append((text, other, other if test is None else test))

    def only_regex(self, text: str) -> None:
        self.plain = False
        self.put(text)

    # --- the grammar --------------------------------------------------------------------

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

    def blank(self) -> bool:
        if self.peek() == "#":
            self.at = (self.pattern + "\n").find("\n", self.at)
            return True
        if self.peek() in " \t\n\x0b\f\r":
            self.at += 1
            return True
        return False

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

    def literal(self, letter: str) -> None:
        if "i" in self.flags and "u" in self.flags and letter.lower() != letter.upper():
            self.put(f"(?i:{letter})")
        elif "i" in self.flags and letter.isascii() and letter.isalpha():
            self.put(f"[{letter}{letter.swapcase()}]")
        else:
            self.letters.append(letter)
            self.put("\\" + letter if letter in _META else letter)

    def dot(self) -> None:
        if "s" in self.flags:
            self.put(r"[\s\S]")
        else:
            self.put(r"[^\n]" if "d" in self.flags else f"[^{LINES}]")

    def anchor(self, letter: str) -> None:
        unix = "d" in self.flags
        if "m" in self.flags:
            self.only_regex((_STARTS if letter == "^" else _ENDS)[unix])
        elif letter == "^":
            self.put(r"\A")
        else:
            self.end(_UNIX_END if unix else _END)

    def end(self, ways: tuple[str, str, str]) -> None:
        """Of a test RE2 may take the end of the last line where nothing is behind it."""
        last = self.at >= len(self.pattern) or (self.peek() == "|" and not self.depth)
        self.common = True
        self.testable = self.testable and last
        self.put(*ways)

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

    # --- groups -------------------------------------------------------------------------

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

    def named(self, flags: _Flags) -> bool:
        name = self.until(">")
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", name):
            raise BadPattern("The name of a group begins with a letter, and has letters and digits")
        if name in self.names:
            raise BadPattern(f"Named capturing group <{name}> is already defined")
        self.groups += 1
        self.names[name] = self.groups
        return self.grouped("(", flags)

    def flagged(self, flags: _Flags) -> bool:
        """`(?i)` holds to the end of the group around, `(?i:…)` for its own."""
        found = re.compile(r"([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])").match(self.pattern, self.at)
        if found is None or not set(found[1] + (found[2] or "")) <= set("idmsuxU"):
            raise BadPattern("Unknown inline modifier")
        self.at = found.end()
        letters = (flags.letters | set(found[1])) - set(found[2] or "")
        if "U" in letters:
            self.plain = False
        self.flags = _Flags(letters)
        return self.grouped("(?:", flags) if found[3] == ":" else False

    def grouped(self, mark: str, flags: _Flags) -> bool:
        self.put(mark)
        self.depth += 1
        self.alternatives()
        self.depth -= 1
        if not self.take(")"):
            raise BadPattern("Unclosed group")
        self.put(")")
        self.flags = flags
        return True

    # --- escapes ------------------------------------------------------------------------

    def escape(self) -> bool:
        letter = self.next()
        if letter == "Q":
            return self.quotation()
        if letter in "DWSHV" and "U" not in self.flags:
            self.put(f"[^{SHORT[letter.lower()]}]")
        elif letter.lower() in SHORT or letter in "pP":
            self.at -= 2
            made = Class()
            self.class_escape(made)
            self.put(f"[{made.inside}]")
        elif letter.isdigit() and letter != "0":
            self.reference(letter)
        elif letter in "bBAZzGRXk":
            self.boundary(letter)
        else:
            self.at -= 1
            self.literal(self.character())
        return True

    def quotation(self) -> bool:
        stop = self.pattern.find("\\E", self.at)
        text = self.pattern[self.at :] if stop < 0 else self.pattern[self.at : stop]
        self.at = len(self.pattern) if stop < 0 else stop + 2
        for letter in text[:-1]:
            self.literal(letter)
        if text:
            self.literal(text[-1])
        return bool(text)

    def reference(self, digit: str) -> None:
        """As many digits as there are groups for."""
        number = int(digit)
        while self.peek().isdigit() and number * 10 + int(self.peek()) <= self.groups:
            number = number * 10 + int(self.next())
        case = "i:" if "i" in self.flags else ":"
        # a group that is not there matches nothing
        self.only_regex(rf"(?{case}\{number})" if number <= self.groups else r"(?!)")

    def boundary(self, letter: str) -> None:
        if letter in "bB":
            self.common = True
            self.testable = False
            self.put(f"\\{letter}")
        elif letter == "Z":
            self.end(_END)
        elif letter in "Az":
            self.put(r"\A" if letter == "A" else r"\Z", r"\A" if letter == "A" else r"\z")
        elif letter == "k":
            self.named_reference()
        elif letter == "R":
            self.put("(?:\\r\\n|[\\n\\x0b\\f\\r\x85\u2028\u2029])")
        else:
            self.only_regex(f"\\{letter}")

    def named_reference(self) -> None:
        if not self.take("<"):
            raise BadPattern("\\k is not followed by '<'")
        name = self.until(">")
        if name not in self.names:
            raise BadPattern(f"Named capturing group <{name}> does not exist")
        case = "i:" if "i" in self.flags else ":"
        self.only_regex(rf"(?{case}\{self.names[name]})")

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

    # --- classes ------------------------------------------------------------------------

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


def _is_one(text: str) -> bool:
    """Whether a quantifier behind it takes all of it."""
    return len(text) == 1 or (text[0] == "\\" and len(text) == 2) or _is_class(text)


def _is_class(text: str) -> bool:
    return text[0] == "[" and re.fullmatch(r"\[(?:\\.|[^\\\]])*\]", text, re.DOTALL) is not None


@lru_cache(maxsize=1024)
def translated(pattern: str) -> Translated:
    """BadPattern where Java would not take it."""
    return _Parser(pattern).translated()
