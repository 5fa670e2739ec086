"""The blobs of a bucket, in a MapState of Spark."""

from __future__ import annotations

from pyspark.sql.streaming.stateful_processor import (
    MapState,
)

from sqlwin.errors import StateError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.state.blobs.seal import sealed, unsealed
from sqlwin.state.blobs.sqlite_file import TO_DO


@dataclass(frozen=True)
class StateBlobs:
    """`Blobs` over a MapState of (name) to (data), each sealed."""

    state: MapState

    def get(self, name: str) -> bytes:
        found = self.state.getValue((name,))
        if found is None:
            raise KeyError(name)
        try:
            return unsealed(name, bytes(found[0]))
        except StateError as error:
            raise StateError(f"the state in spark/state: {error}; {TO_DO}") from error

    def put(self, name: str, data: bytes) -> None:
        self.state.updateValue((name,), (sealed(name, data),))

    def delete(self, name: str) -> None:
        self.state.removeKey((name,))

    def names(self) -> list[str]:
        return sorted(name for (name,) in self.state.keys())  # noqa: SIM118
