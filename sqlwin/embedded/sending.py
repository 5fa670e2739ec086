"""Automatic use: outputs go to a callback, in order, until one is refused.

A callback refuses an output by returning False, or by raising: that one and those
after it wait, and the query takes no input until `timeout` has sent them (SAMZA-552,
"Automatic addMessage", 7.1). The callback may look at its query, not move it.

Invariant: what the board calls fresh was not taken by the callback, but for the one
it is asked about now.

>>> import polars as pl
>>> board = Board(pl.DataFrame(schema={"n": pl.Int64}))
>>> board.add(pl.DataFrame({"n": [1, 2, 3]}))
>>> sending = Sending(board, lambda output: output["n"] < 2)
>>> sending.send(), sending.waiting
(1, 2)
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlwin.embedded.board import Board
from sqlwin.errors import InputDisabled, InputError

LOG = logging.getLogger("sqlwin")
Callback = Callable[[dict[str, Any]], Any]
"""Takes one output; False refuses it."""


@dataclass
class Sending:
    """refused: whether input is disabled; because: what the callback raised, if it did."""

    board: Board
    callback: Callback | None = None
    refused: bool = False
    because: Exception | None = None
    busy: bool = False

    @property
    def waiting(self) -> int:
        return len(self.board.fresh())

    def send(self) -> int:
        """From where it stopped; how many were taken."""
        if self.callback is None:
            return 0
        rows, sent = self.board.fresh(), 0
        self.refused, self.because = True, None
        try:
            with self._calling():
                for row in rows.iter_rows(named=True):
                    if not self._taken(self.callback, row):
                        break
                    sent += 1
        finally:
            self.board.drop(sent)
            self.refused = sent < len(rows)
        return sent

    def check_enabled(self) -> None:
        """Log a warning and raise InputDisabled, if an output was refused."""
        if not self.refused:
            return
        message = f"an output was refused and {self.waiting} wait: input is disabled until "
        LOG.warning("%stimeout()", message)
        raise InputDisabled(message + "timeout() has sent them") from self.because

    def check_outside(self, call: str) -> None:
        """InputError within the callback."""
        if self.busy:
            raise InputError(f"{call} is called within the callback of on_output; return first")

    def _taken(self, callback: Callback, row: dict[str, Any]) -> bool:
        try:
            return callback(row) is not False
        except Exception as raised:
            LOG.warning("an output is refused: the callback raised", exc_info=True)
            self.because = raised
            return False

    @contextmanager
    def _calling(self) -> Iterator[None]:
        self.busy = True
        try:
            yield
        finally:
            self.busy = False
