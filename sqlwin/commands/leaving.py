"""What a run that was interrupted leaves behind."""

from __future__ import annotations

import argparse


def left(arguments: argparse.Namespace) -> str:
    """What a run that was interrupted leaves, and how to go on."""
    if arguments.command != "run":
        return ""
    if arguments.checkpoint is None:
        return ": nothing is kept; with --checkpoint DIR a run can go on where it was"
    return f": state is kept in {arguments.checkpoint}; the same command goes on from there"
