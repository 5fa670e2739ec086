"""A golden against what a host gave: what differs, and the golden as it would be written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest

from sqlwin.testing.cells import Table, read, write
from sqlwin.testing.difference import difference, once
from sqlwin.testing.golden import CHECKS, STEPS, Block, Golden, Step
from sqlwin.testing.outcome import Outcome, StepResult

CHANGE = ("op", "emit", "revision")
HIDDEN = (*CHANGE, "row_key")


def differences(golden: Golden, found: Outcome) -> list[str]:
    """Everything that is not as the golden says; none where all is."""
    if found.mistake is not None:
        return [found.mistake]
    whole = [
        f"{kind}, expected:\n{expected}\nfound:\n{text}"
        for kind, text in (("refused", found.refused), ("explain", found.explain))
        if (expected := golden.whole(kind)) is not None and expected != (text or "").strip("\n")
    ]
    if found.refused is not None and golden.whole("refused") is None:
        return [f"refused, and should not be:\n{found.refused}"]
    steps = golden.steps()
    if len(found.steps) < len(steps) and found.refused is None and not _fails(found):
        return [*whole, f"{len(steps)} steps, of which the host took {len(found.steps)}"]
    pairs = zip(steps, found.steps, strict=False)
    return once([*whole, *(text for step, result in pairs for text in _step(golden, step, result))])


def _fails(found: Outcome) -> bool:
    return bool(found.steps) and found.steps[-1].failed is not None


def _step(golden: Golden, step: Step, found: StepResult) -> Iterator[str]:
    where = f"after {step.where}"
    fails = step.check("fails")
    if (fails.body if fails else None) != found.failed:
        expected = fails.body if fails else "no failure"
        yield f"{where}: expected: {expected}\nfound: {found.failed or 'no failure'}"
    elif fails is None:
        if step.check("expect") is None and not golden.tables_only:
            yield f"{where}: no expect block"
        for kind, found_table in _tables(golden, found).items():
            block = step.check(kind)
            if block is not None or kind not in ("table", "windows"):
                rows = read(block.lines if block else ())
                different = difference(rows, _asked(kind, rows, found_table), golden.within)
                named = f"{kind}, line {block.line}" if block else kind
                yield from [f"{where}\n{named}:\n{different}"] if different else []


def _asked(kind: str, rows: Table, found: Table) -> Table:
    """Of errors the columns that the golden has: a reason is enough."""
    fewer = kind == "errors" and rows.columns and {*rows.columns} <= {*found.columns}
    return found.only(rows.columns) if fewer else found


def _tables(golden: Golden, found: StepResult) -> dict[str, Table]:
    """Each table with the columns that the golden shows."""
    emitted = {"expect": _shown(found.emitted, (*CHANGE, *golden.shown))}
    return {
        **({} if golden.tables_only else emitted),
        "errors": found.errors,
        "table": _shown(found.table, golden.shown),
        **({} if found.windows is None else {"windows": _shown(found.windows, ("revision",))}),
    }


def _shown(table: Table, first: tuple[str, ...]) -> Table:
    own = [column for column in table.columns if column not in HIDDEN]
    return table.only([*first, *own]) if table.columns else table


def unwritten(golden: Golden, found: Outcome) -> str | None:
    """Why a golden stays as it is: one that has steps and is refused has a mistake, in one of the
    two; None where it does not."""
    if found.mistake is not None:
        return found.mistake
    return found.refused if golden.steps() else None


def rewritten(golden: Golden, found: Outcome) -> Golden:
    """The golden with what was found in its expected blocks; all else as it was."""
    if unwritten(golden, found) is not None:
        return golden
    texts = {"explain": found.explain, "refused": found.refused or ""}
    blocks: list[Block] = []
    steps = iter(zip_longest(golden.steps(), found.steps))
    for block in golden.blocks:
        if block.kind in texts:
            blocks.append(replace(block, lines=tuple(texts[block.kind].split("\n"))))
        elif block.kind in STEPS:
            blocks += [block, *_written(golden, *next(steps))]
        elif block.kind not in CHECKS:
            blocks.append(block)
    if found.refused is not None and golden.whole("refused") is None:
        blocks.append(Block("refused", "", tuple(found.refused.split("\n"))))
    return replace(golden, blocks=tuple(blocks))


def _written(golden: Golden, step: Step, found: StepResult | None) -> list[Block]:
    if found is None:
        return []
    if found.failed is not None:
        return [Block("fails", "", tuple(found.failed.split("\n")))]
    tables = _tables(golden, found)
    errors = step.check("errors")
    tables["errors"] = _asked("errors", read(errors.lines if errors else ()), found.errors)
    lines = {kind: tuple(write(shown)) for kind, shown in tables.items()}
    kept = {"expect": True, "errors": bool(lines["errors"]), "table": step.check("table")}
    written = [Block(kind, "", lines[kind]) for kind in lines if kept.get(kind)]
    claim = step.check("windows")
    if claim is None:
        return written
    return [*written, replace(claim, lines=lines.get("windows", claim.lines))]
