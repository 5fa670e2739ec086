"""Constants that raise: Spark computes them before there is a row, so every row has the error.

A part without columns counts, the largest one of its kind, and only where nothing decides whether
it is computed: nothing within CASE, IF, COALESCE and the like, and nothing beside a constant of AND
or OR. So `greatest(n, CAST(NULL AS INT) + l * CAST('x' AS INT))` has the
error of the CAST even where `l` is NULL.

>>> found = Constants()
>>> found.keep(found.mark(), exp.Null(), Typed("1 // 0", pa.int32(), fails=True))
>>> found.first_failure(Typed("n + (1 // 0)", pa.int32())).sql
"CAST(error('[DIVIDE_BY_ZERO] Division by zero.') AS INTEGER)"
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

import pyarrow as pa  # noqa: F401  of the example
from sqlglot import exp

from sqlwin.functions.core.literals import literal
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import STRING, engine_name
from sqlwin.functions.core.volatility import NOW
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.expressions.engine import failure

_CHOOSING = (
    *("coalesce", "ifnull", "nvl", "nvl2", "if", "decode"),
    *("nullif", "nullifzero", "zeroifnull"),
)
"""Functions that are CASE by another name."""
_TRIED = ("try_add", "try_subtract", "try_multiply", "try_divide", "try_mod")
"""Of these the arguments raise, as of no other function that is tried."""
_OF_ROWS = ("raise_error", "assert_true")
"""They are computed for rows alone."""
_FOLDED = (exp.Case, exp.If, exp.Nullif, exp.Coalesce)
"""What is NULL by these, or by TRY_CAST, is so only when all constants are computed."""
Mark = tuple[int, int]


@dataclass
class Constants:
    """columns: how many were met. decided: within how many parts that may not be computed."""

    columns: int = 0
    decided: int = 0
    parts: list[Typed] = field(default_factory=list)

    def mark(self) -> Mark:
        return self.columns, len(self.parts)

    def keep(self, mark: Mark, node: exp.Expr, made: Typed) -> None:
        """made: of the node, whose compilation began at the mark."""
        columns, parts = mark
        if isinstance(node, exp.Column | exp.Identifier) or NOW in made.sql:
            self.columns += 1
        elif self.columns == columns:
            del self.parts[parts:]
            if made.fails and not self.decided:
                self.parts.append(made)
        elif made.value is None and not _is_folded(node):
            del self.parts[parts:]  # a NULL as it stands decides before constants are computed

    @contextmanager
    def perhaps(self, decided: bool = True) -> Iterator[None]:
        """What is compiled within is computed for some rows, if it is decided elsewhere."""
        self.decided += decided
        try:
            yield
        finally:
            self.decided -= decided

    @contextmanager
    def argument(self, function: str) -> Iterator[None]:
        self.columns += function in _OF_ROWS
        tried = function.startswith("try_") and function not in _TRIED
        with self.perhaps(tried or function in _CHOOSING):
            yield

    def first_failure(self, whole: Typed) -> Typed:
        """The whole, or what raises the error of one of its constants."""
        for part in self.parts:
            message = "" if part is whole else failure(part.sql, ())
            if message.startswith("["):
                message_sql = literal(message, STRING).sql
                return Typed(
                    f"CAST(error({message_sql}) AS {engine_name(whole.type)})",
                    whole.type,
                    fails=True,
                )
        return whole


def _is_folded(node: exp.Expr) -> bool:
    tried = any(cast.args.get("safe") for cast in node.find_all(exp.TryCast))
    return tried or node.find(*_FOLDED) is not None
