"""Functions whose value the row does not decide: of the clock, of chance, of the session.

A row that is taken again, after a crash or on another host, must give the same; so they are
refused by class, whatever their names are in other dialects.
"""

from __future__ import annotations

from sqlglot import exp

Expr = exp.Expr


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CHANGING = (
    *(exp.CurrentTimestamp, exp.CurrentTimestampLTZ, exp.CurrentDate, exp.CurrentDatetime),
    *(exp.CurrentTime, exp.Localtime, exp.Localtimestamp, exp.UtcTimestamp, exp.UtcDate),
    *(exp.Rand, exp.Randn, exp.Randstr, exp.Uniform, exp.Uuid, exp.UtcTime, exp.Systimestamp),
)
_CHANGING_NAMES = _words(
    """
    now today curdate current_time get_current_timestamp get_current_time transaction_timestamp
    current_localtime current_localtimestamp age random setseed shuffle gen_random_uuid uuidv4
    uuidv7 nextval currval monotonically_increasing_id txid_current
    """
)
_SESSION = (
    *(exp.CurrentCatalog, exp.CurrentDatabase, exp.CurrentSchema, exp.CurrentUser),
    *(exp.SessionUser, exp.CurrentTimezone, exp.CurrentRole, exp.CurrentVersion),
)
_SESSION_NAMES = _words(
    """
    current_query current_setting getenv getvariable input_file_name input_file_block_start
    input_file_block_length java_method pg_sleep reflect sleep sleep_ms spark_partition_id
    try_reflect user version write_log
    """
)


def changes(node: Expr) -> bool:
    """Whether it gives another value each time."""
    if _name(node) == "unix_timestamp" and not getattr(node, "expressions", ()):
        return True  # without arguments it is the clock
    return isinstance(node, _CHANGING) or _name(node) in _CHANGING_NAMES


def of_session(node: Expr) -> bool:
    """Whether it tells of the session or the machine, or acts on it."""
    return isinstance(node, _SESSION) or _name(node) in _SESSION_NAMES


def _name(node: Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    return str(node.sql_name()).lower() if isinstance(node, exp.Func) else ""
