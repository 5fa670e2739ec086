"""A call of a function, by its name and its arguments: which overload it is, and its text.

Overloads are tried in their order: first those that take the arguments as they are, or wider;
then those that take them as Spark turns STRING into other types, and others into STRING.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations

import pyarrow as pa

from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Call, Function, Overload
from sqlwin.functions.core.guards import guarded, is_null
from sqlwin.functions.core.session_zone import in_utc
from sqlwin.functions.core.type_patterns import Match, Pattern
from sqlwin.functions.core.typed import Argument, Body, Lambda, NotConstant, Refused, Typed
from sqlwin.functions.core.types import holds_wall_clock, is_integral, name
from sqlwin.functions.numbers.chains import SIGNS, chained
from sqlwin.functions.times.by_clocks import clock_of, given_to, made_by


def resolved(function: Function, arguments: Sequence[Argument]) -> Typed:
    """The call as DuckDB's text. Refused where no overload takes the arguments."""
    if function.before is not None:
        arguments = function.before(arguments)
    if any(holds_wall_clock(arg.type) for arg in _typed(arguments)):
        from sqlwin.functions.times.by_wall_clocks import by_wall_clock, wall_clock_of

        walls = by_wall_clock(function.name, arguments)
        if walls is not None:
            with in_utc():
                return wall_clock_of(_resolved(function, walls, arguments))
    return _resolved(function, arguments, arguments)


def _resolved(
    function: Function, arguments: Sequence[Argument], given: Sequence[Argument]
) -> Typed:
    """given: as the query has them, for messages."""
    found = _of_overloads(function, [(each, arguments) for each in function.overloads])
    if found is None:
        wrapped = [(each, _as_lambdas(each, arguments)) for each in function.overloads]
        found = _of_overloads(function, [pair for pair in wrapped if pair[1] != arguments])
    if found is None:
        _refuse_another_order(function, arguments)
        raise _not_taken(function, given)
    return found


def _refuse_another_order(function: Function, arguments: Sequence[Argument]) -> None:
    """Refused where the same arguments, as they are, would be taken in another order."""
    given = [arg.type for arg in arguments if isinstance(arg, Typed)]
    if not function.name.isidentifier() or not 1 < len(given) == len(arguments) < 4:
        return
    for order in list(permutations(given))[1:]:
        for overload, text in zip(function.overloads, signatures(function), strict=True):
            if tuple(given) != order and overload.signature.match(order, False) is not None:
                own = function.name.upper()
                raise Refused(f"{own} takes its arguments in another order", text)


def _of_overloads(
    function: Function, tried: Sequence[tuple[Overload, Sequence[Argument]]]
) -> Typed | None:
    """By the first overload that takes its arguments."""
    for loose in (False, True):
        for overload, arguments in tried:
            given = [arg.type if isinstance(arg, Typed) else None for arg in arguments]
            match = None if loose and overload.strict else overload.signature.match(given, loose)
            if match is not None and _counts(overload, arguments):
                return _called(function, overload, match, arguments)
    return None


def _as_lambdas(overload: Overload, arguments: Sequence[Argument]) -> Sequence[Argument]:
    """With a lambda that looks at none of its parameters for a value where one is wanted."""
    patterns = overload.signature.patterns(len(arguments)) or ()
    if not any(pattern.is_lambda for pattern in patterns):
        return arguments
    return [
        _unvarying(arg, len(pattern.inner) - 1)
        if pattern.is_lambda and isinstance(arg, Typed)
        else arg
        for pattern, arg in zip(patterns, arguments, strict=True)
    ]


def _unvarying(value: Typed, count: int) -> Lambda:
    def typed(_: Sequence[pa.DataType], texts: Sequence[str]) -> Body:
        used = (at for at in range(count) if f"{{{at}}}" in "".join(texts))
        return Body(tuple(f"__k{at}" for at in used), value)

    return Lambda(count, typed)


def _counts(overload: Overload, arguments: Sequence[Argument]) -> bool:
    """Whether each lambda has the number of parameters that it is called with."""
    return all(
        arg.count == len(pattern.inner) - 1
        for pattern, arg in _paired(overload, arguments)
        if isinstance(arg, Lambda)
    )


def _paired(
    overload: Overload, arguments: Sequence[Argument]
) -> Iterator[tuple[Pattern, Argument]]:
    patterns = overload.signature.patterns(len(arguments))
    assert patterns is not None
    return zip(patterns, arguments, strict=True)


def _called(
    function: Function, overload: Overload, match: Match, arguments: Sequence[Argument]
) -> Typed:
    made: list[Typed | Body] = []
    for at, (pattern, arg) in enumerate(_paired(overload, arguments)):
        if isinstance(arg, Lambda):
            made.append(_lambda(overload, pattern, arg, match))
            continue
        wanted = match.wanted[at]
        assert wanted is not None
        taken = arg if arg.type == wanted else cast(arg, wanted, implicitly=True)
        if pattern.constant and not taken.is_constant:
            raise NotConstant(
                f"{function.name.upper()} takes a constant {name(wanted).upper()} here", at
            )
        made.append(taken)
    result = _result(overload, match, tuple(made))
    clock = clock_of(function.name, overload, made, result)
    call = Call(given_to(clock, made), result)
    if is_null(function.name, call):
        return Typed(f"CAST(NULL AS {call.engine_type})", result, None)
    if function.name in SIGNS and is_integral(result):
        return chained(function.name, _typed(made), result, partial(_plain, function, overload))
    return made_by(clock, made, _plain(function, overload, *call.args, result=result))


def _plain(
    function: Function, overload: Overload, *args: Typed | Body, result: pa.DataType | None = None
) -> Typed:
    """result: as all arguments where there is none."""
    type_ = args[0].type if result is None and isinstance(args[0], Typed) else result
    text = guarded(function.name, overload.how, Call(args, type_))
    return Typed(text, type_, fails=overload.fails or any(map(_fails, args)))


def _typed(args: Sequence[Argument | Body]) -> list[Typed]:
    return [arg for arg in args if isinstance(arg, Typed)]


def _result(overload: Overload, match: Match, made: tuple[Typed | Body, ...]) -> pa.DataType:
    if overload.typing is not None:
        return overload.typing(made)
    types = tuple(arg.type if isinstance(arg, Typed) else None for arg in made)
    return overload.signature.resolved(replace(match, wanted=types))


def _fails(arg: Typed | Body) -> bool:
    return arg.fails if isinstance(arg, Typed) else arg.result.fails


def _lambda(overload: Overload, pattern: Pattern, arg: Lambda, match: Match) -> Body:
    """Its parameters have the types that the arguments before it gave to the letters."""
    *parameters, result = pattern.inner
    types = [parameter.made(match.bound) for parameter in parameters]
    body = arg.typed(types, overload.parameters or [f"{{{at}}}" for at in range(len(types))])
    if not result.bind(body.result.type, match.bound, loose=False):
        raise Refused(f"a lambda gives {name(body.result.type).upper()} here", at=None)
    wanted: pa.DataType = result.made(match.bound, body.result.type)
    if body.result.type != wanted:
        body = replace(body, result=cast(body.result, wanted, implicitly=True))
    return body


_LETTERS = {"N": "NUMBER", "I": "INTEGER", "F": "FLOAT or DOUBLE", "O": "ORDERED"}
_LETTER = re.compile(rf"\b[{''.join(_LETTERS)}]\b")


def signatures(function: Function) -> list[str]:
    """As messages have them, with words for letters: `ROUND(NUMBER, INT) -> NUMBER`."""
    own = function.name.upper() if function.name.isidentifier() else function.name
    texts = (overload.signature.text.replace("!", "") for overload in function.overloads)
    return [own + _LETTER.sub(lambda found: _LETTERS[found[0]], text) for text in texts]


def _not_taken(function: Function, arguments: Sequence[Argument]) -> Refused:
    from sqlwin.functions.advice import instead  # by need

    given = ", ".join(
        name(arg.type).upper() if isinstance(arg, Typed) else "a lambda" for arg in arguments
    )
    own = function.name.upper() if function.name.isidentifier() else function.name
    types = [arg.type for arg in arguments if isinstance(arg, Typed)]
    legal = instead(function.name, types) or ", ".join(signatures(function)[:4])
    return Refused(f"{own} does not take {given or 'nothing'}", legal=legal)
