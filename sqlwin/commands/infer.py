"""`sqlwin infer`: the CREATE STREAM that reads a file."""

from __future__ import annotations

import argparse

from sqlwin.inference import infer
from sqlwin.sql.sources.files import name_of


def run(arguments: argparse.Namespace) -> int:
    print(infer(arguments.file).ddl(arguments.name or name_of(arguments.file)))
    return 0
