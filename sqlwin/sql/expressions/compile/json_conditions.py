"""Rules of JSON_VALUE and JSON_EXISTS with what they say of nothing and errors, and of IS JSON.

JSON_VALUE without DEFAULT is one call; with DEFAULT another one says whether a value is there. A
value that is none of the type it is to be is an error, too.
"""

from __future__ import annotations

from typing import Any

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import STRING, is_interval, is_nested
from sqlwin.schema import type_of
from sqlwin.sql.expressions.compile.atoms import text
from sqlwin.sql.expressions.compile.compiler import Compiler, Expr, Uncompiled


def is_json(compiler: Compiler, node: Expr, subject: Typed) -> Typed:
    said: Any = node.expression
    if said.args.get("unique") or said.args.get("with_") is not None:
        raise Uncompiled(node, "IS JSON does not look for keys that come twice", "x IS JSON OBJECT")
    return compiler.call(node, "is json", [subject, text(said.name or "VALUE")])


def exists(compiler: Compiler, node: Expr) -> Typed:
    given = [node.this, node.args["path"]]
    said = _said(node, "error")
    if said is None:
        return compiler.call(node, "json_exists", given)
    return compiler.call(node, "json exists", [*given, text(said.partition(" ON ")[0])])


def value(compiler: Compiler, node: Expr) -> Typed:
    given = [node.this, node.args["path"]]
    of = {over: _said(node, over) for over in ("empty", "error")}
    raising = {
        over: isinstance(said, str) and said.startswith("ERROR") for over, said in of.items()
    }
    if any(raising.values()):
        words = [text("ERROR" if raising[over] else "NULL") for over in ("empty", "error")]
        found = compiler.call(node, "json value", [*given, *words])
    else:
        found = compiler.call(node, "json_value", given)
    to = _returned(node)
    made = cast(found, to, safe=not raising["error"])
    defaults = {over: said for over, said in of.items() if isinstance(said, Expr)}
    if not defaults:
        return made
    outcome = compiler.call(node, "json outcome", given)
    with compiler.constants.perhaps():
        instead = {over: cast(compiler.typed(said), to) for over, said in defaults.items()}
    return _chosen(outcome, found, made, instead)


def _said(node: Expr, over: str) -> Any:
    on = node.args.get("on_condition")
    return None if on is None else on.args.get(over)


def _returned(node: Expr) -> Any:
    type_ = node.args.get("returning")
    if type_ is None:
        return STRING
    kind = type_.sql("spark")
    to = type_of(kind)
    if to is None or is_nested(to) or is_interval(to):
        legal = "RETURNING BIGINT; FROM_JSON(JSON_QUERY(value, '$.tags'), 'ARRAY<STRING>')"
        raise Uncompiled(node, f"JSON_VALUE returns a scalar, no {kind}", legal)
    return to


def _chosen(outcome: Typed, found: Typed, made: Typed, instead: dict[str, Typed]) -> Typed:
    from sqlwin.functions.json.looked_up import EMPTY, ERROR  # by need, as what imports this

    whens = []
    if "empty" in instead:
        whens.append(f"WHEN {outcome.sql} = {EMPTY} THEN {instead['empty'].sql}")
    if "error" in instead:
        unread = f" OR ({found.sql} IS NOT NULL AND {made.sql} IS NULL)"
        unread = "" if made.type == STRING else unread
        whens.append(f"WHEN {outcome.sql} = {ERROR}{unread} THEN {instead['error'].sql}")
    fails = any(part.fails for part in (outcome, made, *instead.values()))
    return Typed(f"CASE {' '.join(whens)} ELSE {made.sql} END", made.type, fails=fails)
