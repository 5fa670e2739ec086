"""What a pattern repeats: a character, a class, a dot, an anchor, an escape."""

from __future__ import annotations

from sqlwin.functions.regex.brackets import Brackets
from sqlwin.functions.regex.classes import SHORT, BadPattern, Class

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
_META = frozenset("\\.^$|?*+()[]{}#&~- ")


class Atoms(Brackets):
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
