"""What a NULL keeps from being computed: Spark looks at one operand first, and where that is NULL
at no other, so that `a + b * c` does not overflow where `a` is NULL.

>>> from sqlwin.functions.types import INT
>>> call = Call((Typed("a", INT), Typed("(b * c)", INT, fails=True)), INT)
>>> null_first("({0} + {1})")(call)
'CASE WHEN a IS NOT NULL THEN (a + (b * c)) END'
>>> null_first("({0} + {1})")(Call((Typed("a", INT), Typed("b", INT)), INT))
'(a + b)'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlwin.functions.entry import Call, How, rendered
from sqlwin.functions.typed import Typed

MOST = 400
"""Characters of an operand that is computed twice rather than bound by a lambda."""


def null_first(how: How, first: int = 0) -> Callable[[Call], str]:
    """how: where any operand is NULL, it gives NULL. first: which one Spark looks at first."""

    def text(call: Call) -> str:
        inner = rendered(how, call)
        looked = call.args[first]
        others = (arg for at, arg in enumerate(call.args) if at != first)
        if not any(isinstance(arg, Typed) and arg.fails for arg in others):
            return inner
        assert isinstance(looked, Typed)
        if looked.is_constant and looked.value is not None:
            return inner
        if len(call.texts[first]) <= MOST:
            return f"CASE WHEN {call.texts[first]} IS NOT NULL THEN {inner} END"
        bound = replace(looked, sql="__q.a")
        args = (*call.args[:first], bound, *call.args[first + 1 :])
        body = f"CASE WHEN __q.a IS NOT NULL THEN {rendered(how, replace(call, args=args))} END"
        return f"list_apply([{{'a': {call.texts[first]}}}], lambda __q: {body})[1]"

    return text
