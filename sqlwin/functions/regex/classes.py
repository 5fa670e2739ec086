"""Classes of characters as Java's regular expressions write them: `[a-z&&[^b]]`, `\\p{Alpha}`.

A class is written for RE2 and for Python's `regex` alike: `[…]`. What neither has (a class within
a class, what two have in common) becomes alternatives and looks ahead, which only `regex` reads.

>>> properties("Alpha", False), properties("IsLatin", True)
(('[A-Za-z]', True), ('\\\\P{Latin}', True))
"""

from __future__ import annotations

import string
from dataclasses import field

from sqlwin.lazy_dataclass import dataclass

POSIX = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": "\0-\x7f",
    "Alpha": "A-Za-z",
    "Digit": "0-9",
    "Alnum": "A-Za-z0-9",
    "Punct": r"!-/:-@\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": r" \t",
    "Cntrl": "\0-\x1f\x7f",
    "XDigit": "0-9A-Fa-f",
    "Space": r"\t\n\x0b\f\r ",
}
SHORT = {
    "d": "0-9",
    "w": "A-Za-z0-9_",
    "s": r"\t\n\x0b\f\r ",
    "h": "\\t \xa0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000",
    "v": "\\n\\x0b\\f\\r\x85\u2028\u2029",
}
"""The inside of a class; in capitals the rest."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CATEGORIES = _words(
    """C Cc Cf Cn Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps
    S Sc Sk Sm So Z Zl Zp Zs"""
)
_RE2 = _CATEGORIES - {"Cn"}
_SCRIPTS = _words(
    """Arabic Armenian Bengali Bopomofo Braille Cherokee Common Coptic Cyrillic Devanagari Ethiopic
    Georgian Greek Gujarati Gurmukhi Han Hangul Hebrew Hiragana Inherited Kannada Katakana Khmer
    Lao Latin Malayalam Mongolian Myanmar Ogham Oriya Runic Sinhala Syriac Tamil Telugu Thaana
    Thai Tibetan Yi"""
)
_BINARY = {
    "alphabetic": "Alphabetic",
    "ideographic": "Ideographic",
    "letter": "L",
    "lowercase": "Lowercase",
    "uppercase": "Uppercase",
    "titlecase": "Lt",
    "punctuation": "P",
    "control": "Cc",
    "white_space": "White_Space",
    "digit": "Nd",
    "hex_digit": "Hex_Digit",
    "assigned": "Assigned",
    "lower": "Lowercase",
}
_JAVA = {
    "javaLowerCase": "Lowercase",
    "javaUpperCase": "Uppercase",
    "javaAlphabetic": "Alphabetic",
    "javaDigit": "Nd",
    "javaLetter": "L",
    "javaTitleCase": "Lt",
}
_SPECIAL = frozenset("\\]^[-&~|")


class BadPattern(ValueError):
    """Java would not take it."""


def quoted(letter: str) -> str:
    """A character for the inside of a class."""
    return "\\" + letter if letter in _SPECIAL else letter


def in_both_cases(first: str, last: str) -> str:
    """The letters of ASCII of a range, in the other case."""
    return "".join(letter.swapcase() for letter in string.ascii_letters if first <= letter <= last)


def properties(name: str, negated: bool) -> tuple[str, bool]:
    """What a `\\p{…}` becomes, and whether RE2 reads it, too."""
    if name in POSIX:
        return f"[{'^' * negated}{POSIX[name]}]", True
    p = "P" if negated else "p"
    found, plain = _property(name)
    return f"\\{p}{{{found}}}", plain


def _property(name: str) -> tuple[str, bool]:
    key, _, value = name.partition("=")
    if value:
        return _keyed(name, key.lower(), value)
    if name in _CATEGORIES:
        return name, name in _RE2
    if name in _JAVA:
        return _JAVA[name], False
    if name.startswith("In") and len(name) > 2:
        return name, False
    rest = name.removeprefix("Is")
    if rest == name:
        raise BadPattern(f"Unknown character property name {{{name}}}")
    if rest.lower() in _BINARY:
        return _BINARY[rest.lower()], False
    if rest in _CATEGORIES:
        return rest, rest in _RE2
    return _script(name, rest)


def _keyed(name: str, key: str, value: str) -> tuple[str, bool]:
    if key in ("sc", "script"):
        return _script(name, value)
    if key in ("blk", "block"):
        return f"In{value}", False
    if key in ("gc", "general_category") and value in _CATEGORIES:
        return value, value in _RE2
    raise BadPattern(f"Unknown character property name {{{name}}}")


def _script(name: str, written: str) -> tuple[str, bool]:
    script = written.title()
    if script not in _SCRIPTS:
        raise BadPattern(f"Unknown character property name {{{name}}}")
    return script, True


@dataclass
class Class:
    """inside: of `[…]`. others: classes within it that are joined to it. within: that each
    character has to be of, too."""

    negated: bool = False
    inside: str = ""
    others: list[str] = field(default_factory=list)
    within: list[str] = field(default_factory=list)

    @property
    def plain(self) -> bool:
        return not self.others and not self.within

    def one(self) -> str:
        """Without what it has in common with others."""
        parts = ([f"[{self.inside}]"] if self.inside else []) + self.others
        return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"

    def written(self) -> str:
        if self.plain and self.inside:
            return f"[{'^' * self.negated}{self.inside}]"
        if not self.inside and not self.others:
            # only what is in common is left
            made = "".join(f"(?={other})" for other in self.within) + r"[\s\S]"
        else:
            made = "".join(f"(?={other})" for other in self.within) + self.one()
        return rf"(?!{made})[\s\S]" if self.negated else f"(?:{made})"
