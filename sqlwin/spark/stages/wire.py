"""The rows that travel between the stages: few, each with a big binary payload.

| column  | what it is |
|---------|------------|
| query   | number of the query in the script, or of a lower stage, see `program` |
| bucket  | label of the bucket, see `buckets` |
| kind    | what the payload is |
| at      | first position in the payload; a bucket takes payloads in this order |
| payload | Arrow IPC stream, or JSON for marks |

Into a bucket go `rows` (prepared by the input pipeline), `raw` (declared columns, for a
pipeline that needs the watermark), `errors`, `warning` (a text) and `mark` (what one
task saw, the clock and end of input); of an import `state`, a blob with its name. Rows of a
query's second input are `rows1` or `raw1`, see `row_kinds`. Of a run that is recorded `arrived`
passes through, see `arrivals`. Out of a bucket come `results`,
`errors` and one `done`; out of one of a lower stage `raw` and `mark` for the stages above, in
place of results.

>>> frame = pl.DataFrame({"x": [1, 2, 3]})
>>> [len(decode(payload)) for payload in encode(frame, cap=20)]
[2, 1]
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field

import polars as pl
import pyarrow as pa

from sqlwin.lazy_dataclass import dataclass

CAP = 32 << 20
"""Bytes of a payload: a row of some tens of MB passes through Spark at ease."""

PACKED = pa.schema(
    [
        ("query", pa.int32()),
        ("bucket", pa.int32()),
        ("kind", pa.string()),
        ("at", pa.int64()),
        ("payload", pa.binary()),
    ]
)


@dataclass(frozen=True)
class Packed:
    query: int
    bucket: int
    kind: str
    at: int
    payload: bytes

    def to_batch(self) -> pa.RecordBatch:
        return pa.RecordBatch.from_pylist([asdict(self)], schema=PACKED)


@dataclass(frozen=True)
class Mark:
    """What one task of a batch saw. has_rows: whether it read any.

    read: those counted here; what two stages of a query read, one of them counts.
    marks: stream to partition to greatest event time, of a derived stream to the watermark
    of what gives it. watermark: raise those of streams to this. taken, late, expired: of the
    task's rows, see `RowCounts`. reloaded: static tables of which another version comes. All
    times in microseconds.
    """

    now: int
    end: bool = False
    marks: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    watermark: Mapping[str, int] = field(default_factory=dict)
    read: int = 0
    has_rows: bool = False
    taken: int = 0
    late: int = 0
    expired: int = 0
    reloaded: Sequence[str] = ()

    def dump(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def load(data: bytes) -> Mark:
        found = json.loads(data)
        marks = {
            stream: {int(part): ts for part, ts in parts.items()}
            for stream, parts in found["marks"].items()
        }
        return Mark(**{**found, "marks": marks})


@dataclass(frozen=True)
class Done:
    """The result of a bucket's batch. deadline: when it next needs a tick.

    errors: its rows of the error stream. replayed: messages it had admitted before. stage: see
    `Program.lowered`. counts: fields of `OperatorCounts`.
    """

    watermarks: dict[str, int]
    deadline: int | None
    read: int
    emitted: int
    replayed: int = 0
    stage: int = 0
    errors: int = 0
    counts: dict[str, int | None] = field(default_factory=dict)

    def dump(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def load(data: bytes) -> Done:
        return Done(**json.loads(data))


def encode(frame: pl.DataFrame, cap: int = CAP) -> Iterator[bytes]:
    """The frame as Arrow IPC streams of about `cap` bytes each."""
    size = max(1, int(frame.estimated_size()))
    rows = max(1, len(frame) * cap // size)
    for part in frame.iter_slices(rows):
        out = io.BytesIO()
        part.write_ipc_stream(out, compression="uncompressed")
        yield out.getvalue()


def decode(payload: bytes) -> pl.DataFrame:
    return pl.read_ipc_stream(io.BytesIO(payload))


def packed_blob(name: str, data: bytes) -> bytes:
    """A blob of state as a payload.

    >>> unpacked_blob(packed_blob("header", b"{}"))
    ('header', b'{}')
    """
    return name.encode() + b"\0" + data


def unpacked_blob(payload: bytes) -> tuple[str, bytes]:
    name, _, data = payload.partition(b"\0")
    return name.decode(), data
