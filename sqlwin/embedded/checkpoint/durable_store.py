"""The durable local store of an embedded query: one SQLite file, three tables.

| table      | holds |
|------------|-------|
| `messages` | segments of the message store |
| `windows`  | segments of the window store and of all others |
| `offsets`  | checkpoint metadata with every index, positions, clock, unsent outputs |

They are written in one transaction, so an offset is never ahead of the
messages before it. The message store may be deleted (`DELETE FROM
messages`): a replay fills it again, see `sqlwin.runtime.tasks.recovery`.

>>> store = DurableStore(":memory:")
>>> with store.transaction():
...     store.put("messages-t-0", b"1")
...     store.put("header", b"2")
>>> store.names(), store.table_of("panes-t-0")
(['header', 'messages-t-0'], 'windows')
"""

from __future__ import annotations

from sqlwin.runtime.inputs.admission import MESSAGES
from sqlwin.state.blobs.blobs import SqliteBlobs

TABLES = ("messages", "windows", "offsets")


class DurableStore(SqliteBlobs):
    """`Blobs` in the tables above."""

    tables = TABLES

    def table_of(self, name: str) -> str:
        """Segments are called `store-token-number`; what has no dash is of the host. Those
        of the lower stages of a chain have the stage before it, and a slash.
        """
        store, dash, _ = name.rpartition("/")[2].partition("-")
        if not dash:
            return "offsets"
        return "messages" if store in MESSAGES else "windows"

    def losable(self, name: str) -> bool:
        return self.table_of(name) == "messages"

    def __del__(self) -> None:
        self.close()
