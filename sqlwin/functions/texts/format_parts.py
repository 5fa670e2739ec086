"""The parts of a format as Java's Formatter reads it: text, and conversions with flags and widths.

Invariant: a format that Java refuses is refused, whatever its values are.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sqlwin.functions.core.limits import BYTES, check_bytes
from sqlwin.lazy_dataclass import dataclass

_FORMAT = re.compile(
    r"%(?P<index>\d+\$|<)?(?P<flags>[-#+ 0,(]*)(?P<width>[1-9]\d*)?(?:\.(?P<precision>\d+))?"
    r"(?P<conversion>[tT]?[a-zA-Z%])"
)


class Wrong(ValueError):
    def __init__(self, exception: str, message: str) -> None:
        super().__init__(f"java.util.{exception}: {message}")


@dataclass(frozen=True)
class Part:
    """index: of the value, from 0; -1 the one before, None the next."""

    conversion: str
    flags: str = ""
    width: int = 0
    precision: int | None = None
    index: int | None = None

    def padded(self, text: str) -> str:
        """Java counts in units of UTF-16."""
        missing = " " * (self.width - len(text.encode("utf-16-le")) // 2)
        check_bytes(len(missing) + len(text))
        return text + missing if "-" in self.flags else missing + text

    def cut(self, text: str) -> str:
        """Half of a character is a `?`."""
        units = text.encode("utf-16-le")
        if self.precision is None or len(units) <= 2 * self.precision:
            return self.padded(text)
        kept = units[: 2 * self.precision].decode("utf-16-le", "ignore")
        half = "?" * (self.precision - len(kept.encode("utf-16-le")) // 2)
        return self.padded(kept + half)


@lru_cache(maxsize=1024)
def parts(format_: str) -> tuple[str | Part, ...]:
    made: list[str | Part] = []
    at = 0
    while at < len(format_):
        start = format_.find("%", at)
        if start < 0:
            made.append(format_[at:])
            break
        made.append(format_[at:start])
        found = _FORMAT.match(format_, start)
        if found is None:
            raise Wrong("UnknownFormatConversionException", "Conversion = '%'")
        made.append(_part(found))
        at = found.end()
    return tuple(made)


def _part(found: re.Match[str]) -> Part:
    index, flags, conversion = found["index"], found["flags"], found["conversion"]
    if conversion[0] not in "tT" and conversion not in "bBhHsScCdoxXeEfgGaA%n":
        raise Wrong("UnknownFormatConversionException", f"Conversion = '{conversion}'")
    if len(set(flags)) < len(flags):
        raise Wrong("DuplicateFormatFlagsException", f"Flags = '{flags}'")
    width = int(found["width"] or 0)
    precision = None if found["precision"] is None else int(found["precision"])
    if max(width, precision or 0) > BYTES:
        raise ValueError(f"FORMAT_STRING makes a value of more than {BYTES} bytes")
    if ("-" in flags or "0" in flags) and not width:
        raise Wrong("MissingFormatWidthException", found[0])
    if ("-" in flags and "0" in flags) or ("+" in flags and " " in flags):
        raise Wrong("IllegalFormatFlagsException", f"Flags = '{flags}'")
    at = None if index is None else -1 if index == "<" else int(index[:-1]) - 1
    return Part(conversion, flags, width, precision, at)


def mismatch(part: Part, type_: str) -> Wrong:
    return Wrong("IllegalFormatConversionException", f"{part.conversion} != {type_}")
