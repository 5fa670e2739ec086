"""What a host gave of a golden."""

from __future__ import annotations

from dataclasses import field

from sqlwin.lazy_dataclass import dataclass
from sqlwin.testing.cells import NOTHING, Table


@dataclass(frozen=True)
class StepResult:
    """emitted, errors: of this step. table: last revisions after it. failed: the message.

    windows: of a state query after it, if the golden has one and the host has state. deadlines:
    after it, of each stage from below, in microseconds; none of a host without them.
    """

    emitted: Table = NOTHING
    errors: Table = NOTHING
    table: Table = NOTHING
    failed: str | None = None
    windows: Table | None = None
    deadlines: tuple[int | None, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """steps: one for each step of the golden, up to the one that failed.

    mistake: why the golden cannot be run as it is written, as of a stream that is not there.
    """

    refused: str | None = None
    explain: str = ""
    steps: list[StepResult] = field(default_factory=list)
    mistake: str | None = None
