"""`sqlwin doctor`: whether this machine has what a run needs, and how to mend what it lacks."""

from __future__ import annotations

import argparse

from sqlwin.running.diagnosis import FAILED, Finding, findings


def run(arguments: argparse.Namespace) -> int:
    """1 where something that every run needs is not there."""
    found = list[Finding]()
    for finding in findings(starts=not arguments.quick):
        print(finding.line(), flush=True)
        found.append(finding)
    return 1 if any(each.state == FAILED for each in found) else 0
