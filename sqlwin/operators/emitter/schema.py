"""The columns of emission, named once: of records, of what a batch touches, of what goes out.

A record of `ResultLedger` is the identity of a result and

    __revision   of the last emission, -1 where there was none
    __stands     the last emission was not retracted
    __due        processing time of the next emission, NULL where no clock brings one
    __pending    rows that were not emitted yet
    __forced     an end of input or a TIMEOUT emitted it full
    __old.*      the values last emitted, of the columns that may change

>>> list(RECORD)
['__revision', '__stands', '__due', '__pending', '__forced']
"""

from __future__ import annotations

import polars as pl

from sqlwin.schema import REVISION

STORE = "revisions"

STANDS, DUE, PENDING, FORCED = "__stands", "__due", "__pending", "__forced"
OLD = "__old."
"""Before the name of a column: its value as last emitted."""

RECORD: dict[str, pl.DataType] = {
    REVISION: pl.Int32(),
    STANDS: pl.Boolean(),
    DUE: pl.Int64(),
    PENDING: pl.Int64(),
    FORCED: pl.Boolean(),
}

ADDED = "__added"
"""How many rows came into a result; all that were retracted from it count as one."""
FINAL = "__final"
"""The watermark is past a result, as of before the batch that touches it."""
EXISTS = "__exists"
"""The result holds a row."""
WORD = "__word"
"""What an emission of a result is called: `early`, `full` or `late`."""

SIGN = "__sign"
"""Of a change of a join: 1 where a result becomes true, -1 where it no longer is."""
