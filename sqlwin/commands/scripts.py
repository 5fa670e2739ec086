"""The script that a command is given, and its parameters."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from sqlwin.errors import InputError
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.ir.statements import Script
from sqlwin.sql import script


def script_of(arguments: argparse.Namespace) -> Script:
    parsed = script(
        text_of(arguments.file),
        params=params(arguments.param),
        infer=_infer(base(arguments)),
    )
    if not parsed.statements and arguments.command != "check":
        raise InputError(f"{arguments.file} asks for nothing: it has no SELECT and no INSERT INTO")
    return parsed


def _infer(base: Path) -> Callable[[str, str], Stream]:
    """As `inferred_from`, which is imported when a script names a file."""

    def stream(path: str, name: str) -> Stream:
        from sqlwin.inference.declared import inferred_from

        return inferred_from(base)(path, name)

    return stream


def text_of(file: Path) -> str:
    try:
        if str(file) == "-":
            return "".join(piped())
        return file.read_text(encoding="utf-8-sig")  # some editors begin with a mark
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text, at byte {error.start}") from None


def piped() -> Iterator[str]:
    """Lines of the standard input, as they come: UTF-8, whatever the locale says."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="strict")
    try:
        yield from sys.stdin
    except UnicodeDecodeError:
        raise InputError("what is piped in is not UTF-8 text") from None


def params(given: list[str]) -> dict[str, str]:
    for pair in given:
        if "=" not in pair:
            raise InputError(f"--param {pair!r} is not name=value")
    return dict(pair.split("=", 1) for pair in given)


def base(arguments: argparse.Namespace) -> Path:
    """What paths of the script are relative to."""
    return Path() if str(arguments.file) == "-" else arguments.file.parent
