"""Cases that are not kept: expressions over a table of their own, asked of Spark as they are met.

Spark's answers may be written to a file, so that the next comparison needs no Spark.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from tests.functions.canonical import Json
from tests.functions.classes import CLASSES, Tally, Verdict, verdict
from tests.functions.compare import printed, report
from tests.functions.matrix import ROW, Case
from tests.functions.oracle import Answer
from tests.functions.ours import answer

NOTHING = pa.table({ROW: pa.array([0], pa.int64())})
"""For expressions that read no columns."""


@dataclass(frozen=True, eq=False)
class Over(Case):
    """An expression over all rows of a table."""

    table: pa.Table

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    @property
    def picks(self) -> tuple[tuple[int, ...], ...]:
        return tuple((at,) * len(self.columns) for at in range(self.table.num_rows))

    @property
    def schema(self) -> pa.Schema:
        return self.rows.schema

    @property
    def rows(self) -> pa.Table:
        if ROW in self.columns:
            return self.table
        return self.table.append_column(ROW, pa.array(range(self.table.num_rows), pa.int64()))

    def shown(self, row: int) -> str:
        return str(self.table.slice(row, 1).to_pylist()[0]) if ROW not in self.columns else ""


Answered = tuple[Case, Answer]


def written(path: Path, answered: Iterable[Answered]) -> None:
    lines = (json.dumps(_line(case, answer)) for case, answer in answered)
    path.write_bytes(gzip.compress("\n".join(lines).encode("utf-8")))


def read(path: Path) -> Iterator[Answered]:
    for line in gzip.decompress(path.read_bytes()).decode("utf-8").split("\n"):
        found = json.loads(line)
        table = pa.ipc.open_stream(base64.b64decode(found["table"])).read_all()
        reported = Answer(found["type"], tuple(found["rows"]), found["refused"])
        yield Over(found["subject"], found["text"], table), reported


def _line(case: Case, answer: Answer) -> Json:
    assert isinstance(case, Over)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, case.table.schema) as stream:
        stream.write_table(case.table)
    table = base64.b64encode(sink.getvalue().to_pybytes()).decode()
    return {"subject": case.subject, "text": case.text, "table": table, **vars(answer)}


def compared(answered: Iterable[Answered], show: str, rows: int = 2) -> dict[str, Verdict]:
    """Prints the expressions of the classes to be shown, and the table; gives all verdicts."""
    shown = CLASSES if show == "all" else tuple(show.split(","))
    tallies: dict[str, Tally] = {}
    for case, theirs in answered:
        ours = answer(case)
        found = verdict(theirs, ours)
        tally = tallies.setdefault(case.subject, Tally())
        tally.verdicts[f"{len(tally.verdicts)} {case.text}"] = found
        if found.kind in shown:
            print("\n".join(report(case, theirs, ours, found, rows)), flush=True)
    print("\n".join(printed(tallies)))
    return {text: found for tally in tallies.values() for text, found in tally.verdicts.items()}
