"""The words of the reference: a row is a mapping of column names to Python values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
Rows = Sequence[Row]
Values = list[Any]
