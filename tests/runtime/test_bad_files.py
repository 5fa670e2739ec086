"""Bad lines cost themselves, and a file that does not fit its stream says so."""

from __future__ import annotations

import base64
import gzip
import zlib
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from sqlwin.errors import RunError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.files.source import Decoded, read
from sqlwin.schema import SEQ, Column

COLUMNS = (Column("id", pa.int64()), Column("name", pa.string()))


def decode(folder: Path, data: bytes, format_: str, **options: str) -> Decoded:
    file = folder / f"a.{format_}"
    file.write_bytes(data)
    given = {"format": format_, **options}
    return read(str(file), 0, Stream("orders", COLUMNS, None, options=tuple(sorted(given.items()))))


def ids(found: Decoded) -> list[tuple[int, int]]:
    return [(row[SEQ], row["id"]) for row in found.rows.to_dicts()]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"[" * 1000, "nested deeper than 500 levels"),
        (b'{"id": ' + b"[" * 600 + b"]" * 600 + b"}", "nested deeper than 500 levels"),
        (b"[2]", "no JSON object"),
        (b"null", "no JSON object"),
        (b'{"id": 2} {"id": 3}', "cannot be parsed"),
        (b'{"id": 2} null {"id": 3}', "cannot be parsed"),
        (b'{"id": NaN}', "cannot be parsed"),
        (b'{"id": 2, "name": "\xff"}', "not UTF-8"),
    ],
    ids=range(8),
)
def test_a_bad_line_of_json_is_one_error(tmp_path: Path, line: bytes, reason: str) -> None:
    found = decode(tmp_path, b'{"id": 1}\n' + line + b'\n{"id": 3}\n', "json")
    assert ids(found) == [(0, 1), (2, 3)]
    [error] = found.errors.to_dicts()
    assert reason in error["reason"]
    assert error["position"] == "0:1"
    if b"\xff" in line:
        assert base64.b64decode(error["row"]) == line
    else:
        assert error["row"] == line.decode()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'2,"open', "a quote is not closed"),
        (b'2,"a"b', "a quote is not closed"),
        (b"2,b,c", "the line has 3 fields, not 2"),
        (b"2,\xff", "not UTF-8"),
        (b"2," + b"x" * 131_073, "131,073 characters"),
        (b'2,"' + b"x" * 131_073 + b'"', "131,073 characters"),
        (b"two,b", "id is 'two', not a BIGINT"),
    ],
    ids=range(7),
)
@pytest.mark.parametrize("more", [b"", b"oops,\n"])
def test_a_bad_line_of_csv_is_one_error(
    tmp_path: Path, line: bytes, reason: str, more: bytes
) -> None:
    data = b'\xef\xbb\xbfid,name\n1,""\n' + line + b'\n3,"c\nd"\n' + more
    found = decode(tmp_path, data, "csv")
    assert ids(found) == [(0, 1), (2, 3)]
    assert found.rows["name"].to_list() == ["", "c\nd"]
    error = found.errors.row(0, named=True)
    assert reason in error["reason"]
    if b"\xff" in line:
        assert base64.b64decode(error["row"]) == line
    else:
        assert error["row"] == line.decode()


def test_an_unclosed_quote_spans_a_bounded_number_of_lines(tmp_path: Path) -> None:
    inner = b"".join(b"%d,x\n" % number for number in range(2_000))
    found = decode(tmp_path, b'id,name\n7,"open\n' + inner + b'8,y"\n', "csv")
    assert len(found.rows) == 2_001
    assert found.errors["row"].to_list() == ['7,"open']
    assert found.rows["name"].to_list()[-1] == 'y"'


def test_the_last_of_equal_names_counts_in_every_file(tmp_path: Path) -> None:
    line = b'{"id": 1, "id": 2}\n'
    for data in (line, line + b"{oops\n"):
        assert ids(decode(tmp_path, data, "json")) == [(0, 2)]


@pytest.mark.parametrize("packed", [gzip.compress, lambda data: pa.compress(data, "zstd", True)])
def test_compressed_files_with_a_broken_line(tmp_path: Path, packed: object) -> None:
    assert callable(packed)
    found = decode(tmp_path, packed(b'{"id": 1}\n{oops\n{"id": 3}\n'), "json")
    assert ids(found) == [(0, 1), (2, 3)]
    found = decode(tmp_path, packed(b'id,name\n1,a\n2,b,c\n3,""\n'), "csv")
    assert ids(found) == [(0, 1), (2, 3)]


def test_a_compressed_file_that_is_cut_short_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"cannot read .*a\.json of stream orders"):
        decode(tmp_path, gzip.compress(b'{"id": 1}\n' * 1000)[:-20], "json")


@pytest.mark.parametrize("format_", ["json", "csv"])
@pytest.mark.parametrize("of", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_refused_as_a_whole(tmp_path: Path, format_: str, of: str) -> None:
    text = '{"id": 1}\n' if format_ == "json" else "id\n1\n"
    with pytest.raises(RunError, match="it is UTF-16, and files are read as UTF-8"):
        decode(tmp_path, f"\ufeff{text}".encode(of), format_)


def test_a_damaged_first_line_is_no_utf_16(tmp_path: Path) -> None:
    decoded = decode(tmp_path, b'\xff\xfe{"id": 0}\n{"id": 1}\n', "json")
    assert decoded.rows["id"].to_list() == [1]


@pytest.mark.parametrize(
    ("header", "cause"),
    [
        ("id;name", "delimiter = ';'"),
        ("id\tname", r"delimiter = '\\t'"),
        (" id , name ", "Names are compared as they are"),
        ("ID,NAME", "Names are compared as they are"),
        ("1,tea", "header = 'false'"),
    ],
)
def test_a_csv_without_a_declared_column_is_refused(
    tmp_path: Path, header: str, cause: str
) -> None:
    with pytest.raises(RunError, match=f"a.csv has no column of stream orders: .*{cause}"):
        decode(tmp_path, f"{header}\n1,tea\n".encode(), "csv")


def test_a_name_that_stands_twice_in_a_header_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="two columns 'id' in its header"):
        decode(tmp_path, b"id,name,id\n1,a,2\n", "csv")
    assert ids(decode(tmp_path, b"id,q,q\n1,a,2\n", "csv")) == [(0, 1)]


def test_a_column_that_is_missing_is_a_warning(tmp_path: Path) -> None:
    (warning,) = decode(tmp_path, b"id\n1\n", "csv").warnings
    assert warning.endswith("a.csv has no column name of stream orders: it is NULL in every row")
    assert decode(tmp_path, b"id,name\n1,\n", "csv").warnings == ()


def test_lines_that_end_in_cr_alone_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"a.csv of stream orders has a CR within its header"):
        decode(tmp_path, b"id,name\r1,tea\r2,cup\r", "csv")
    assert ids(decode(tmp_path, b"id,name\r\n1,tea\r\n", "csv")) == [(0, 1)]


def test_parquet_that_does_not_fit(tmp_path: Path) -> None:
    def file(names: list[str]) -> bytes:
        pl.DataFrame({name: [1] for name in names}).write_parquet(tmp_path / "made")
        return (tmp_path / "made").read_bytes()

    (warning,) = decode(tmp_path, file(["id", "q"]), "parquet").warnings
    assert "no column name" in warning
    with pytest.raises(RunError, match="has no column of stream orders"):
        decode(tmp_path, file(["q"]), "parquet")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("x^2,id\n7,1\n", {}),
        ("x^id\n7^1\n", {"delimiter": "^"}),
        ("x\1id\n7\0011\n", {"delimiter": "\1"}),
        ("x^2é,id\n7,1\n8,é\n", {}),
    ],
)
def test_a_text_that_begins_as_zlib_does_is_text(
    tmp_path: Path, text: str, options: dict[str, str]
) -> None:
    assert ids(decode(tmp_path, text.encode(), "csv", **options)) == [(0, 1)]


@pytest.mark.parametrize("delimiter", ["^", "\1"])
def test_a_text_without_a_header_that_begins_as_zlib_does(tmp_path: Path, delimiter: str) -> None:
    columns = (Column("x", pa.string()), Column("id", pa.int64()))
    given = {"format": "csv", "header": "false", "delimiter": delimiter}
    (tmp_path / "a").write_text(f"x{delimiter}1\n")
    stream = Stream("orders", columns, None, options=tuple(sorted(given.items())))
    assert ids(read(str(tmp_path / "a"), 0, stream)) == [(0, 1)]


@pytest.mark.parametrize("level", range(10))
def test_every_level_of_zlib(tmp_path: Path, level: int) -> None:
    data = zlib.compress(b'{"id": 1}\n', level)
    assert ids(decode(tmp_path, data, "json")) == [(0, 1)]
    assert ids(decode(tmp_path, b'x^{"id": 1}\n{"id": 2}\n', "json")) == [(1, 2)]


def test_json_without_a_declared_name_is_a_warning(tmp_path: Path) -> None:
    (warning,) = decode(tmp_path, b'{"q": 1}\n{oops\n', "json").warnings
    assert "has a column of stream orders, declared are 'id', 'name'" in warning
    for fitting in (b'{"q": 1}\n{"id": null}\n', b"", b"{oops\n"):
        assert decode(tmp_path, fitting, "json").warnings == ()
