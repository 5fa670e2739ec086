"""Functions whose value the arguments do not decide, by what decides it.

| class           | such as                        | what becomes of it                          |
|-----------------|--------------------------------|---------------------------------------------|
| processing time | `NOW()`, `CURRENT_DATE`        | the batch's, where a query keeps no state    |
| chance          | `RAND()`, `UUID()`             | refused: a batch that is run again differs  |
| session         | `CURRENT_USER()`, `VERSION()`  | refused: another host differs               |

The class is a property of the entry in the table of functions (`Overload.volatile`), or of the
reason for which there is none (`never.CLASSES`).

The time itself is a column that the front of an input adds to the rows of a batch, so an
expression that reads it is computed as any other, from its columns alone.

>>> Volatility.CHANCE.value
'chance'
"""

from __future__ import annotations

from enum import Enum

NOW = "__now"
"""The column: a TIMESTAMP, the same in all rows of a batch."""


class Volatility(Enum):
    PROCESSING_TIME = "processing time"
    CHANCE = "chance"
    SESSION = "session"
