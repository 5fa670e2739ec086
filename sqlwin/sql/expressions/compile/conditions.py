"""Rules of conditions: AND and OR, CASE and IF, IN, BETWEEN, IS, LIKE.

An operand that may fail is kept from rows for which those before it decide: `a = 0 OR 1 / a > 2`
never divides by 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.casts.operands import renamed
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import BOOLEAN, NULL, name
from sqlwin.functions.core.widening import widest_of
from sqlwin.sql.expressions.compile.atoms import null
from sqlwin.sql.expressions.compile.compiler import Compiler, Expr, Uncompiled
from sqlwin.sql.expressions.dialect.calling import called
from sqlwin.sql.expressions.engine import constant

_SHORT = 8
"""Operands of AND or OR that may fail, each of which may be a step deeper."""


def connected(compiler: Compiler, node: Expr) -> Typed:
    return _chain(compiler, node, called(node)[0], _operands(compiler, node))


def _operands(compiler: Compiler, node: Expr) -> list[Typed]:
    """One without columns may decide before those behind it are computed."""
    made, decided = list[Typed](), False
    for part in node.flatten(unnest=False):
        columns, _ = compiler.constants.mark()
        with compiler.constants.perhaps(decided):
            made.append(compiler.boolean(part))
        decided |= compiler.constants.mark()[0] == columns
    return made


def _chain(compiler: Compiler, node: Expr, word: str, parts: list[Typed]) -> Typed:
    """AND and OR, however many: a text without depth. An operand that may fail is kept from what
    those before it decide: a long chain asks them one by one, and then all of them, a short one
    by the function of two."""
    segments: list[list[Typed]] = []
    for part in parts:
        if part.fails or not segments:
            segments.append([])
        segments[-1].append(part)
    if len(segments) > _SHORT:
        decided = [_flat(word, segment).sql for segment in segments[:-1]]
        test, value = ("WHEN NOT {}", "false") if word == "and" else ("WHEN {}", "true")
        whens = " ".join(f"{test.format(text)} THEN {value}" for text in decided)
        return Typed(f"CASE {whens} ELSE {_flat(word, parts).sql} END", BOOLEAN, fails=True)
    found = _flat(word, segments[-1])
    for segment in reversed(segments[:-1]):
        found = compiler.call(node, word, [_flat(word, segment), found])
    return found


def _flat(word: str, parts: list[Typed]) -> Typed:
    if len(parts) == 1:
        return parts[0]
    text = f" {word.upper()} ".join(part.sql for part in parts)
    return Typed(f"({text})", BOOLEAN, fails=any(part.fails for part in parts))


def case(compiler: Compiler, node: Expr) -> Typed:
    subject, branches = node.this, node.args.get("ifs") or []
    with compiler.constants.perhaps():
        tests = [_test(compiler, subject, branch.this) for branch in branches]
        values = [compiler.typed(branch.args["true"]) for branch in branches]
        values.append(compiler.typed(node.args.get("default") or exp.Null()))
    return chosen(node, tests, values)


def _test(compiler: Compiler, subject: Expr | None, value: Expr) -> Typed:
    if subject is None:
        return _decided(compiler, value, taken=())
    return compiler.call(value, "=", [subject, value])


def _decided(compiler: Compiler, node: Expr, taken: Sequence[pa.DataType]) -> Typed:
    """A condition; without columns it is the constant that it comes to."""
    columns, _ = compiler.constants.mark()
    made = compiler.boolean(node, taken)
    if made.is_constant or made.fails or compiler.constants.columns > columns:
        return made
    value = constant(made.sql)
    return made if value is None else replace(made, value=value)


def if_(compiler: Compiler, node: Expr) -> Typed:
    other = node.args.get("false")
    with compiler.constants.perhaps():
        test = _decided(compiler, node.this, taken=(NULL,))
        values = [compiler.typed(node.args["true"])]
        values.append(compiler.typed(other) if other else null(compiler, node))
    return chosen(node, [test], values)


def chosen(node: Expr, tests: Sequence[Typed], values: Sequence[Typed]) -> Typed:
    """CASE: the value of the first test that holds, the last value where none does."""
    wanted = widest_of([value.type for value in values])
    if wanted is None:
        types = ", ".join(name(value.type).upper() for value in values)
        raise Uncompiled(node, f"values of {types} have no type in common", legal="a CAST of one")
    made = [cast(value, wanted, implicitly=True) for value in values]
    tests, made = _reached(tests, made)
    whens = " ".join(f"WHEN {t.sql} THEN {v.sql}" for t, v in zip(tests, made, strict=False))
    fails = any(part.fails for part in (*tests, *made))
    if not tests:
        return replace(made[-1], written=False)
    return Typed(f"CASE {whens} ELSE {made[-1].sql} END", wanted, fails=fails)


def _reached(tests: Sequence[Typed], values: Sequence[Typed]) -> tuple[list[Typed], list[Typed]]:
    """Less the branches that constants decide: those never taken, and those behind one that always
    is, which is the default then."""
    cases = [(t, v) for t, v in zip(tests, values, strict=False) if t.value not in (False, None)]
    at = next((at for at, (test, _) in enumerate(cases) if test.value is True), None)
    default = values[-1] if at is None else cases[at][1]
    chosen = cases[:at]
    return [test for test, _ in chosen], [*(value for _, value in chosen), default]


def in_(compiler: Compiler, node: Expr) -> Typed:
    if node.args.get("query") or node.args.get("unnest") or not node.expressions:
        raise Uncompiled(node, "IN takes values here", legal="a IN (1, 2)")
    written = [compiler.typed(part) for part in (node.this, *node.expressions)]
    parts = [renamed(part, written[0].type) for part in written]
    wanted = widest_of([part.type for part in parts])
    if wanted is None:
        types = ", ".join(dict.fromkeys(name(part.type).upper() for part in parts))
        raise Uncompiled(node, f"values of {types} cannot be compared", legal="a CAST of one")
    subject, *others = [cast(part, wanted, implicitly=True) for part in parts]
    if any(other.fails for other in others):
        return _any(compiler, node, subject, others)
    values = ", ".join(other.sql for other in others)
    return Typed(f"({subject.sql} IN ({values}))", BOOLEAN, fails=subject.fails)


def _any(compiler: Compiler, node: Expr, subject: Typed, others: Sequence[Typed]) -> Typed:
    """IN, where what stands behind the value that is found is not computed."""
    return _chain(compiler, node, "or", [compiler.call(node, "=", [subject, x]) for x in others])


def between(compiler: Compiler, node: Expr) -> Typed:
    subject = compiler.typed(node.this)
    low = compiler.call(node, ">=", [subject, node.args["low"]])
    high = compiler.call(node, "<=", [subject, node.args["high"]])
    return compiler.call(node, "and", [low, high])


def is_(compiler: Compiler, node: Expr) -> Typed:
    subject, of = compiler.typed(node.this), node.expression
    if isinstance(of, exp.JSON):
        from sqlwin.sql.expressions.compile.json_conditions import is_json  # by need

        return is_json(compiler, node, subject)
    if isinstance(of, exp.Null):
        return Typed(f"({subject.sql} IS NULL)", BOOLEAN, fails=subject.fails)
    if isinstance(of, exp.Boolean):
        condition_ = cast(subject, BOOLEAN, implicitly=True)
        word = "true" if of.this else "false"
        return Typed(
            f"({condition_.sql} IS NOT DISTINCT FROM {word})", BOOLEAN, fails=condition_.fails
        )
    raise Uncompiled(node, "IS takes NULL, TRUE or FALSE")


def _negated(compiler: Compiler, node: Expr) -> Typed:
    positive = node.copy()
    positive.set("negate", None)
    return compiler.call(node, "not", [compiler.call(node, *called(positive))])


def like(compiler: Compiler, node: Expr) -> Typed:
    of = node.expression
    if node.args.get("negate") and not isinstance(of, exp.Any | exp.All):
        return _negated(compiler, node)
    if isinstance(of, exp.Any | exp.All):
        word = "or" if isinstance(of, exp.Any) else "and"
        function = called(node)[0]
        parts = of.this.expressions if isinstance(of.this, exp.Tuple) else [of.this.unnest()]
        made = [compiler.call(node, function, [node.this, part]) for part in parts]
        if node.args.get("negate"):
            made = [compiler.call(node, "not", [part]) for part in made]
        found = made[0]
        for part in made[1:]:
            found = compiler.call(node, word, [found, part])
        return found
    return compiler.call(node, *called(node))


def escape(compiler: Compiler, node: Expr) -> Typed:
    inner = node.this
    function = called(inner)[0]
    made = compiler.call(node, function, [inner.this, inner.expression, node.expression])
    return compiler.call(node, "not", [made]) if inner.args.get("negate") else made
