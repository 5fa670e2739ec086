"""The records of a CSV text, one by one, which is the rule; and whether there is no need to.

A field that begins with a quote ends at the next quote that is no pair, which stands
before a delimiter or a line end. Where there is none within `LINES` lines and
`BYTES` bytes the line alone is broken, and the next line begins anew: an unclosed
quote costs its own line. Any other quote is a letter.

>>> [(record.fields, record.why) for record, _ in records(b'1,"a\\nb"\\n2,5" x\\n3,"c\\n', b",", 0)]
[((b'1', b'a\\nb'), ''), ((b'2', b'5" x'), ''), ((), 'a quote is not closed')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from sqlwin.lazy_dataclass import dataclass

LINES = 1_000
"""That a quoted field spans at most."""
BYTES = 1 << 19
"""Of a quoted field at most."""
NEWLINE, RETURN, QUOTE = b'\n\r"'
_END = re.compile(rb"(?:\r?\n)+\Z")


@dataclass(frozen=True)
class Record:
    """raw: its bytes, without the line end. fields: None is NULL. why: it is broken."""

    raw: bytes
    fields: tuple[bytes | None, ...]
    why: str = ""


def trimmed(data: bytes) -> bytes:
    """Without blank lines at the end, of which many files have one."""
    return _END.sub(b"\n", data) if data.endswith((b"\n\n", b"\n\r\n")) else data


def records(data: bytes, delimiter: bytes, start: int) -> Iterator[tuple[Record, int]]:
    """Each record from `start` on that is not blank, and where the next one begins."""
    while start < len(data):
        found = data.find(b"\n", start)
        end = len(data) if found < 0 else found
        line = data[start:end].removesuffix(b"\r")
        after = end + 1
        if not line:
            start = after
            continue
        if b'"' not in line:
            yield Record(line, tuple(field or None for field in line.split(delimiter))), after
        else:
            fields, stop = _fields(data, start, delimiter)
            if fields is None:
                yield Record(line, (), "a quote is not closed"), after
            else:
                after = stop + 1
                yield Record(data[start:stop].removesuffix(b"\r"), fields), after
        start = after


def _fields(data: bytes, at: int, delimiter: bytes) -> tuple[tuple[bytes | None, ...] | None, int]:
    """The fields of a record with quotes, and where its line ends; None where a quote is open."""
    fields: list[bytes | None] = []
    while True:
        if data[at : at + 1] == b'"':
            text, at = _quoted(data, at, delimiter)
            if text is None:
                return None, at
            fields.append(text)
        else:
            end = _ends(data, at)
            cut = data.find(delimiter, at, end)
            stop = end if cut < 0 else cut
            bare = data[at:stop]
            fields.append((bare.removesuffix(b"\r") if cut < 0 else bare) or None)
            at = stop
        if data[at : at + 1] != delimiter:
            return tuple(fields), at + (data[at : at + 1] == b"\r")
        at += 1


def _ends(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end


def _quoted(data: bytes, at: int, delimiter: bytes) -> tuple[bytes | None, int]:
    """The text of the field whose quote stands at `at`, and what is behind it."""
    limit, close = at + BYTES, at
    while True:
        close = data.find(b'"', close + 1, limit)
        if close < 0:
            return None, at
        if data[close + 1 : close + 2] != b'"':
            break
        close += 1
    behind = data[close + 1 : close + 3]
    closed = behind[:1] in (b"", delimiter, b"\n") or behind == b"\r\n"
    if not closed or data.count(b"\n", at, close) >= LINES:
        return None, at
    return data[at + 1 : close].replace(b'""', b'"'), close + 1


def written(record: Record, delimiter: bytes, most: int) -> bytes:
    """A record on a line of its own, with every field that has a quote, and each empty text,
    quoted. Fields that are missing are written, so that the line is not blank."""
    padded = [*record.fields, *[None] * (most - len(record.fields))]
    if b'"' not in record.raw and b"\r" not in record.raw and most > 1:
        return delimiter.join(field or b"" for field in padded)
    return delimiter.join(b"" if field is None else _requoted(field) for field in padded)


def _requoted(field: bytes) -> bytes:
    return b'"' + field.replace(b'"', b'""') + b'"'


def well_quoted(data: bytes, delimiter: bytes) -> bool:
    """Whether every quote opens or closes a field or is one of a pair, none for too long.

    Then quotes, counted, say what is within a field, and `records` finds none open.

    >>> [well_quoted(text, b",") for text in (b'1,"a"\\n', b'1,"a""b"', b'1,5" x,6"', b'1,"a\\n')]
    [True, True, False, False]
    """
    letters = np.frombuffer(data, np.uint8)
    quotes = np.flatnonzero(letters == QUOTE)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[0::2], quotes[1::2]
    (cut,) = delimiter
    before = np.where(opening > 0, letters[opening - 1], NEWLINE)
    behind = letters[np.minimum(closing + 1, len(data) - 1)]
    then = letters[np.minimum(closing + 2, len(data) - 1)]
    last = closing == len(data) - 1
    opens = (before == cut) | (before == NEWLINE) | (before == QUOTE)
    closes = last | (behind == cut) | (behind == NEWLINE) | (behind == QUOTE)
    closes |= (behind == RETURN) & (then == NEWLINE)
    if not (opens.all() and closes.all()):
        return False
    first = np.concatenate([[True], opening[1:] != closing[:-1] + 1])
    starts, ends = opening[first], closing[np.concatenate([first[1:], [True]])]
    long = ends - starts >= LINES
    spans = zip(starts[long].tolist(), ends[long].tolist(), strict=True)
    return all(end - at < BYTES and data.count(b"\n", at, end) < LINES for at, end in spans)
