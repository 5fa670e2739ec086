"""Values of records, without a broker: a row or an error each, however they are cut."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sqlwin.runtime.files.file_progress import FileProgress
from sqlwin.runtime.files.pieces import Piece
from sqlwin.runtime.kafka.records import decoded
from sqlwin.runtime.kafka.source import rounds
from sqlwin.schema import Column

COLUMNS = (Column("n", pa.int64()), Column("s", pa.string()))
VALUES: dict[str, list[bytes | None]] = {
    "json": [
        *(b'{"n": 1, "s": "a"}', None, b"", b" ", b'{"n": 2,\r\n "s": "b"}', b'{"s": "\n"}'),
        *(b'\xef\xbb\xbf{"n": 3}', b'{"n": 4} {"n": 5}', b"{", b"}", b"[1]", b"\xff", b"{}"),
        *(b'{"n": 1.0}', b'{"n": "x"}', b'{"n": NaN}'),
    ],
    "csv": [
        *(b"1,a", None, b"", b"\n", b"2,b\r\n", b'3,"x\ny"', b'4,"', b'"5",""', b"6,a\n7,b"),
        *(b"8", b"9,a,b", b",", b"x,y", b'10,a"b', b"11,\xff", b"\x78\x01,z"),
    ],
}


@pytest.mark.parametrize("format_", VALUES)
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_value_is_what_it_is_alone(format_: str, size: int) -> None:
    values = VALUES[format_]
    whole, bad = decoded(values, COLUMNS, format_, ",")
    rows = dict(zip(whole.numbers.tolist(), whole.rows.rows(), strict=True))
    assert sorted([*rows, *bad]) == list(range(len(values)))
    for at in range(0, len(values), size):
        part, wrong = decoded(values[at : at + size], COLUMNS, format_, ",")
        numbers = (part.numbers + at).tolist()
        found = dict(zip(numbers, part.rows.rows(), strict=True))
        assert found == {n: row for n, row in rows.items() if at <= n < at + size}
        assert {n + at: why for n, why in wrong.items()} == {
            n: why for n, why in bad.items() if at <= n < at + size
        }


def test_rounds_read_every_offset_once() -> None:
    spans = {"t/0": (0, 7), "t/1": (3, 3), "t/2": (5, 6)}
    progress = FileProgress(pieces=[Piece(name, lo, hi, hi) for name, lo, hi in rounds(spans, 3)])
    read = [(each.path, at) for each in progress.pieces for at in range(each.lo, each.hi)]
    assert sorted(read) == [(name, at) for name, (lo, hi) in spans.items() for at in range(lo, hi)]
    progress.read(progress.end)
    assert {name: end.hi for name, end in progress.files.items()} == {"t/0": 7, "t/2": 6}
