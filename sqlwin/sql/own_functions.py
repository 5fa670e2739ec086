"""What DESCRIBE FUNCTION says of a function that the text has made, or that was registered."""

from __future__ import annotations

from sqlwin.python_functions.function import PythonFunction, UserFunction
from sqlwin.schema import type_name
from sqlwin.sql.binding import Binding
from sqlwin.sql.text import ast


def own_function(binding: Binding, name: str) -> tuple[str, ...]:
    """Lines about it; none where there is none of this name."""
    made = binding.made_functions.get(name.lower())
    if isinstance(made, ast.CreateFunction):
        macro = made.macro
        parts = (
            f"{each.text} {'' if of is None else of.original}" for each, of in macro.parameters
        )
        parameters = ", ".join(map(str.rstrip, parts))
        returns = "" if macro.returns is None else f" -> {macro.returns.original}"
        body = " ".join(macro.body.original.split())
        return (
            f"{name.lower()}: an expression of this script.",
            f"  {name.upper()}({parameters}){returns}",
            f"  = {body}",
        )
    registered = [each for each in binding.callable if each.name.lower() == name.lower()]
    return _python(registered[-1]) if registered else ()


def _python(function: UserFunction) -> tuple[str, ...]:
    types = ", ".join(map(type_name, function.types))
    signature = f"  {function.name.upper()}({types}) -> {type_name(function.result)}"
    if not isinstance(function, PythonFunction):
        return (f"{function.name.lower()}: an aggregate in Python.", signature)
    how = "by row" if function.vectorized is None else f"by columns of {function.vectorized}"
    return (f"{function.name.lower()}: a function in Python, {how}.", signature)
