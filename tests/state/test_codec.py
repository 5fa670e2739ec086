from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.errors import StateError
from sqlwin.state.segments import codec
from sqlwin.state.segments.codec import decode_segment, encode_segment, read_header, schema_print
from tests.support.draws import one_in
from tests.support.state.segment_fixtures import ROWS, SCHEMA, known, path

DATA = encode_segment(known(), "__ts")


@pytest.mark.parametrize("version", range(1, codec.VERSION + 1))
def test_every_released_version_is_read(version: int) -> None:
    data = path(version).read_bytes()
    assert read_header(data).version == version
    frame = decode_segment(data, SCHEMA)
    assert frame.schema == SCHEMA
    assert frame.rows() == ROWS


def test_the_header_says_what_is_inside() -> None:
    header = read_header(DATA)
    assert (header.rows, header.lo, header.hi, header.version) == (3, -5, 8, 1)
    assert header.print == schema_print(SCHEMA)
    assert header.body == len(DATA) - codec.HEADER_BYTES


def test_the_schema_print_is_the_same_for_ever() -> None:
    assert schema_print(SCHEMA).hex() == "e92b0146619ff786"


@pytest.mark.parametrize("compress", [True, False])
def test_no_rows(compress: bool) -> None:
    data = encode_segment(known().clear(), "__ts", compress)
    assert decode_segment(data, SCHEMA).equals(known().clear())
    assert (read_header(data).lo, read_header(data).hi) == (0, 0)


def test_every_changed_byte_is_found() -> None:
    for place in range(len(DATA)):
        for change in (0x01, 0x80, 0xFF):
            damaged = bytearray(DATA)
            damaged[place] ^= change
            with pytest.raises(StateError):
                decode_segment(bytes(damaged))


def test_every_cut_is_found() -> None:
    for length in range(len(DATA)):
        with pytest.raises(StateError):
            decode_segment(DATA[:length])
    with pytest.raises(StateError, match="cut short or too long"):
        decode_segment(DATA + b"\0")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a segment: it begins with b'', not b'SQLW'"),
        (b"PAR1" + DATA[4:], "not a segment: it begins with b'PAR1', not b'SQLW'"),
        (DATA[:4] + b"\x02\0" + DATA[6:], "version 2, known are 1 to 1: made by a newer sqlwin"),
        (DATA[:4] + b"\0\0" + DATA[6:], "version 0, known are 1 to 1: no sqlwin wrote it"),
        (DATA[:63], "segment is cut short: 63 bytes, its header has 64"),
        (DATA[:-1], f"its header says {len(DATA)} bytes, got {len(DATA) - 1}"),
        (DATA[:-1] + b"\xaa", "segment is damaged: its checksum does not match its bytes"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, message: str) -> None:
    with pytest.raises(StateError) as caught:
        decode_segment(data)
    assert message in str(caught.value)


def test_other_columns_are_refused() -> None:
    other = pl.Schema({**SCHEMA, "small": pl.Int16()})
    with pytest.raises(StateError, match="segment has other columns than its store"):
        decode_segment(DATA, other)


@one_in(1, database=None)
@given(
    before=st.lists(st.sampled_from(ROWS), max_size=9),
    rows=st.lists(st.sampled_from(ROWS), max_size=12),
    after=st.lists(st.sampled_from(ROWS), max_size=9),
    chunks=st.integers(1, 3),
    compress=st.booleans(),
)
def test_equal_frames_are_equal_bytes(
    before: list[tuple[object, ...]],
    rows: list[tuple[object, ...]],
    after: list[tuple[object, ...]],
    chunks: int,
    compress: bool,
) -> None:
    """Whatever the frame was cut from, put together from, or marked as."""
    plain = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    all_rows = pl.DataFrame([*before, *rows, *after], schema=SCHEMA, orient="row")
    sliced = all_rows.slice(len(before), len(rows))
    in_chunks = pl.concat([sliced.slice(i * 4, 4) for i in range(chunks)] + [sliced[chunks * 4 :]])
    junk = sliced.with_columns(pl.when(pl.col("__ts") >= 0).then(pl.col("small").fill_null(77)))
    data = encode_segment(plain, "__ts", compress)
    assert decode_segment(data, SCHEMA).equals(plain)
    for same in (sliced, in_chunks, junk, decode_segment(data)):
        assert encode_segment(same, "__ts", compress) == data


def test_hints_of_the_frame_leave_no_trace() -> None:
    hinted = known().with_columns(pl.col("__ts").set_sorted())
    assert encode_segment(hinted, "__ts") == DATA


def test_an_uncompressed_body_is_an_arrow_file_at_byte_64() -> None:
    data = encode_segment(known(), "__ts", compress=False)
    assert data[64:70] == b"ARROW1"
    assert decode_segment(memoryview(data)).equals(known())
