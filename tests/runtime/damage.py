"""Random files, randomly damaged: `python -m tests.runtime.damage --files 10000 --seed 1`.

The property: a line is decoded as it is alone, whatever else is in its file, and each
damaged line is one row of the error stream. The lines are of every form that the
rules name: numbers as texts, texts as numbers, repeated names, quotes, line breaks
in quotes, blank lines, either line end, a byte order mark, compressed files.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.files.source import read
from sqlwin.schema import SEQ, TIMESTAMP, Column

TYPES = {
    "i8": pa.int8(),
    "i16": pa.int16(),
    "i32": pa.int32(),
    "i64": pa.int64(),
    "f32": pa.float32(),
    "f64": pa.float64(),
    "d4": pa.decimal128(4, 2),
    "d38": pa.decimal128(38, 2),
    "b": pa.bool_(),
    "s": pa.string(),
    "x": pa.binary(),
    "d": pa.date32(),
    "t": TIMESTAMP,
}
NUMBERS = """
0 1 -1 7 127 128 -129 32768 2147483648 9223372036854775807 9223372036854775808 1.0 -0 -0.0 1.5
1.50 1.005 99.99 100.00 999.9 1e2 1E-2 1e300 1e39 1e999 0.1 123456789.125 1234567890123456.78
12345678901234567890123456789012345678 4.9e-325 16777217
""".split()  # noqa: SIM905
TEXTS = """tea||a b|5" x|é€😀|a:b|true|TRUE|False|null|NaN|inf|-Infinity| 7 |+7|007|1e2|.5|5.|0x10
|1_0|2024-01-01|2024-1-1|2024-02-30|20240101|2024-01-01T09:00:00Z|2024-01-01 09:00:00
|2024-01-01T09:00:00.123456789Z|2024-01-01T09:00:00+02|2024-01-01T09:00:00-0130
|2024-01-01T09:00|2024-01-01 09:00-00|1960-01-01T00:00:00.000001Z|0001-01-01T00:00:00Z
""".replace("\n", "").split("|")
QUIRKS = (
    '{"i64": 1, "i64": 2}',
    '{"s": 1, "s": "b"}',
    "{}",
    '  {"i64": 5}',
    '{"i64": 6}  ',
    '{"\\u0073": "escaped name"}',
    '{"q": [[{"i64": [1]}]]}',
    '{"s": "\\ud83d\\ude00\\u0000"}',
)
Draw = random.Random


@dataclass(frozen=True)
class Case:
    """lines: with how each ends. damaged: the numbers of those that are. head: before all."""

    format: str
    columns: tuple[Column, ...]
    head: bytes
    lines: tuple[bytes, ...]
    ends: tuple[bytes, ...]
    damaged: frozenset[int]
    compressed: bool
    options: tuple[tuple[str, str], ...] = ()

    @property
    def stream(self) -> Stream:
        options = (("format", self.format), *self.options)
        return Stream("orders", self.columns, "t", options=tuple(sorted(options)))

    def data(self) -> bytes:
        pairs = zip(self.lines, self.ends, strict=True)
        return self.head + b"".join(line + end for line, end in pairs)


def drawn(seed: int) -> Case:
    draw = Draw(seed)
    names = draw.sample(sorted(TYPES), draw.randint(1, 5))
    columns = tuple(Column(name, TYPES[name]) for name in names)
    return (_json if draw.random() < 0.5 else _csv)(draw, columns)


def _case(
    draw: Draw,
    format_: str,
    columns: tuple[Column, ...],
    head: bytes,
    one: Callable[[], bytes],
    hurt: Callable[[bytes], bytes],
    **more: Any,
) -> Case:
    lines = [one() for _ in range(draw.choice((1, 3, 12)))]
    share = draw.choice((0, 0, 0.2, 0.6))
    damaged = frozenset(at for at in range(len(lines)) if draw.random() < share)
    lines = [hurt(line) if at in damaged else line for at, line in enumerate(lines)]
    own = draw.choice((b"\n", b"\r\n"))
    ends = [own + (own if draw.random() < 0.05 else b"") for _ in lines]
    if draw.random() < 0.3:
        ends[-1] = b""
    bom = b"\xef\xbb\xbf" if draw.random() < 0.2 else b""
    head = bom + (head + own if head else b"")
    zipped = draw.random() < 0.1
    return Case(format_, columns, head, tuple(lines), tuple(ends), damaged, zipped, **more)


# --- JSON -------------------------------------------------------------------


def _json(draw: Draw, columns: tuple[Column, ...]) -> Case:
    plain = draw.random() < 0.5

    def value(name: str) -> str:
        if plain or draw.random() < 0.6:
            return _fitting(draw, name)
        return draw.choice(
            (
                draw.choice(NUMBERS),
                json.dumps(draw.choice(TEXTS)),
                draw.choice(("true", "null", "[1, 2.50]", '{"a": "b"}')),
            )
        )

    def line() -> bytes:
        if not plain and draw.random() < 0.1:
            return draw.choice(QUIRKS).encode()
        names = [each.name for each in columns if draw.random() < 0.9]
        fields = [f"{json.dumps(name)}: {value(name)}" for name in names]
        fields += ['"other": {"i64": 1}'] if draw.random() < 0.2 else []
        return ("{" + ", ".join(fields) + "}").encode()

    return _case(draw, "json", columns, b"", line, lambda line: _hurt_json(draw, line))


def _fitting(draw: Draw, name: str) -> str:
    """A value of the column's own kind."""
    if name in ("s", "x"):
        return json.dumps(draw.choice(TEXTS))
    if name == "d":
        return '"2024-01-01"'
    if name == "t":
        return '"2024-01-01T09:00:00Z"'
    if name == "b":
        return draw.choice(("true", "false"))
    return draw.choice(("1", "7", "-1", "1.5" if name[0] in "fd" else "2", "null"))


def _hurt_json(draw: Draw, line: bytes) -> bytes:
    return draw.choice(
        (
            line.rstrip()[:-1],
            line + b"}",
            b"{oops",
            b"[" * 1000,
            b'{"q": ' + b"[" * 600 + b"]" * 600 + b"}",
            line.rstrip()[:-1] + b', "z": "\xff"}' if len(line) > 2 else b"\xff",
            b'{"z": "\xed\xa0\x80"}',
            b'{"z": NaN}',
            b"null",
            b"17",
            line + b" null " + line,
            line + line,
            b'{"z": "a\tb"}',
            b'{"z": 01}',
        )
    )


# --- CSV --------------------------------------------------------------------


def _csv(draw: Draw, columns: tuple[Column, ...]) -> Case:
    delimiter = draw.choice((",", ",", ";", "\t"))
    names = [each.name for each in columns] + (["other"] if draw.random() < 0.3 else [])
    headed = draw.random() < 0.8
    plain, quoting = draw.random() < 0.5, draw.random() < 0.6

    def cell(name: str) -> str:
        if plain or draw.random() < 0.6:
            text = _fitting(draw, name) if name in TYPES else "o"
            text = json.loads(text) if text.startswith('"') else text.replace("null", "")
        else:
            text = draw.choice((*NUMBERS, *TEXTS))
        if quoting and draw.random() < 0.3:
            more = draw.choice(("", "", 'say "x" ', f"b{delimiter}c", "two\nlines", "two\r\nlines"))
            return '"' + (text + more).replace('"', '""') + '"'
        return (
            text.replace(delimiter, ".")
            if quoting
            else text.replace(delimiter, "").replace('"', "")
        )

    def line() -> bytes:
        cells = [cell(name) for name in names]
        if len(cells) > 1 and draw.random() < 0.1:
            cells = cells[: draw.randint(1, len(cells) - 1)]
        return (delimiter.join(cells) or '""').encode()

    def hurt(line: bytes) -> bytes:
        cut = delimiter.encode()
        return draw.choice(
            (
                line + cut.join([b"", *[b"9"] * len(names)]),
                b'"unclosed' + cut + b"1",
                b'"closed"early' + cut + b"1",
                b"caf\xe9",
                b'"\xff"',
            )
        )

    options = () if headed else (("header", "false"),)
    head = delimiter.join(names).encode() if headed else b""
    if not headed:
        names = [each.name for each in columns]
    return _case(
        draw, "csv", columns, head, line, hurt, options=(*options, ("delimiter", delimiter))
    )


# --- the property -----------------------------------------------------------


def holds(case: Case, folder: Path) -> None:
    """AssertionError where a line is not what it is alone, or a damaged one is no error row."""
    whole = _read(case, case.data(), folder)
    numbered = [at for at, line in enumerate(case.lines) if line.strip(b"\r\n")]
    assert sorted(whole) == list(range(len(numbered))), (sorted(whole), len(numbered))
    for number, at in enumerate(numbered):
        alone = _read(case, case.head + case.lines[at], folder)
        assert _same(whole[number], alone[0]), (number, case.lines[at], whole[number], alone)
        assert at not in case.damaged or whole[number][0] == "error", case.lines[at]


def _same(found: Sequence[Any], alone: Sequence[Any]) -> bool:
    return repr(found) == repr(alone)  # NaN is NaN here


def _read(case: Case, data: bytes, folder: Path) -> dict[int, tuple[Any, ...]]:
    """Each row by its number: a good one's values, or the reason and text of an error."""
    path = folder / "a"
    path.write_bytes(gzip.compress(data) if case.compressed else data)
    found = read(str(path), 0, case.stream)
    names = [column.name for column in case.columns]
    rows = {row[SEQ]: ("row", *(row[name] for name in names)) for row in found.rows.to_dicts()}
    errors = {
        int(row["position"].split(":")[1]): ("error", row["reason"], row["row"])
        for row in found.errors.to_dicts()
    }
    assert not rows.keys() & errors.keys()
    return rows | errors


def searched(seeds: Sequence[int]) -> int | None:
    """The first seed whose file does not hold, after what went wrong was printed."""
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            case = drawn(seed)
            try:
                holds(case, Path(folder))
            except Exception as failure:  # noqa: BLE001  whatever is raised is a finding
                what = f"{type(failure).__name__}: {failure}"
                sys.stderr.write(f"seed {seed}: {what}\n{case}\n")
                return seed
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1, help="of the first file; the rest follow")
    arguments = parser.parse_args()
    began = time.monotonic()
    failed = searched(range(arguments.seed, arguments.seed + arguments.files))
    seconds = time.monotonic() - began
    result = "all hold" if failed is None else f"seed {failed} does not hold"
    sys.stdout.write(
        f"{arguments.files} files from seed {arguments.seed} in {seconds:.0f} s: {result}\n"
    )
    return 0 if failed is None else 1


if __name__ == "__main__":
    sys.exit(main())
