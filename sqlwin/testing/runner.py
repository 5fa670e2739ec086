"""Goldens on one host or both: what passed, what did not, and why."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, Protocol

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.errors import InputError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.runtime.lowering.explained import explain
from sqlwin.testing.checks import differences, rewritten
from sqlwin.testing.golden import SUFFIX, Golden, load, render
from sqlwin.testing.in_process import InProcess, Plain
from sqlwin.testing.outcome import Outcome

Engine = Literal["embedded", "spark"]
Status = Literal["passed", "failed", "gap"]
ENGINES: tuple[Engine, ...] = ("embedded", "spark")
EMBEDDED = InProcess("embedded", lambda script, clock: Plain(EmbeddedQuery(script, explain), clock))


class Host(Protocol):
    """name: as in `gap <name>:`. skip: why it does not run here. batch: takes all at once."""

    @property
    def name(self) -> str: ...

    @property
    def skip(self) -> str | None: ...

    @property
    def batch(self) -> bool: ...

    def run(self, goldens: Sequence[Golden]) -> dict[str, Outcome]:
        """Golden's name to what it gave."""


@dataclass(frozen=True)
class Result:
    """seconds: of a golden on Spark, where all run together, its share. found: what differs."""

    golden: Golden
    engine: Engine
    seconds: float
    found: list[str]

    @property
    def status(self) -> Status:
        """A gap that the golden names is one as long as something differs."""
        if self.engine in self.golden.gaps:
            return "gap" if self.found else "failed"
        return "failed" if self.found else "passed"

    @property
    def why(self) -> str:
        if self.found:
            return "\n\n".join(self.found)
        return f"passes, and its head has `gap {self.engine}`: the line can go"


def collect(paths: Sequence[Path], part: str = "") -> list[Golden]:
    """The goldens of files and, in any depth, of folders, by name; those with `part` in it.

    InputError for a path that is not there, and where none is found.
    """
    found: dict[Path, Golden] = {}
    for path in paths:
        if not path.exists():
            raise InputError(f"no file or folder {path}")
        files = sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]
        found |= {file.resolve(): load(file, path if path.is_dir() else None) for file in files}
    chosen = [golden for golden in found.values() if part in golden.name]
    if not chosen:
        named = f" with {part!r} in its name" if part and found else ""
        raise InputError(
            f"no golden{named} below {', '.join(map(str, paths))}; files end in {SUFFIX}"
        )
    return chosen


def host_of(engine: Engine) -> Host:
    """Spark is imported, and started, by those who want it."""
    if engine == "embedded":
        return EMBEDDED
    from sqlwin.testing.on_spark import Spark

    return Spark()


def run(goldens: Sequence[Golden], engine: Engine) -> Iterator[Result]:
    """In the order of the goldens. Names may be there twice, from two folders."""
    host = host_of(engine)
    if host.batch:
        began = time.monotonic()
        numbered = {f"{at}/{golden.name}": golden for at, golden in enumerate(goldens)}
        outcomes = host.run([_named(golden, name) for name, golden in numbered.items()])
        share = (time.monotonic() - began) / len(goldens)
        for name, golden in numbered.items():
            yield Result(golden, engine, share, differences(golden, outcomes[name]))
        return
    for golden in goldens:
        began = time.monotonic()
        outcome = host.run([golden])[golden.name]
        yield Result(golden, engine, time.monotonic() - began, differences(golden, outcome))


def _named(golden: Golden, name: str) -> Golden:
    return Golden(name, golden.head, golden.blocks, golden.folder)


def update(golden: Golden) -> bool:
    """Write what the query gives in process into the golden's file; whether it changed.

    InputError where nothing can be written: the query is refused, or a step cannot be taken.
    """
    outcome = EMBEDDED.run([golden])[golden.name]
    if outcome.mistake is not None:
        raise InputError(f"{golden.name}: {outcome.mistake}")
    if outcome.refused is not None and golden.steps():
        raise InputError(f"{golden.name}: the query is refused: {outcome.refused}")
    path = golden.folder / f"{Path(golden.name).name}{SUFFIX}"
    text = render(rewritten(golden, outcome))
    changed = text != path.read_text(encoding="utf-8")
    if changed:
        path.write_text(text, encoding="utf-8")
    return changed
