"""`sqlwin infer`: the CREATE STREAM that reads a file."""

from __future__ import annotations

import argparse
import sys

from sqlwin.inference.event_time import with_time
from sqlwin.inference.infer import infer
from sqlwin.sql.sources.files import name_of


def run(arguments: argparse.Namespace) -> int:
    found = with_time(infer(arguments.file))
    print(found.ddl(arguments.name or name_of(arguments.file)))
    for note in found.notes():
        print(f"note: {note}", file=sys.stderr)
    return 0
