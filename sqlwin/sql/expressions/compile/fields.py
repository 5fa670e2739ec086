"""Rules of what is taken out of a value: fields of structs, elements of arrays and maps.

The field of an array of structs is the array of their fields: `orders.price`.
"""

from __future__ import annotations

import pyarrow as pa

from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import STRING, is_map, is_struct, name
from sqlwin.functions.resolve import resolved
from sqlwin.functions.table import TABLE
from sqlwin.sql.expressions.compile.atoms import text
from sqlwin.sql.expressions.compile.compiler import Compiler, Expr, Uncompiled


def dot(compiler: Compiler, node: Expr) -> Typed:
    inner = compiler.typed(node.this)
    return _field(node, inner, node.expression.name)


def _field(node: Expr, inner: Typed, field_: str) -> Typed:
    """Of a struct; of an array of structs, of each of them."""
    if pa.types.is_list(inner.type) and is_struct(inner.type.value_type):
        item = _field(node, Typed("__x", inner.type.value_type), field_)
        made = f"list_transform({inner.sql}, lambda __x: {item.sql})"
        return Typed(made, pa.list_(item.type), fails=inner.fails)
    if is_map(inner.type):
        return resolved(TABLE["[]"], [inner, text(field_)])
    if not is_struct(inner.type):
        legal = f"value ->> '{field_}', where it is JSON" if inner.type == STRING else ""
        raise Uncompiled(node, f"{name(inner.type).upper()} has no fields", legal)
    known = [f for f in inner.type if f.name.lower() == field_.lower()]
    if len(known) != 1:
        legal = ", ".join(f.name for f in inner.type)
        raise Uncompiled(node, f"there is no field {field_}", legal=legal)
    made = f"struct_extract({inner.sql}, '{known[0].name.replace(chr(39), chr(39) * 2)}')"
    return Typed(made, known[0].type, fails=inner.fails)


def bracket(compiler: Compiler, node: Expr) -> Typed:
    return compiler.call(node, "[]", [node.this, *node.expressions])
