"""GET_JSON_OBJECT by DuckDB's own reader of JSON, where it finds what Spark finds.

It does for a plain path (`$.user.id`, `$.a[0]`) in a text of JSON as the standard has it: short,
without escapes, and without what DuckDB takes beside the standard (`[1, ]`, `NaN`). A string, a
word or a short whole number is the same for both then; any other value, and no value where the
text has the name, is left to `json_path`.

>>> by_engine("$.a[*]", "exact({0})") is None
True
"""

from __future__ import annotations

import re

_PATH = re.compile(r"\$(?:\.[A-Za-z_][A-Za-z0-9_]*|\[[0-9]{1,6}\])+")
_NAME = re.compile(r"\.(\w+)")
_LONGEST = 1000
"""Bytes of a text: it has no more brackets within each other, and digits, than Jackson takes."""
_WORD = r"(?i)[:,\[]\s*[-+]?(nan|inf)"
_STANDARD = " AND ".join(
    (
        f"strlen({{0}}) <= {_LONGEST}",
        "NOT contains({0}, chr(92))",
        r"NOT regexp_matches({0}, ',\s*[}}\]]')",
        "(NOT (contains(lower({0}), 'nan') OR contains(lower({0}), 'inf'))"
        f" OR NOT regexp_matches({{0}}, '{_WORD}'))",
        "json_valid({0})",
    )
)
_SAME = (
    "(__j < '-' OR __j >= ':' AND __j < '[' OR __j > chr(92) AND __j < '{{' OR __j >= '|' OR"
    " strlen(__j) <= 18 AND NOT contains(__j, '.') AND NOT contains(__j, 'e')"
    " AND NOT contains(__j, 'E') AND NOT starts_with(__j, '-0')"
    " AND __j >= '-' AND __j < ':')"
)
"""Neither an array nor an object, nor a number but a whole one."""


def by_engine(path: str, exact: str) -> str | None:
    """A template with `{0}` for the text; None where the path is not plain."""
    if not _PATH.fullmatch(path):
        return None
    names = _NAME.findall(path)
    there = " AND ".join(f"contains({{0}}, '{name}')" for name in names)
    found = f"({there} OR contains({{0}}, chr(92)))" if names else "{0} IS NOT NULL"
    same = f"lambda __j: CASE WHEN {_SAME} THEN __j END"
    quick = f"list_apply([json_extract_string({{0}}, '{path}')], {same})[1]"
    quick = f"CASE WHEN {_STANDARD} THEN {quick} END"
    return f"coalesce({quick}, CASE WHEN {found} THEN {exact} END)"
