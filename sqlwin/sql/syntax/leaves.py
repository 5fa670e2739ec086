"""Leaves of the tree: tokens and rules to names and spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from lark import Token
from lark.tree import Meta

from sqlwin.errors import Span
from sqlwin.sql.text import ast, prepared

Children = Sequence[Any]
T = TypeVar("T")


def named(token: Token) -> ast.Name:
    return ast.Name(prepared.unquoted(str(token)), token_span(token))


def token_span(token: Token) -> Span:
    return Span(token.line or 1, token.column or 1, max(1, len(str(token).split("\n")[0])))


def meta_span(meta: Meta) -> Span:
    """Of a whole rule, where it stands on one line; else of its beginning."""
    same_line = meta.line == meta.end_line
    return Span(meta.line, meta.column, meta.end_column - meta.column if same_line else 1)


def word(meta: Meta, what: str) -> Span:
    """Of the keyword that a rule begins with."""
    return Span(meta.line, meta.column, len(what.split(" ")[0]))


def found(children: Children, kind: type[T]) -> T | None:
    return next((child for child in children if isinstance(child, kind)), None)


def key_of(token: Token) -> str:
    """A keyword of several words, in capitals and with single blanks."""
    return " ".join(str(token).upper().split())


def existing_of(children: Children) -> ast.Existing:
    """What IF NOT EXISTS and OR REPLACE say of a name that is taken."""
    given = [child for child in children if isinstance(child, ast.Existing)]
    return given[0] if given else ast.Existing.REFUSED


def called(select: ast.Select, names: Sequence[tuple[ast.Name, ...]]) -> ast.Select:
    """With the names that a list before it gives its columns, if there is one."""
    return replace(select, called=names[0]) if names else select
