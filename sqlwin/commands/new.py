"""`sqlwin new`: a first project, with a query, its data and a test that passes."""

from __future__ import annotations

import argparse
from importlib.resources import files
from pathlib import Path

from sqlwin.errors import InputError

FILES = ("fares.sql", "rides.csv", "fares.golden")


def run(arguments: argparse.Namespace) -> int:
    folder: Path = arguments.folder
    there = [name for name in FILES if (folder / name).exists()]
    if there:
        raise InputError(f"{folder / there[0]} is there already: name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    given = files("sqlwin.project")
    for name in FILES:
        (folder / name).write_bytes((given / name).read_bytes())
    print(f"written: {', '.join(str(folder / name) for name in FILES)}\n\nnow")
    for command in (
        *([] if folder == Path() else [f"cd {folder}"]),
        "sqlwin run fares.sql --engine embedded",
        "sqlwin test",
        "sqlwin shell -c \"SELECT zone, fare FROM 'rides.csv' ORDER BY fare DESC LIMIT 3\"",
    ):
        print(f"  {command}")
    return 0
