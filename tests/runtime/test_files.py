"""Files as sources: every row is taken or stands in the error stream, at its own position."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from sqlwin.errors import RunError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.runtime.files.globbing import listing
from sqlwin.runtime.files.source import ROWS_IN_A_FILE, Decoded, read
from sqlwin.schema import PART, SEQ, TIMESTAMP, Column

COLUMNS = (
    Column("id", pa.int64()),
    Column("name", pa.string()),
    Column("price", pa.decimal128(10, 2)),
    Column("ok", pa.bool_()),
    Column("ts", TIMESTAMP),
)
GOOD_JSON = '{"id": 1, "name": "tea", "price": "2.50", "ok": true, "ts": "2024-01-01T09:00:00Z"}'


def stream(format_: str, **options: str) -> Stream:
    given = {"format": format_, **options}
    return Stream("orders", COLUMNS, "ts", options=tuple(sorted(given.items())))


def decode(folder: Path, text: str, format_: str = "json", **options: str) -> Decoded:
    file = folder / f"a.{format_}"
    file.write_text(text, encoding="utf-8")
    return read(str(file), 3, stream(format_, **options))


def test_good_lines_are_rows_at_their_positions(tmp_path: Path) -> None:
    found = decode(tmp_path, GOOD_JSON + "\n" + GOOD_JSON + "\n")
    assert found.errors.is_empty()
    assert found.rows[SEQ].to_list() == [3 * ROWS_IN_A_FILE, 3 * ROWS_IN_A_FILE + 1]
    assert found.rows[PART].to_list() == [0, 0]
    assert str(found.rows["price"][0]) == "2.50"
    assert found.rows["ts"].dtype == pl.Datetime("us", "UTC")


def test_a_broken_line_costs_itself_only(tmp_path: Path) -> None:
    found = decode(tmp_path, GOOD_JSON + "\n{oops\n" + GOOD_JSON + "\n")
    assert found.rows[SEQ].to_list() == [3 * ROWS_IN_A_FILE, 3 * ROWS_IN_A_FILE + 2]
    [error] = found.errors.to_dicts()
    assert error["row"] == "{oops"
    assert error["reason"] == "malformed: the line cannot be parsed"
    assert error["position"] == f"0:{3 * ROWS_IN_A_FILE + 1}"


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("id", '"one"', "id is 'one', not a BIGINT"),
        ("id", "1.5", "id is '1.5', not a BIGINT"),
        ("ts", '"yesterday"', "ts is 'yesterday', not a TIMESTAMP"),
        ("price", '"dear"', "price is 'dear', not a DECIMAL(10, 2)"),
        ("ok", '"perhaps"', "ok is 'perhaps', not a BOOLEAN"),
    ],
)
def test_a_value_of_another_type_is_named(
    tmp_path: Path, field: str, value: str, reason: str
) -> None:
    found = decode(tmp_path, f'{GOOD_JSON}\n{{"{field}": {value}}}\n')
    assert len(found.rows) == 1
    assert found.errors["reason"].to_list() == [f"malformed: {reason}"]
    assert value.strip('"') in found.errors["row"][0]


def test_missing_fields_are_null_and_undeclared_ones_are_left_out(tmp_path: Path) -> None:
    found = decode(tmp_path, '{"id": 1, "colour": "red"}\n')
    assert found.rows.row(0, named=True)["name"] is None
    assert "colour" not in found.rows.columns


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    for format_ in ("json", "csv"):
        found = decode(tmp_path, "", format_)
        assert found.rows.is_empty()
        assert found.errors.is_empty()


def test_csv_with_a_broken_row(tmp_path: Path) -> None:
    text = "id,name,price,ok,ts\n1,tea,2.50,true,2024-01-01 09:00:00\n2,a,b,c,d,e,f\n"
    found = decode(tmp_path, text, "csv")
    assert found.rows["id"].to_list() == [1]
    assert found.errors["row"].to_list() == ["2,a,b,c,d,e,f"]


def test_csv_empty_cells_are_null_and_bad_cells_malformed(tmp_path: Path) -> None:
    text = "id,name,price,ok,ts\n1,,,,\nx,tea,2.50,true,2024-01-01T09:00:00+01:00\n"
    found = decode(tmp_path, text, "csv")
    assert found.rows["ts"].to_list() == [None]
    assert found.errors["reason"].to_list() == ["malformed: id is 'x', not a BIGINT"]


def test_csv_without_a_header(tmp_path: Path) -> None:
    text = "1;tea;2.50;true;2024-01-01T09:00:00Z\n"
    found = decode(tmp_path, text, "csv", header="false", delimiter=";")
    assert found.rows["name"].to_list() == ["tea"]


def test_parquet(tmp_path: Path) -> None:
    pl.DataFrame({"id": [1, 2], "name": ["tea", None]}).write_parquet(tmp_path / "a.parquet")
    found = read(str(tmp_path / "a.parquet"), 0, stream("parquet"))
    assert found.rows["name"].to_list() == ["tea", None]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"cannot read .* of stream orders"):
        read(str(tmp_path / "none.json"), 0, stream("json"))


def test_listing_takes_a_file_a_folder_or_a_glob(tmp_path: Path) -> None:
    for name in ("b/2.json", "b/1.json", "b/_hidden.json", "b/.tmp", "c.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    names = lambda path: [Path(f).name for f in listing(path, tmp_path)]  # noqa: E731
    assert names("b") == ["1.json", "2.json"]
    assert names("b/*.json") == ["1.json", "2.json"]
    assert names("**/*.json") == ["1.json", "2.json", "c.json"]
    assert names("c.json") == ["c.json"]
    assert names("nothing/*") == []
