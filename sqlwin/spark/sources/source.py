"""The data source of a whole script, as Spark knows it.

Spark loads this module in several processes that only ask for its name and its
columns. What reads is in `reader`, which is loaded where something is read.
"""

from __future__ import annotations

from dataclasses import dataclass  # the lazy one would be another module to import
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader
from pyspark.sql.types import StructType

FORMAT = "sqlwin"
BATCH_BYTES = 256 << 20
PIECE_BYTES = 32 << 20


@dataclass(frozen=True)
class Settings:
    """Options of the source.

    input: `files`, `steps`, `tick`, or `import` of state. state: folder beside the checkpoint.
    base: of relative paths, or the folder of the steps. end: whether input ends when all is
    read. batch_bytes: of files in a batch. tick: seconds between the ticks of `tick`, which
    knows no deadline.
    """

    program: str
    input: str
    state: str
    base: str
    end: bool = False
    tasks: int = 2
    batch_bytes: int = BATCH_BYTES
    piece_bytes: int = PIECE_BYTES
    tick: float = 10.0

    def options(self) -> dict[str, str]:
        return {name: str(value) for name, value in vars(self).items()}

    @staticmethod
    def load(options: Any) -> Settings:
        """Spark hands options over without the case of their names, as texts."""
        return Settings(
            options["program"],
            options["input"],
            options["state"],
            options["base"],
            options["end"] == "True",
            int(options["tasks"]),
            int(options["batch_bytes"]),
            int(options["piece_bytes"]),
            float(options["tick"]),
        )


class ScriptSource(DataSource):
    """Registered as `sqlwin`; options are those of `Settings`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        from sqlwin.spark.stages.row_kinds import COLUMNS

        return COLUMNS

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        from sqlwin.spark.sources.reader import ScriptReader

        return ScriptReader(Settings.load(self.options))
