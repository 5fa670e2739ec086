"""PARTITIONED BY, and the option it stands for: columns that are names of folders.

CREATE TABLE rides (fare DOUBLE, day DATE) PARTITIONED BY (day) WITH (…)
CREATE TABLE rides (fare DOUBLE) PARTITIONED BY (day DATE) WITH (…)        Hive's and Spark's
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from sqlwin.errors import QueryError, Span
from sqlwin.plan.options.connectors import PARTITIONED
from sqlwin.plan.options.table_options import key_columns
from sqlwin.schema import type_name
from sqlwin.sql.relations.relation import nearest

LEGAL = "PARTITIONED BY (day, zone), columns of the table"


def check_partitions(
    what: str, options: dict[str, str], columns: Sequence[tuple[str, pa.DataType]], span: Span
) -> None:
    """QueryError for a column that is none, that no folder's name can be, or where all are such.

    columns: those that a file and its folders have together."""
    if PARTITIONED not in options:
        return
    known = {name.lower(): type_ for name, type_ in columns}
    names = key_columns(options[PARTITIONED])
    for name in names:
        type_ = known.get(name.lower())
        if type_ is None:
            shown = [each for each, _ in columns]
            message = f"{what} has no column {name}, by which it is partitioned"
            raise QueryError(message + nearest(name, shown), span, legal=", ".join(shown))
        if pa.types.is_nested(type_) or pa.types.is_binary(type_):
            message = f"no folder has the name of a {type_name(type_)}, as {name} is"
            raise QueryError(message, span, legal=LEGAL)
    if len(names) == len(known):
        message = f"{what} is partitioned by all of its columns, so that files have none"
        raise QueryError(message, span, legal=LEGAL)
