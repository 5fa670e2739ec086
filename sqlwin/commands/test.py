"""`sqlwin test`: goldens of queries."""

from __future__ import annotations

import argparse

from sqlwin.commands import scripts
from sqlwin.testing.command import test


def run(arguments: argparse.Namespace) -> int:
    return test(arguments, print, scripts.params(arguments.param))
