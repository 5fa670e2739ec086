"""JSON as Jackson writes it: what is escaped, numbers as Java's, commas where they belong.

>>> out = Out()
>>> out.copy(started(Tokens('{"a" : [1.50, 1e400, "x\\\\ty"]}')))
>>> out.text
'{"a":[1.5,"Infinity","x\\\\ty"]}'
"""

from __future__ import annotations

import re
from dataclasses import field

from sqlwin.functions.json.tokens import FLOAT, INTEGER, NAME, STRING, WORDS, Malformed, Tokens
from sqlwin.lazy_dataclass import dataclass

_SPECIAL = re.compile(r'["\\\x00-\x1f]')
_BEYOND = re.compile(r"[\U00010000-\U0010ffff]")
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def quoted(text: str, pairs: bool = False) -> str:
    """pairs: a character beyond the 65536th is two escapes, as Jackson writes it to bytes."""
    made = _SPECIAL.sub(lambda found: _SHORT.get(found[0]) or f"\\u{ord(found[0]):04X}", text)
    if pairs and not made.isascii():
        made = _BEYOND.sub(_surrogates, made)
    return f'"{made}"'


def _surrogates(found: re.Match[str]) -> str:
    packed = found[0].encode("utf-16-be")
    return f"\\u{packed[:2].hex().upper()}\\u{packed[2:].hex().upper()}"


def java_double(value: float) -> str:
    """As Java's Double.toString: two digits at least, 0.001 to 10000000 plainly.

    >>> java_double(1e20), java_double(0.1), java_double(5e-324), java_double(1e7)
    ('1.0E20', '0.1', '4.9E-324', '1.0E7')
    """
    return java_digits(repr(value), f"{value:.1e}")


def java_digits(shortest: str, two: str) -> str:
    """two: the nearest with two digits, which Java takes where one is enough."""
    if shortest.endswith(("nan", "inf")):
        return {"nan": "NaN", "inf": "Infinity"}.get(shortest, "-Infinity")
    sign = "-" if shortest.startswith("-") else ""
    mantissa, _, exponent = shortest.removeprefix("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0").rstrip("0")
    if not digits:
        return f"{sign}0.0"
    leading = len(whole + fraction) - len((whole + fraction).lstrip("0"))
    power = int(exponent or 0) + len(whole) - leading - 1
    if len(digits) == 1 and (power < -300 or power in range(-46, -43)):
        mantissa, _, exponent = two.removeprefix("-").partition("e")
        digits, power = mantissa.replace(".", "").rstrip("0"), int(exponent)
    if not -3 <= power < 7:
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{power}"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    padded = digits.ljust(power + 1, "0")
    return f"{sign}{padded[: power + 1]}.{padded[power + 1 :] or '0'}"


def number(text: str) -> str:
    """A float's own text as Java writes the DOUBLE; one that is no number is a string."""
    made = java_double(float(text.lower().replace("infinity", "inf")))
    return f'"{made}"' if made[-1].isalpha() else made


def integer(text: str) -> str:
    plain = text.removeprefix("-").lstrip("0") or "0"
    return f"-{plain}" if text.startswith("-") and plain != "0" else plain


def started(tokens: Tokens) -> Tokens:
    tokens.next()
    return tokens


@dataclass
class Out:
    """pairs: see `quoted`."""

    pairs: bool = False
    parts: list[str] = field(default_factory=list)
    used: list[bool] = field(default_factory=list)
    named: bool = False

    @property
    def text(self) -> str:
        return "".join(self.parts)

    def raw(self, text: str) -> None:
        self.parts.append(text)

    def value(self, text: str) -> None:
        self._between()
        self.parts.append(text)

    def begin(self, bracket: str) -> None:
        self.value(bracket)
        self.used.append(False)

    def end(self, bracket: str) -> None:
        self.used.pop()
        self.parts.append(bracket)

    def name(self, text: str) -> None:
        self._between()
        self.parts += [quoted(text, self.pairs), ":"]
        self.named = True

    def copy(self, tokens: Tokens) -> None:
        """The value that is at hand, with all that is in it."""
        depth = len(tokens.around) - (tokens.token in ("{", "["))
        while True:
            self._copy_one(tokens)
            if len(tokens.around) <= depth and tokens.token != NAME:
                return
            if tokens.next() is None:
                raise Malformed("no JSON")

    def _copy_one(self, tokens: Tokens) -> None:
        token, text = tokens.token, tokens.text
        if token in ("{", "["):
            self.begin(token)
        elif token in ("}", "]"):
            self.end(token)
        elif token == NAME:
            self.name(text)
        elif token == STRING:
            self.value(quoted(text, self.pairs))
        elif token == INTEGER:
            self.value(integer(text))
        elif token == FLOAT:
            self.value(number(text))
        elif token in WORDS:
            self.value(token)
        else:
            raise Malformed("no JSON")

    def _between(self) -> None:
        if self.named:
            self.named = False
        elif self.used:
            if self.used[-1]:
                self.parts.append(",")
            self.used[-1] = True
