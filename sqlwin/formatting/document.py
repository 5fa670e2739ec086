"""Text with places where a line may end, and its narrowest layout (Wadler, A prettier printer).

A group is on one line where that fits; else each of its own lines ends, and those of the groups
within it only if they must.

>>> items = Nest(["(", SOFT, "a,", LINE, "b"])
>>> print(render(Group(["f", items, SOFT, ")"]), 20))
f(a, b)
>>> print(render(Group(["f", items, SOFT, ")"]), 5))
f(
  a,
  b
)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from sqlwin.lazy_dataclass import dataclass

INDENT = 2


@dataclass(frozen=True)
class Line:
    """flat: what it is in a group that is on one line. hard: it ends in every group."""

    flat: str = " "
    hard: bool = False
    blank: bool = False


@dataclass(frozen=True)
class Nest:
    """Its lines begin further right."""

    inner: Doc


@dataclass(frozen=True)
class Group:
    inner: Doc
    broken: bool = False


Doc = Union[str, Line, Nest, Group, Sequence["Doc"]]  # noqa: UP007 -- it names itself
LINE, SOFT = Line(), Line("")
HARD, BLANK = Line(hard=True), Line(hard=True, blank=True)


def render(doc: Doc, width: int) -> str:
    out, column = list[str](), 0
    stack: list[tuple[int, bool, Doc]] = [(0, False, doc)]
    while stack:
        indent, flat, node = stack.pop()
        if isinstance(node, str):
            out.append(node)
            column = len(node.rpartition("\n")[2]) + (0 if "\n" in node else column)
        elif isinstance(node, Line):
            if flat:
                out.append(node.flat)
                column += len(node.flat)
            else:
                _unpadded(out)
                out += ["\n" * (1 + node.blank), " " * indent]
                column = indent
        elif isinstance(node, Nest):
            stack.append((indent + INDENT, flat, node.inner))
        elif isinstance(node, Group):
            whole = flat or (not node.broken and _fits(node.inner, stack, width - column))
            stack.append((indent, whole, node.inner))
        else:
            stack += [(indent, flat, each) for each in reversed(node)]
    _unpadded(out)
    return "".join(out)


def _unpadded(out: list[str]) -> None:
    """A line has no blanks at its end; those within a token, which may have several lines, stay."""
    while out and not out[-1].strip(" "):
        out.pop()


def _fits(doc: Doc, behind: list[tuple[int, bool, Doc]], room: int) -> bool:
    """Whether a document, on one line, and what stands behind it on that line, have room."""
    todo: list[tuple[bool, Doc]] = [*((flat, each) for _, flat, each in behind), (True, doc)]
    while todo and room >= 0:
        flat, node = todo.pop()
        if isinstance(node, str):
            if "\n" in node:
                return False
            room -= len(node)
        elif isinstance(node, Line):
            if node.hard and flat:
                return False
            if not flat:
                return True
            room -= len(node.flat)
        elif isinstance(node, Nest):
            todo.append((flat, node.inner))
        elif isinstance(node, Group):
            if node.broken and flat:
                return False
            todo.append((flat and not node.broken, node.inner))
        else:
            todo += [(flat, each) for each in reversed(node)]
    return room >= 0
