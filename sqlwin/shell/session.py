"""What a shell does with a statement, whoever gave it: a terminal, a pipe or a file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import field, replace
from pathlib import Path
from typing import TextIO

import polars as pl

from sqlwin.errors import InputError
from sqlwin.inference.declared import inferred_from
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.explain.statements import answers
from sqlwin.plan.ir.statements import Script
from sqlwin.running.analysis import explained
from sqlwin.running.engines import Run, engine
from sqlwin.running.progress import Progress
from sqlwin.running.screen import Show, screen
from sqlwin.runtime.connectors.options import RunOptions
from sqlwin.shell.declared import Declarations, declares
from sqlwin.shell.looking import checked, final, look
from sqlwin.shell.splitting import split

ENGINES = ("embedded", "spark")
FORMATS = ("table", "json", "csv")


class Left(Exception):
    """The shell is left."""


@dataclass
class Session:
    """engine: where queries run. follow: whether they go on as files arrive, until Ctrl-C.
    begins: is called where a statement begins."""

    engine: str = "embedded"
    format: str = "table"
    follow: bool = False
    out: TextIO = field(default_factory=lambda: sys.stdout)
    err: TextIO = field(default_factory=lambda: sys.stderr)
    declarations: Declarations = field(default_factory=lambda: Declarations(inferred_from(Path())))
    engines: dict[str, Run] = field(default_factory=dict)
    begins: Callable[[], None] = lambda: None

    def take(self, statement: str) -> None:
        """Answer one statement; SqlwinError for a mistake or a failure, and nothing is lost."""
        self.begins()
        statement = statement.strip()
        dropped = self.declarations.drop(statement)
        if dropped is not None:
            self.note(f"{dropped} is dropped")
        elif declares(statement):
            self.declarations.add(statement)
        else:
            self._ask(statement)

    def file(self, path: str) -> None:
        """Every statement of a file. InputError where it cannot be read."""
        try:
            text = Path(path).expanduser().read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot read {path}: {error}") from None
        found, rest = split(text)
        for statement in [*found, rest] if rest.strip() else found:
            self.take(statement)

    def say(self, text: str) -> None:
        print(text, file=self.out, flush=True)

    def note(self, text: str) -> None:
        print(text, file=self.err, flush=True)

    def show(self, rows: pl.DataFrame) -> None:
        screen(self.format, self.out)(rows)

    def _ask(self, statement: str) -> None:
        bare, clause = look(statement)
        asked = self.declarations.bind(bare, statement)
        options = self._options(Progress(self.err))
        for answer in answers(asked, explained(asked, options, self._engine())):
            if answer:
                self.say(answer)
            else:
                self.note("nothing is found")
        for query in asked.queries:
            if clause is None:
                self._run(asked, screen(self.format, self.out))
                return
            if self.follow:
                raise InputError(r"ORDER BY and LIMIT wait for the end of the input: \follow off")
            wanted = checked(clause, statement, query.plan.schema)
            emitted = list[pl.DataFrame]()
            self._run(asked, emitted.append)
            if emitted:
                self.show(final(emitted, wanted, statement))

    def _run(self, asked: Script, show: Show) -> None:
        progress = Progress(self.err)
        options = replace(self._options(progress), show=show, on_errors=progress.errors)
        progress.done(self._engine()(asked, options))

    def _options(self, progress: Progress) -> RunOptions:
        return RunOptions(
            Path(),
            follow=self.follow,
            on_warning=progress.warning,
            watched=self.out.isatty(),
        )

    def _engine(self) -> Run:
        """Kept, for Spark is started once."""
        return self.engines.setdefault(self.engine, engine(self.engine, Progress(self.err)))
