"""Why an expression failed for a row: with Spark's error class, in words of our own.

Texts and functions of the table raise with Spark's class in brackets. DuckDB's own functions raise
in its words, around which it says what kind of error it takes it for; `WORDS` has ours for each.

>>> reason("Invalid Input Error: [DIVIDE_BY_ZERO] Division by zero.\\n\\nLINE 1: …")
'[DIVIDE_BY_ZERO] Division by zero.'
>>> reason("Out of Range Error: Overflow in addition of INT32 (2147483647 + 1)!")
'[ARITHMETIC_OVERFLOW] 2147483647 + 1 overflows an INT'
>>> reason("Invalid Input Error: Division by zero in expression ((n % 2) // m). Use TRY(...) to …")
'[DIVIDE_BY_ZERO] Division by zero.'
>>> reason("Conversion Error: Could not convert string 'x' to INT32\\nLINE 1: …")
'[CAST_INVALID_INPUT] The value \\'x\\' of the type "STRING" cannot be cast to "INT".'
"""

from __future__ import annotations

import re
from collections.abc import Callable

_SOURCE = re.compile(r"\n+LINE \d+:.*", re.DOTALL)
"""Where in the text it failed, which a row's error does not show."""
_PYTHON = re.compile(r"Python exception occurred while executing the UDF: \w+: (.*)", re.DOTALL)
_OWN = re.compile(r"\[[A-Z][A-Z_0-9.]+\] .*")
_KIND = re.compile(r"[A-Z][A-Za-z ]* Error: ")
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"")
_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*")
_TYPES = {
    "BOOL": "BOOLEAN",
    "INT8": "TINYINT",
    "INT16": "SMALLINT",
    "INT32": "INT",
    "INT64": "BIGINT",
    "INT128": "DECIMAL(38,0)",
    "VARCHAR": "STRING",
    "BLOB": "BINARY",
    "TIMESTAMP WITH TIME ZONE": "TIMESTAMP",
}
Said = re.Match[str]


def _type(engine: str) -> str:
    return _TYPES.get(engine, engine.replace(" ", ""))


def _divided(said: Said) -> str:
    """By the operator outside of all brackets within the outermost ones."""
    depth = 0
    text = _QUOTED.sub("", said[1])
    for at, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 1 and text.startswith(" % ", at):
            return "[REMAINDER_BY_ZERO] Remainder by zero."
    return "[DIVIDE_BY_ZERO] Division by zero."


def _overflow(said: Said) -> str:
    """Spark distinguishes narrow integers from the others, but for `-t`, which is `0 - t` here."""
    engine, sum_ = said["type"], said["sum"]
    if engine.startswith("DECIMAL"):
        return f"[NUMERIC_VALUE_OUT_OF_RANGE] {sum_} cannot be represented as {_type(engine)}."
    narrow = "BINARY_" * (engine in ("INT8", "INT16") and not sum_.startswith("0 - "))
    return f"[{narrow}ARITHMETIC_OVERFLOW] {sum_} overflows {_an(_type(engine))}"


def _an(type_: str) -> str:
    return f"an {type_}" if type_ == "INT" else f"a {type_}"


def _malformed(said: Said) -> str:
    if said["to"].startswith("DECIMAL") and _NUMBER.fullmatch(said["value"]):
        return _too_large(said)
    value = f"The value '{said['value']}' of the type \"STRING\""
    return f'[CAST_INVALID_INPUT] {value} cannot be cast to "{_type(said["to"])}".'


def _too_large(said: Said) -> str:
    value, type_ = said["value"].strip(), _type(said["to"])
    return f"[NUMERIC_VALUE_OUT_OF_RANGE] {value} cannot be represented as {type_}."


def _cast(said: Said) -> str:
    value = f'The value {said["value"]} of the type "{_type(said["from"])}"'
    return f'[CAST_OVERFLOW] {value} cannot be cast to "{_type(said["to"])}" due to an overflow.'


def _decimal(said: Said) -> str:
    value = f'The value {said["value"]} of the type "DECIMAL"'
    return f'[CAST_OVERFLOW] {value} cannot be cast to "{_type(said["to"])}" due to an overflow.'


def _words(text: str) -> Callable[[Said], str]:
    return lambda said: said.expand(text)


_TO = r"(?P<to>[A-Z][A-Z0-9_]*(?:\(\d+, ?\d+\))?)"
WORDS: tuple[tuple[re.Pattern[str], Callable[[Said], str]], ...] = tuple(
    (re.compile(pattern, re.DOTALL), words)
    for pattern, words in (
        (r"Division by zero in expression (.*?)(?:\. Use .*)?", _divided),
        (r"Overflow in \w+ of (?P<type>\w+(?:\(.*?\))?) \((?P<sum>.*?)\).*", _overflow),
        (r"Overflow in division of (.*)", _words(r"[ARITHMETIC_OVERFLOW] \1 overflows a BIGINT")),
        (r"Overflow on (.*)", _words(r"[ARITHMETIC_OVERFLOW] \1 overflows")),
        (rf"Could not convert string (['\"])(?P<value>.*)\1 to {_TO}.*", _malformed),
        (rf"Casting value \"(?P<value>.*?)\" to type {_TO} failed.*", _too_large),
        (rf"Could not cast value (?P<value>\S+) to {_TO}.*", _too_large),
        (
            r"Type (?P<from>\w+(?:\(.*?\))?) with value (?P<value>\S+) can't be cast because the "
            rf"value is out of range for the destination type {_TO}.*",
            _cast,
        ),
        (rf"Failed to cast decimal value (?P<value>\S+) to type {_TO}.*", _decimal),
        (
            r"Failure in decode: could not convert blob to UTF8.*",
            _words("[MALFORMED_CHARACTER_CODING] The bytes are no UTF-8."),
        ),
        (
            r"(?:Date out of range|Date and time not in timestamp range)(?P<which>: .*|)",
            _words(r"[ARITHMETIC_OVERFLOW] Past the first or last DATE\g<which>"),
        ),
        (
            r"(?:.*[Tt]imestamp.* out of range|ICU date overflows timestamp range)(?P<which>: .*|)",
            _words(r"[DATETIME_OVERFLOW] Past the first or last TIMESTAMP\g<which>"),
        ),
        (
            r"Type INT32 with value (\S+) can't be cast to the destination type INT64.*",
            _words(r"[DATETIME_OVERFLOW] Past the first or last TIMESTAMP: \1"),
        ),
        (
            r".*[Ii]nterval.*out of range.*",
            _words("[INTERVAL_ARITHMETIC_OVERFLOW] an interval is too long"),
        ),
        (
            r"Failed to parse format specifier.*",
            _words("[INVALID_DATETIME_PATTERN] the pattern has nothing in it"),
        ),
    )
)
"""What DuckDB says, and our words for it; of the first that it matches."""


def reason(error: str) -> str:
    """The first line that says it."""
    said = _SOURCE.sub("", error)
    own = _OWN.search(said)
    if own is not None:
        return own[0]
    python = _PYTHON.search(said)
    if python is not None:
        return python[1].splitlines()[0] if python[1] else ""
    bare = _KIND.sub("", said, count=1)
    for pattern, words in WORDS:
        found = pattern.fullmatch(bare)
        if found is not None:
            return words(found).splitlines()[0]
    return said.splitlines()[0]
