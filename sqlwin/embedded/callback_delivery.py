"""Automatic mode: outputs are delivered to a callback, in order, until it refuses one.

A callback refuses an output by returning False, or by raising: that output and those
after it stay unsent, and input is disabled until `timeout` has sent them (SAMZA-552,
"Automatic addMessage", 7.1). The callback may look at its query, not move it.

Invariant: the callback has accepted none of the buffer's fresh outputs, but perhaps the one
it is handling now.

>>> import polars as pl
>>> outputs = OutputBuffer(pl.DataFrame(schema={"n": pl.Int64}))
>>> outputs.add(pl.DataFrame({"n": [1, 2, 3]}))
>>> delivery = CallbackDelivery(outputs, lambda output: output["n"] < 2)
>>> delivery.send(), delivery.unsent
(1, 2)
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlwin.embedded.output_buffer import OutputBuffer
from sqlwin.errors import InputDisabled, InputError
from sqlwin.lazy_dataclass import dataclass

LOG = logging.getLogger("sqlwin")
Callback = Callable[[dict[str, Any]], Any]
"""Takes one output; False refuses it."""


@dataclass
class CallbackDelivery:
    """refused: whether input is disabled; because: what the callback raised, if it did."""

    outputs: OutputBuffer
    callback: Callback | None = None
    refused: bool = False
    cause: Exception | None = None
    in_callback: bool = False

    @property
    def unsent(self) -> int:
        return len(self.outputs.fresh())

    def send(self) -> int:
        """Deliver from where it stopped; how many outputs were accepted."""
        if self.callback is None:
            return 0
        rows, sent = self.outputs.fresh(), 0
        self.refused, self.cause = True, None
        try:
            with self._calling():
                for row in rows.iter_rows(named=True):
                    if not self._accepted(self.callback, row):
                        break
                    sent += 1
        finally:
            self.outputs.drop(sent)
            self.refused = sent < len(rows)
        return sent

    def check_enabled(self) -> None:
        """Log a warning and raise InputDisabled, if an output was refused."""
        if not self.refused:
            return
        message = f"an output was refused and {self.unsent} wait: input is disabled until "
        LOG.warning("%stimeout()", message)
        raise InputDisabled(message + "timeout() has sent them") from self.cause

    def check_outside(self, call: str) -> None:
        """InputError within the callback."""
        if self.in_callback:
            raise InputError(f"{call} is called within the callback of on_output; return first")

    def _accepted(self, callback: Callback, row: dict[str, Any]) -> bool:
        try:
            return callback(row) is not False
        except Exception as raised:
            LOG.warning("an output is refused: the callback raised", exc_info=True)
            self.cause = raised
            return False

    @contextmanager
    def _calling(self) -> Iterator[None]:
        self.in_callback = True
        try:
            yield
        finally:
            self.in_callback = False
