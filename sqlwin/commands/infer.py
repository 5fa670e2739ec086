"""`sqlwin infer`: the CREATE STREAM that reads a file."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from sqlwin.inference import infer


def run(arguments: argparse.Namespace) -> int:
    name = arguments.name or re.sub(r"\W+", "_", Path(arguments.file).stem).strip("_")
    print(infer(arguments.file).ddl(name or "rows"))
    return 0
