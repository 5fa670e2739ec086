"""A table of each kind of lake, and what is in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sqlwin.runtime.lakes.lake_sink import LakeAppends, LakeUpserts
from sqlwin.runtime.lakes.open import lake_sink

KINDS = ("delta", "iceberg")


@dataclass
class LakeTable:
    kind: str
    base: Path
    options: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        iceberg = {"uri": f"sqlite:///{self.base}/catalog.db", "warehouse": f"file://{self.base}"}
        of = {"delta": {"path": "t"}, "iceberg": {**iceberg, "table": "shop.t"}}
        self.options = {**of[self.kind], "create": "true"}

    def sink(
        self, writer: int = 1, appends: bool = False, **options: str
    ) -> LakeAppends | LakeUpserts:
        given = {"connector": self.kind, **self.options, **options}
        return lake_sink("s", given, self.base, writer, appends)

    def lake(self) -> Any:
        return self.sink().target.lake

    def rows(self) -> pl.DataFrame:
        """As another reader sees them."""
        table = self.lake().opened().table
        found = table.to_pyarrow_table() if self.kind == "delta" else table.scan().to_arrow()
        frame = pl.from_arrow(found)
        assert isinstance(frame, pl.DataFrame)
        return frame

    def found(self) -> dict[str, int]:
        return dict(self.rows().select("k", "n").iter_rows())


@pytest.fixture(params=KINDS)
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> LakeTable:
    pytest.importorskip({"delta": "deltalake", "iceberg": "pyiceberg"}[request.param])
    return LakeTable(request.param, tmp_path)
