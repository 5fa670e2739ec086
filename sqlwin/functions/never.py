"""Functions of Spark that the table will not have, and why."""

from __future__ import annotations

NEVER: dict[str, str] = {}
