"""SET: a setting of the run, of state or of joins."""

from __future__ import annotations

from sqlwin.errors import QueryError
from sqlwin.functions.core.session_zone import set_session_zone
from sqlwin.plan.options.elsewhere import SETTINGS as OF_ANOTHER
from sqlwin.plan.options.option import is_positive
from sqlwin.plan.options.settings import DOUBLE_QUOTED, FIXED, SETTINGS, SPARK
from sqlwin.plan.options.ttl_options import ALIASES, OPTIONS, STATE, options
from sqlwin.sql.binding import Binding
from sqlwin.sql.relations.relation import nearest
from sqlwin.sql.syntax.hints.calls import JOIN_WINDOW, sized
from sqlwin.sql.syntax.statements.inspection import SESSION_ZONE
from sqlwin.sql.text import ast

ZONE = "window.time-zone"
SESSION_ZONES = (SESSION_ZONE, "table.local-time-zone", "timezone", "spark.sql.session.timezone")
"""Its names here, in Flink, in DuckDB and PostgreSQL, in Spark."""


def set_to(binding: Binding, statement: ast.Set) -> None:
    name, value = statement.name.lower(), statement.value
    if name in (ZONE, *SESSION_ZONES):
        _set_zone(binding, name, statement)
        return
    if name.startswith(SPARK):  # Spark distinguishes upper case from lower
        if statement.name in FIXED:
            message = f"{statement.name} cannot be set: {FIXED[statement.name]}"
            raise QueryError(message, statement.span, legal="other settings of Spark; time.zone")
        binding.settings[statement.name] = value
        return
    name = ALIASES.get(name, name)
    if name.startswith(STATE):
        binding.known.ttl |= options({name: value}, statement.span)
        return
    if name == JOIN_WINDOW:
        binding.known.large = sized(value, statement.span, name)
        return
    if name == DOUBLE_QUOTED:  # what is prepared of the text says what it does
        if value.lower() not in ("true", "false"):
            raise QueryError(
                f"{name} is true or false, not {value}", statement.span, legal="'true', 'false'"
            )
        return
    if name not in SETTINGS:
        legal = "; ".join(f"{known} ({what})" for known, what in SETTINGS.items())
        legal = f"{legal}; {SESSION_ZONE} (of texts, clocks and days); {ZONE} (of windows of days)"
        legal = f"{legal}; {JOIN_WINDOW} (small, large)"
        legal = f"{legal}; {DOUBLE_QUOTED} (true, false)"
        legal = f"{legal}; {', '.join(OPTIONS)}"
        near = nearest(
            statement.name, (*SETTINGS, SESSION_ZONE, ZONE, JOIN_WINDOW, *OPTIONS), OF_ANOTHER
        )
        message = f"there is no setting {statement.name}{near}"
        raise QueryError(message, statement.span, legal=legal)
    if not is_positive(value):
        raise QueryError(f"{name} is a count, not {value}", statement.span, legal=f"SET {name} = 8")
    binding.settings[name] = value


def _set_zone(binding: Binding, name: str, statement: ast.Set) -> None:
    """Of windows, and of all that goes by clocks but where windows alone are named."""
    from sqlwin.sql.windows.calendars import default_zone

    binding.known.zone = default_zone(statement.value, statement.span)
    if name != ZONE:
        set_session_zone(statement.value)
