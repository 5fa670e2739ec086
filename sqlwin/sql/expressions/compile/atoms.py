"""Rules of what an expression ends in: columns, parameters of lambdas, literals.

>>> text("it's").sql
"'it''s'"
"""

from __future__ import annotations

from string import hexdigits

from sqlglot import exp

from sqlwin.functions.core.literals import written_number
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import BINARY, BOOLEAN, NULL, STRING
from sqlwin.sql.expressions.compile.compiler import Compiler, Expr, Uncompiled


def column(compiler: Compiler, node: Expr) -> Typed:
    parameter = compiler.named(node.name)
    if parameter is not None and not node.args.get("table"):
        return parameter
    type_ = compiler.columns.get(node.name)
    if type_ is None:
        raise Uncompiled(node, f"there is no column {node.name}")
    return Typed(quoted(node.name), type_)


def parameter(compiler: Compiler, node: Expr) -> Typed:
    found = compiler.named(node.name)
    if found is None:
        raise Uncompiled(node, f"there is no column {node.name}")
    return found


def literal(_: Compiler, node: Expr) -> Typed:
    return text(node.name) if node.is_string else written_number(node.name)


def text(value: str) -> Typed:
    """A literal of this text."""
    plain = value.replace("'", "''")
    if "\0" in plain:
        pieces = [f"'{piece}'" for piece in plain.split("\0")]
        return Typed(f"({' || chr(0) || '.join(pieces)})", STRING, value)
    return Typed(f"'{plain}'", STRING, value)


def var(_: Compiler, node: Expr) -> Typed:
    """A word of the grammar, such as a unit."""
    return text(node.name)


def boolean(_: Compiler, node: Expr) -> Typed:
    return Typed("true" if node.this else "false", BOOLEAN, bool(node.this))


def null(_: Compiler, node: Expr) -> Typed:
    return Typed("CAST(NULL AS INTEGER)", NULL, None)


def hex_string(_: Compiler, node: Expr) -> Typed:
    made = hex_bytes(node)
    if made is None:
        raise Uncompiled(
            node, f"X'{node.name}' has other characters than hexadecimal digits", "X'0A'"
        )
    return Typed(f"unhex('{made.hex()}')", BINARY, made)


def hex_bytes(node: Expr) -> bytes | None:
    """Of X'0A'; None where a digit is none. An odd number of digits has a 0 before it."""
    digits = node.name if len(node.name) % 2 == 0 else "0" + node.name
    return bytes.fromhex(digits) if set(digits) <= set(hexdigits) else None


def negative(compiler: Compiler, node: Expr) -> Typed:
    """A literal with its sign is one: the least BIGINT has no positive."""
    if isinstance(node.this, exp.Literal) and not node.this.is_string:
        return written_number(node.this.name, negative=True)
    return compiler.call(node, "negative", [node.this])


def quoted(name_: str) -> str:
    return '"' + name_.replace('"', '""') + '"'
