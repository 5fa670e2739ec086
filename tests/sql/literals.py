"""What Spark says of literals, parameters and names in quotes, recorded.

    python -m tests.sql.literals        # asks the pinned PySpark, writes literals.json

Each case is an expression over the one row of `t`; Spark's answer is its value as text, or
None where Spark refuses the expression. `test_literals.py` holds sqlwin to the same.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIXTURE = Path(__file__).with_suffix(".json")

STRINGS = r"""
'it''s'
''''
''
'' ''
'a''b''c'
'a' 'b'
'a'   'b' 'c'
"it's"
"a""b"
"a" 'b'
'say "x"'
'it\'s'
'it\\''s'
'a\nb\tc\rd'
'a\\nb'
'\\'
'a\qb'
'\0'
'\b\Z'
'\101\060'
'\377'
'\12'
'\u0041\u00e9'
'\U0001F600'
'\uD83D\uDE00'
'\u004'
'\%'
'\_'
'\x41'
'\"\'\`'
r'a\nb'
R"a\nb"
r'C:\'
r'it''s'
'日本 é 😀'
'a -- no comment'
'a /* no comment */'
'a :p b'
'a;b'
'\'''
'a
b'
concat('a', 'it''s', 'b')
length('it''s')
length('\0')
CASE WHEN 'it''s' = "it's" THEN 'y''' ELSE 'n' END
""".strip("\n")

PATTERNS = r"""
'a%b' LIKE 'a\%b'
'axb' LIKE 'a\%b'
'a_b' LIKE 'a\_b'
'axb' LIKE 'a\_b'
'axb' LIKE 'a_b'
'a\\b' LIKE 'a\\\\b'
'it''s' LIKE '%''%'
'a%b' LIKE 'a!%b' ESCAPE '!'
'axb' LIKE 'a!%b' ESCAPE '!'
'A%B' ILIKE 'a\%b'
'axb' NOT LIKE 'a\%b'
'a%b' NOT LIKE 'a\%b'
'a%b' LIKE concat('a', '\%', 'b')
'axb' LIKE concat('a', '\%', 'b')
'a%b' LIKE ANY ('x', 'a\%b')
'a1' RLIKE 'a\\d'
'a1' RLIKE r'a\d'
replace('a''b', '''', '-')
split('a''b', '''')[1]
""".strip("\n")

NUMBERS = """
1e5
1E-3D
1.5BD
1L
2S
3Y
1.5F
.5
-1
- -1
1e5 + 1
9223372036854775807
99999999999999999999
""".strip("\n")

NAMES = """
`a.b`
`a.b` + 1
t.`a.b`
`a b`
`it's`
`say "x"`
`tick``s`
`Ünï`
`ünÏ`
`select`
t.`from`
`s`.`x.y`
t.s.`x.y`
s.`a b`
""".strip("\n")

PARAMS = (
    "it's",
    'say "x"',
    "back\\slash",
    "ends in \\",
    "\\'",
    "''",
    "a\nb",
    "tab\t",
    "日本 é 😀",
    "%",
    "-- x",
    "",
    " ",
)
"""Values of `:p`, texts."""

COLUMNS = ("a.b", "a b", "it's", 'say "x"', "tick`s", "Ünï", "select", "from")
"""Of `t`, each a BIGINT: 1, 2, … And `s`, a struct of `x.y` and `a b`: 21, 22."""
FIELDS = ("x.y", "a b")


def expressions() -> list[str]:
    """Those of one line; a string that goes on over a line is put together again."""
    lines = "\n".join((STRINGS, PATTERNS, NUMBERS, NAMES)).split("\n")
    whole: list[str] = []
    for line in lines:
        if line == "b'" and whole[-1] == "'a":
            whole[-1] += "\n" + line
        else:
            whole.append(line)
    return whole


def answers(spark: SparkSession) -> dict[str, str | None]:
    """Spark's, by expression; of a parameter by `:p = ` and its value."""
    columns = ", ".join(f"{at}L AS `{_ticked(name)}`" for at, name in enumerate(COLUMNS, 1))
    fields = ", ".join(f"'{name}', {at}L" for at, name in enumerate(FIELDS, 21))
    spark.sql(f"SELECT {columns}, named_struct({fields}) AS s").createOrReplaceTempView("t")
    made = {text: _answer(spark, text, None) for text in expressions()}
    return made | {f":p = {value}": _answer(spark, ":p", value) for value in PARAMS}


def _answer(spark: SparkSession, text: str, value: str | None) -> str | None:
    from pyspark.errors import PySparkException

    args = None if value is None else {"p": value}
    try:
        row = spark.sql(f"SELECT {text} AS x FROM t", args=args).collect()[0]
    except PySparkException:
        return None
    return shown(row[0])


def shown(value: object) -> str:
    """As text: numbers without what tells their types apart."""
    if isinstance(value, bool | str):
        return str(value)
    return f"{float(value):.10g}" if isinstance(value, float) else str(value)  # type: ignore[redundant-expr]


def _ticked(name: str) -> str:
    return name.replace("`", "``")


def recorded() -> dict[str, str | None]:
    found: dict[str, str | None] = json.loads(FIXTURE.read_text("utf-8"))
    return found


def record() -> None:
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[1]").getOrCreate()
    text = json.dumps(answers(spark), indent=1, ensure_ascii=False)
    FIXTURE.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    record()
