"""A write that fails as a whole is tried again while the failure may pass."""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlwin.errors import RunError, SqlwinError
from sqlwin.lazy_dataclass import dataclass

PAUSE_SECONDS, UNREACHED_SECONDS = 0.2, 3.0


@dataclass(frozen=True)
class Patience:
    """what: the table and its sink, for messages. failures: what its driver raises. passes: whether
    one may be over soon. wait: seconds until such a one is final, too."""

    what: str
    failures: tuple[type[Exception], ...]
    passes: Callable[[Exception], bool]
    wait: float

    def do(self, work: Callable[[], None], reached: bool) -> None:
        """Work that is done whole or not at all. reached: whether the table was written before; if
        not, its server may be misspelt, and is waited for less. RunError where it failed."""
        until = time.monotonic() + (self.wait if reached else min(self.wait, UNREACHED_SECONDS))
        while True:
            try:
                work()
                return
            except SqlwinError:
                raise
            except self.failures as failure:
                if not self.passes(failure) or time.monotonic() > until:
                    why = " ".join(str(failure).split())
                    message = f"cannot write to {self.what}: {why}; the last commit stands"
                    raise RunError(message) from failure
            time.sleep(PAUSE_SECONDS)
