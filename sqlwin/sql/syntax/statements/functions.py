"""The rules of CREATE FUNCTION and DROP FUNCTION: of an expression, or of Python.

What stands behind a CREATE may call it; what stood before it means what it meant. A function of
Python is imported here, since its types may be those of its annotations.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pyarrow as pa
from lark import Token, Transformer
from lark.tree import Meta
from lark.visitors import v_args

from sqlwin.errors import InputError, QueryError
from sqlwin.python_functions.function import UserFunction
from sqlwin.schema import type_of
from sqlwin.sql.syntax.clauses import Clause
from sqlwin.sql.syntax.leaves import Children, existing_of, meta_span, named
from sqlwin.sql.text import ast, prepared

_EXTERNAL = re.compile(
    r"(?P<path>'[^']*'|\"[^\"]*\")\s*(?:LANGUAGE\s+(?P<language>\w+)\s*(?P<rest>.*))?", re.I | re.S
)
LEGAL = "CREATE FUNCTION f AS 'module.function' LANGUAGE PYTHON, or CREATE FUNCTION f(x) RETURN x"
Parameters = tuple[tuple[ast.Name, ast.Run | None], ...]


@v_args(meta=True)
class FunctionRules(Transformer[Token, Any]):
    """macros: by name in lower case, those so far. functions: of Python, those so far. imports:
    names in lower case of those that the text has made."""

    source: str
    macros: dict[str, ast.Macro]
    functions: tuple[UserFunction, ...]
    imports: frozenset[str] = frozenset()

    def create_function(
        self, meta: Meta, children: Children
    ) -> ast.CreateFunction | ast.CreatePython | None:
        name = named(next(c for c in children if isinstance(c, Token) and c.type == "NAME"))
        clauses = {c.word: c.value for c in children if isinstance(c, Clause)}
        if self._is_kept(name, existing_of(children)):
            return None
        body: ast.Run = children[-1]
        external = _EXTERNAL.fullmatch(body.original)
        by_text = external and (external["language"] or "PARAMETERS" not in clauses)
        if external is None or not (by_text or "LANGUAGE" in clauses):
            return replace(self._macro(name, clauses, body), written=self.written(meta))
        language = clauses.get("LANGUAGE") or external["language"] or "JAVA"
        if language.upper() != "PYTHON" or external["rest"]:
            message = f"a function in another language is one of Python, not {language.upper()}"
            message = message if language.upper() != "PYTHON" else f"{external['rest']}: not here"
            raise QueryError(message, body.span, legal=LEGAL)
        made = self._python(name, clauses, body, prepared.unquoted(external["path"]))
        return replace(made, written=self.written(meta))

    def _macro(self, name: ast.Name, clauses: dict[str, Any], body: ast.Run) -> ast.CreateFunction:
        if "PARAMETERS" not in clauses or "LANGUAGE" in clauses:
            raise QueryError(f"{name.text} is no expression of parameters", name.span, legal=LEGAL)
        made = ast.Macro(name, clauses["PARAMETERS"], clauses.get("RETURNS"), body)
        self._forget(name)
        self.macros[name.text.lower()] = made
        return ast.CreateFunction(made)

    def written(self, meta: Meta) -> str:
        """The statement as it stands in the text."""
        return self.source[meta.start_pos : meta.end_pos]

    def _python(
        self, name: ast.Name, clauses: dict[str, Any], body: ast.Run, path: str
    ) -> ast.CreatePython:
        from sqlwin.python_functions.declared import imported  # by need
        from sqlwin.python_modules import importable

        importable(path, body.span)
        parameters: Parameters = clauses.get("PARAMETERS", ())
        types = [_type(kind or ast.Run(of.text, of.text, of.span)) for of, kind in parameters]
        returns = clauses.get("RETURNS")
        result = None if returns is None else _type(returns)
        try:
            made = imported(path, name.text, types or None, result)
        except InputError as problem:
            raise QueryError(str(problem), body.span) from None
        self._forget(name)
        self.functions = (*self.functions, made)
        self.imports |= {name.text.lower()}
        return ast.CreatePython(name, made)

    def _is_kept(self, name: ast.Name, existing: ast.Existing) -> bool:
        """Whether the function that is there stays. QueryError where nothing says what is to be."""
        key = name.text.lower()
        known = key in self.macros or key in self.imports
        if not known and any(each.name.lower() == key for each in self.functions):
            raise QueryError(f"{name.text} is a function already", name.span, legal="another name")
        if known and existing is ast.Existing.REFUSED:
            legal = "another name, or CREATE OR REPLACE FUNCTION"
            raise QueryError(f"the function {name.text} exists already", name.span, legal=legal)
        return known and existing is ast.Existing.KEPT

    def _forget(self, name: ast.Name) -> bool:
        """Whether the text had made a function of that name."""
        key = name.text.lower()
        known = self.macros.pop(key, None) is not None or key in self.imports
        if key in self.imports:
            self.functions = tuple(f for f in self.functions if f.name.lower() != key)
            self.imports -= {key}
        return known

    def parameters(self, meta: Meta, children: Children) -> Clause:
        return Clause("PARAMETERS", tuple(children), meta_span(meta))

    def parameter(self, meta: Meta, children: Children) -> tuple[ast.Name, ast.Run | None]:
        name, *types = children
        return named(name), types[0] if types else None

    def type(self, meta: Meta, children: Children) -> ast.Run:
        written = self.source[meta.start_pos : meta.end_pos]
        return ast.Run(written, written, meta_span(meta))

    def returns(self, meta: Meta, children: Children) -> Clause:
        return Clause("RETURNS", children[0], meta_span(meta))

    def language(self, meta: Meta, children: Children) -> Clause:
        return Clause("LANGUAGE", str(children[-1]), meta_span(meta))

    def drop_function(self, meta: Meta, children: Children) -> ast.DropFunction:
        name = named(children[-1])
        if not self._forget(name) and True not in children:
            message = f"no function is called {name.text} that this text has made"
            raise QueryError(message, name.span, legal="DROP FUNCTION IF EXISTS")
        return ast.DropFunction(name)


def _type(written: ast.Run) -> pa.DataType:
    found = type_of(written.original)
    if found is None:
        message = f"{written.original} is not a type"
        raise QueryError(message, written.span, legal="x BIGINT, x DOUBLE, x STRING, …")
    return found
