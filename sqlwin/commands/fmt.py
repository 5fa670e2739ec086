"""`sqlwin fmt`: scripts laid out alike."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sqlwin.commands.scripts import text_of
from sqlwin.errors import InputError, SqlwinError
from sqlwin.formatting.formatted import formatted

UNREADABLE = 2


def run(arguments: argparse.Namespace) -> int:
    """2 where a file cannot be laid out, when all others are; 1 where `--check` finds one that
    would change."""
    done = [_laid_out(file, arguments.check) for file in arguments.files]
    return max(done, default=0)


def _laid_out(file: Path, check: bool) -> int:
    try:
        text = text_of(file)
        made = formatted(text)
    except SqlwinError as error:
        of = "" if isinstance(error, InputError) else f"{file}: "  # else it has the name
        print(f"error: {of}{error}", file=sys.stderr)
        return UNREADABLE
    if str(file) == "-" and not check:
        sys.stdout.write(made)
    elif made != text:
        _take(file, made, check)
        return int(check)
    return 0


def _take(file: Path, made: str, check: bool) -> None:
    if not check:
        file.write_text(made, encoding="utf-8")
    print(f"{'would change' if check else 'written'}: {file}")
