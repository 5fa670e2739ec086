"""Columns whose values are names of folders, as Hive, Spark and Flink have them.

    rides/day=2024-01-01/zone=north/part-00000001.csv

The names are columns of each row of such a file, and none of the file itself. What a file system or
a reader could take amiss is `%` and its hexadecimal code; NULL has a name of its own.

>>> folder_of([("day", "2024-01-01"), ("zone", "a/b"), ("at", None)])
'day=2024-01-01/zone=a%2Fb/at=__HIVE_DEFAULT_PARTITION__'
>>> values_of("rides/day=2024-01-01/zone=a%2Fb/part-1.csv", ("zone", "day"))
{'zone': 'a/b', 'day': '2024-01-01'}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from urllib.parse import unquote

NULL = "__HIVE_DEFAULT_PARTITION__"
NULLS = (NULL, "__DEFAULT_PARTITION__", "")
"""What stands for NULL: of Hive and Spark, and of Flink; Spark's empty texts, too."""
_UNSAFE = re.compile("[\x00-\x1f\x7f\"#%'*/:=?\\\\{}\\[\\]^]")


def folder_of(values: Iterable[tuple[str, str | None]]) -> str:
    """Of columns and the texts of their values, in the order of the folders."""
    return "/".join(f"{_escaped(name)}={_escaped(text) or NULL}" for name, text in values)


def values_of(path: str, names: Sequence[str]) -> dict[str, str | None]:
    """The texts of the columns in the folders of a file; those that are in none are left out."""
    found: dict[str, str] = {}
    for folder in PurePath(path).parts[:-1]:
        name, sign, text = folder.partition("=")
        if sign:
            found[unquote(name).lower()] = unquote(text)
    texts = ((name, found[name.lower()]) for name in names if name.lower() in found)
    return {name: None if text in NULLS else text for name, text in texts}


def _escaped(text: str | None) -> str:
    return "" if text is None else _UNSAFE.sub(lambda sign: f"%{ord(sign[0]):02X}", text)
