"""State is data: what reads it runs none of it."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

import sqlwin
from sqlwin.errors import StateError
from sqlwin.plan.ir.source_text import SourceText
from sqlwin.state.segments import codec
from sqlwin.state.segments.codec import decode_segment, encode_segment

ROOT = Path(sqlwin.__file__).parent
RUNS = ("pickle", "cloudpickle", "marshal", "shelve", "dill", "joblib", "runpy", "imp")
CALLS = ("eval", "exec", "compile", "__import__")


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {(node.module or "").split(".")[0], *(alias.name for alias in node.names)}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.add(f"{node.func.id}()")
        elif isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            found.add("pickle")
    return found


def test_nothing_that_runs_what_it_reads_is_imported() -> None:
    """But by what brings a program to Spark's workers, from the driver, never from a file, and by
    what starts them, which runs the module of PySpark that Spark names; by the tables of the
    grammar in the user's cache, which are no state and have a digest; and by dataclasses, whose
    methods are compiled of the names of their fields."""
    runs = {*RUNS, *(f"{call}()" for call in CALLS)}
    found = {str(path.relative_to(ROOT)) for path in ROOT.rglob("*.py") if _imports(path) & runs}
    assert found == {
        *("spark/stages/program.py", "spark/workers/early.py", "spark/workers/fork_server.py"),
        *("sql/syntax/parsing/grammar_tables.py", "lazy_dataclass.py"),
    }


class Planted:
    """Leaves a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


def _segment(body: bytes) -> bytes:
    """A segment with another body, and a checksum that is right."""
    frame = pl.DataFrame({"__ts": [1], "a": [b"x"]})
    whole = encode_segment(frame, "__ts")
    header = codec.read_header(whole)
    head = codec._HEADER.pack(
        codec.MAGIC, codec.VERSION, 0, header.print, 1, header.lo, header.hi, len(body)
    )
    return b"".join((head, codec._checksum(head, memoryview(body)), body))


def _ipc(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as file:
        file.write_table(table)
    return bytes(sink.getvalue())


@pytest.mark.filterwarnings("ignore")
def test_a_pickled_type_in_a_segment_is_not_loaded(tmp_path: Path) -> None:
    planted = pickle.dumps(Planted(tmp_path / "ran"))
    metadata = {
        b"ARROW:extension:name": b"arrow.py_extension_type",
        b"ARROW:extension:metadata": planted,
    }
    schema = pa.schema([("__ts", pa.int64()), pa.field("a", pa.binary(), metadata=metadata)])
    table = pa.Table.from_arrays([pa.array([1]), pa.array([planted])], schema=schema)
    with pytest.raises(StateError, match="a type that somebody else defines"):
        decode_segment(_segment(_ipc(table)))
    nested = table.set_column(1, pa.field("a", pa.struct([schema.field("a")])), [[{"a": b""}]])
    with pytest.raises(StateError, match="a type that somebody else defines"):
        decode_segment(_segment(_ipc(nested)))
    assert not (tmp_path / "ran").exists()


def test_a_pickle_is_no_segment(tmp_path: Path) -> None:
    planted = pickle.dumps(Planted(tmp_path / "ran"))
    with pytest.raises(StateError):
        decode_segment(planted)
    with pytest.raises(StateError):
        decode_segment(_segment(planted))
    with pytest.raises(ValueError, match="Expecting value"):
        SourceText.load(planted.decode("latin-1"))
    assert not (tmp_path / "ran").exists()
