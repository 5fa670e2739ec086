"""What was inferred of a file, as the CREATE STREAM that would read it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

from sqlwin.lazy_dataclass import dataclass

_WORDS = frozenset(
    [
        "SELECT",
        "FROM",
        "WHERE",
        "GROUP",
        "ORDER",
        "WATERMARK",
        "OFFSET",
        "PRIMARY",
        "TABLE",
        "STREAM",
        "IF",
        "OVER",
    ]
)


@dataclass(frozen=True)
class Inferred:
    """columns: SQL's type by name. time: the column of event time, if one has instants.

    behind: by how many microseconds rows of the sample come behind later ones. computed: an
    expression that gives the event time, where no column is one. odd: of a text whose values are
    mostly of another type, that type and how many values are not.
    """

    path: str
    format: str
    columns: Mapping[str, str]
    time: str | None = None
    behind: int = 0
    delimiter: str = ","
    computed: str = ""
    odd: Mapping[str, tuple[str, int]] = field(default_factory=dict)

    def ddl(self, name: str) -> str:
        """CREATE STREAM, as a script has it."""
        lines = [f"{quoted(column)} {type_}" for column, type_ in self.columns.items()]
        if self.time is not None:
            at = quoted(self.time)
            lines += [f"{at} AS {self.computed}"] if self.computed else []
            seconds = -(-self.behind // 1_000_000)
            delay = f" - INTERVAL '{seconds}' SECOND" if seconds else ""
            lines.append(f"WATERMARK FOR {at} AS {at}{delay}")
        options = {"connector": "files", "path": self.path, "format": self.format}
        if self.delimiter != ",":
            options["delimiter"] = self.delimiter
        given = ", ".join(f"{key} = {literal(value)}" for key, value in options.items())
        return f"CREATE STREAM {quoted(name)} (\n  " + ",\n  ".join(lines) + f"\n) WITH ({given});"

    def notes(self) -> list[str]:
        """What to look at."""
        return [
            f"{quoted(column)} is STRING for {many} odd value{'s' * (many > 1)}; declared {type_}, "
            f"such rows go to the error stream"
            for column, (type_, many) in self.odd.items()
        ]


def quoted(name: str) -> str:
    """In backquotes where bare it might be read as something else."""
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None
    return name if plain and name.upper() not in _WORDS else "`" + name.replace("`", "``") + "`"


def literal(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("\t", "\\t").replace("'", "''") + "'"
