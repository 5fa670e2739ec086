"""What is made of the batches of a run: a file of each query, or the live page.

>>> from pathlib import Path
>>> name_of(Path("run.jsonl"), ["1"], 0).name, name_of(Path("run.jsonl"), ["a", "b"], 1).name
('run.jsonl', 'run.b.jsonl')
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from sqlwin.errors import InputError
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.connectors.progress import MOST_ARRIVALS, BatchRows, OnRows
from sqlwin.system.secrets import masked
from sqlwin.timeline import files
from sqlwin.timeline.recorder import Recorder
from sqlwin.timeline.recording import Batch, Recording

FIRST_ROWS = f"of a batch on Spark at most {MOST_ARRIVALS:,} rows of each stream are kept here"


def named(script: Script) -> list[str]:
    """The queries of a script: by their sink, or their number from 1."""
    return distinct(
        query.sink.name if query.sink else str(number)
        for number, query in enumerate(script.queries, 1)
    )


def distinct(names: Iterable[str]) -> list[str]:
    """Those that differ in nothing but case are numbered.

    >>> distinct(["a", "b", "A"])
    ['a.1', 'b', 'A.2']
    """
    known = list(names)
    times, seen = Counter(map(str.lower, known)), Counter[str]()
    made = []
    for name in known:
        seen[name.lower()] += 1
        made.append(f"{name}.{seen[name.lower()]}" if times[name.lower()] > 1 else name)
    return made


def name_of(file: Path, names: Sequence[str], number: int) -> Path:
    """Each query of several has a file of its own, beside the others whatever its name is."""
    if len(names) == 1:
        return file
    plain = distinct(re.sub(r"[^\w-]", "_", name) for name in names)
    return file.with_name(f"{file.stem}.{plain[number]}{file.suffix}")


def recorders(script: Script, title: str) -> list[Recorder]:
    names = named(script)
    titles = [title if len(names) == 1 else f"{title}: {name}" for name in names]
    return [Recorder(query, each) for query, each in zip(script.queries, titles, strict=True)]


def begun(recorder: Recorder, script: Script, bounded: bool) -> Recording:
    """What is known before the first batch. bounded: of a batch the first rows are."""
    text = "" if script.source_text is None else masked(script.source_text.text)
    notes = (FIRST_ROWS,) if bounded else ()
    return replace(recorder.empty, query=text, notes=notes)


def recorded(recorder: Recorder, rows: BatchRows) -> Batch:
    ended = rows.read == 0 and not rows.taken
    return recorder.batch(
        "without rows" if ended else "batch",
        rows.taken,
        rows.results,
        rows.errors,
        before=rows.before,
        after=rows.after,
        now=rows.now,
        read=rows.read,
    )


@contextmanager
def recording_file(file: Path, script: Script, title: str, bounded: bool) -> Iterator[OnRows]:
    """Writes a line for each batch. InputError where it cannot be written."""
    if file.suffix != files.SUFFIX:
        raise InputError(f"--record {file}: a recording ends in {files.SUFFIX}")
    made = recorders(script, title)
    names = named(script)
    with ExitStack() as opened:
        outs = [opened.enter_context(_opened(name_of(file, names, n))) for n in range(len(made))]
        for out, recorder in zip(outs, made, strict=True):
            _write(out, files.head(begun(recorder, script, bounded)))

        def write(rows: BatchRows) -> None:
            _write(outs[rows.query], files.line(recorded(made[rows.query], rows)))

        yield write


def _opened(file: Path) -> TextIO:
    try:
        return file.open("w", encoding="utf-8")
    except OSError as failure:
        raise InputError(f"cannot write {file}: {failure.strerror}") from None


def _write(out: TextIO, line: str) -> None:
    out.write(line + "\n")
    out.flush()
