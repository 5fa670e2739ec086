"""`sqlwin test`: run goldens, or write a first one of a query."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from sqlwin.errors import InputError
from sqlwin.testing import junit
from sqlwin.testing.golden import SUFFIX, render
from sqlwin.testing.recorded import record
from sqlwin.testing.runner import ENGINES, Engine, Result, collect, run, update

FAILED = 1


def test(arguments: argparse.Namespace, say: Callable[[str], None], params: dict[str, str]) -> int:
    """0 where every golden passes, or is a gap that it names; 1 where one does not."""
    if arguments.new is not None:
        return _new(arguments, say, params)
    goldens = collect(arguments.paths or [Path()], arguments.only)
    if arguments.update:
        changed = [golden.name for golden in goldens if update(golden)]
        for name in changed:
            say(f"written: {name}")
        say(f"{_counted(len(goldens))}, {len(changed)} written; look at the differences")
        return 0
    engines: tuple[Engine, ...] = ENGINES if arguments.engine == "both" else (arguments.engine,)
    results: list[Result] = []
    for engine in engines:
        if engine == "spark":
            say("starting Spark …")
        for result in run(goldens, engine):
            _tell(result, say)
            results.append(result)
    if arguments.junit is not None:
        junit.write(results, arguments.junit)
    counts = Counter(result.status for result in results)
    say(
        f"{_counted(len(goldens))} on {' and '.join(engines)}: "
        + ", ".join(f"{count} {status}" for status, count in sorted(counts.items(), reverse=True))
        + f" in {sum(result.seconds for result in results):.1f} s"
    )
    return FAILED if counts["failed"] else 0


def _tell(result: Result, say: Callable[[str], None]) -> None:
    title = result.golden.head.get("title")
    say(f"{result.status:6}  {result.golden.name}" + (f": {title}" if title else ""))
    if result.status == "failed":
        say("\n".join(f"    {line}".rstrip() for line in result.why.splitlines()))


def _new(arguments: argparse.Namespace, say: Callable[[str], None], params: dict[str, str]) -> int:
    query: Path = arguments.new
    path: Path = arguments.output or query.with_suffix(SUFFIX)
    if arguments.paths or arguments.update:
        raise InputError("--new stands alone: it writes a golden of one query")
    if path.exists():
        raise InputError(f"{path} is there already; -o names another file")
    golden = record(query, path, arguments.rows, params, arguments.query)
    path.write_text(render(golden), encoding="utf-8")
    say(f"written: {path}, {len(golden.steps())} steps; read it: it is what the query emits today")
    return 0


def _counted(goldens: int) -> str:
    return f"{goldens} golden{'' if goldens == 1 else 's'}"
