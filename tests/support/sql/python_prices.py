"""Functions that texts of tests import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sqlwin.python_functions.declared import udf, udtf


def net(gross: float, rate: float) -> float | None:
    return None if gross is None else gross / (1 + rate)


@udf(types=["DOUBLE"], result="DOUBLE")
def decorated(x: Any) -> Any:
    return x * 2


def letters(text: pa.Array) -> pa.Array:
    return pc.utf8_length(text)


def bare(x, y):  # type: ignore[no-untyped-def]
    return x


@udtf(result="STRUCT<word: STRING, size: INT>")
def words(text: str) -> Iterator[tuple[str, int]]:
    yield from ((word, len(word)) for word in text.split())
