"""How expressions are printed: as Spark SQL, with the operators that Spark has not.

>>> import sqlglot
>>> from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
>>> print(sqlglot.parse_one("ts at time zone doc->>'zone'", read=SqlwinSpark).sql(SqlwinSpark))
ts AT TIME ZONE doc ->> 'zone'
"""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.generators.spark import SparkGenerator

from sqlwin.sql.expressions.dialect.arrows import CALLS, OPERATORS


class Printed(SparkGenerator):
    TRANSFORMS: ClassVar = {
        kind: how
        for kind, how in SparkGenerator.TRANSFORMS.items()
        if kind is not exp.AtTimeZone  # which sqlglot writes as FROM_UTC_TIMESTAMP
    }

    def anonymous_sql(self, expression: exp.Anonymous) -> str:
        if expression.name in OPERATORS:
            return f" {expression.name} ".join(map(self.sql, expression.expressions))
        if expression.name not in CALLS:
            return str(super().anonymous_sql(expression))
        text = ""
        for at, given in enumerate(expression.expressions):
            before = "" if at == 0 else " " if isinstance(given, exp.Var) else ", "
            text += f"{before}{self.sql(given)}"
        return f"{expression.name}({text})"

    def formatjson_sql(self, expression: exp.FormatJson) -> str:
        from sqlwin.sql.expressions.dialect.json_made import is_json  # by need

        made = self.sql(expression, "this")
        return made if is_json(expression.this) else f"{made} FORMAT JSON"
