"""Where goldens run. A host takes goldens and tells what every step of each gave.

A host that answers at once runs one golden at a time; a `batch` host (Spark)
gets all of them together, once a session, and may drive many in one query.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.lowering.explained import explain
from sqlwin.testing.golden import Golden
from sqlwin.testing.in_process import Drive, InProcess, Plain
from sqlwin.testing.on_spark import Spark
from sqlwin.testing.outcome import Outcome
from tests.golden.functions import FUNCTIONS
from tests.golden.restarted import Restarted
from tests.golden.row_by_row import RowByRow
from tests.golden.stores import named, opened
from tests.reference.host import reference


class Host(Protocol):
    """name: as in `gap <name>:`. skip: why it does not run here. batch: takes all at once."""

    name: str
    skip: str | None
    batch: bool

    def run(self, goldens: Sequence[Golden]) -> dict[str, Outcome]:
        """Golden's name to what it gave."""


class Opened(Plain):
    """EXPLAIN names the stores that the tasks opened: these and no others."""

    def explain(self) -> str:
        explained = super().explain()
        assert named(explained) == opened(self.query), explained
        return explained


def _in_process(name: str, drive: Callable[[Script, str], Drive]) -> InProcess:
    return InProcess(name, drive, functions=FUNCTIONS)


REFERENCE = _in_process(
    "reference", lambda parsed, clock: Plain(reference(parsed), clock, queried=False)
)
EMBEDDED = _in_process(
    "embedded", lambda parsed, clock: Opened(EmbeddedQuery(parsed, explain), clock)
)
DISTURBING: tuple[Host, ...] = (
    _in_process("restart", Restarted),
    _in_process("one row at a time", RowByRow),
)
HOSTS: tuple[Host, ...] = (REFERENCE, EMBEDDED, *DISTURBING, Spark(functions=FUNCTIONS))
