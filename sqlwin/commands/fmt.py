"""`sqlwin fmt`: scripts laid out alike."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sqlwin.commands.scripts import text_of
from sqlwin.formatting.formatted import formatted


def run(arguments: argparse.Namespace) -> int:
    """1 where `--check` finds a file that would change."""
    changed = 0
    for file in arguments.files:
        text = text_of(file)
        made = formatted(text)
        if str(file) == "-" and not arguments.check:
            sys.stdout.write(made)
        elif made != text:
            changed += 1
            _take(file, made, arguments.check)
    return 1 if arguments.check and changed else 0


def _take(file: Path, made: str, check: bool) -> None:
    if not check:
        file.write_text(made, encoding="utf-8")
    print(f"{'would change' if check else 'written'}: {file}")
