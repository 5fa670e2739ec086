"""Where goldens run. A host takes goldens and tells what every step of each gave.

A host that answers at once runs one golden at a time; a `batch` host (Spark)
gets all of them together, once a session, and may drive many in one query.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.runtime.lowering.explained import explain
from tests.golden.in_process import InProcess, Opened, Plain
from tests.golden.on_spark import Spark
from tests.golden.outcome import Outcome
from tests.golden.restarted import Committed, Restarted
from tests.golden.row_by_row import RowByRow
from tests.golden.text import Golden
from tests.reference.host import reference


class Host(Protocol):
    """name: as in `gap <name>:`. skip: why it does not run here. batch: takes all at once."""

    name: str
    skip: str | None
    batch: bool

    def run(self, goldens: Sequence[Golden]) -> dict[str, Outcome]:
        """Golden's name to what it gave."""


REFERENCE = InProcess("reference", lambda asked: Plain(reference(asked), queried=False))
EMBEDDED = InProcess("embedded", lambda asked: Opened(EmbeddedQuery(asked, explain)))
HOSTS: tuple[Host, ...] = (
    REFERENCE,
    EMBEDDED,
    InProcess("segments", Committed),
    InProcess("restart", Restarted),
    InProcess("one row at a time", RowByRow),
    Spark(),
)
