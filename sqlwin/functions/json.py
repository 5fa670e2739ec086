"""JSON and CSV in texts: read, written, and what is in them."""

from __future__ import annotations

from sqlwin.functions import json_path
from sqlwin.functions.entry import Function, function, of

FUNCTIONS: tuple[Function, ...] = (
    function(
        "get_json_object",
        of("(STRING, STRING) -> STRING", json_path.GET, fails=False),
        doc="What a path such as `$.a[0].b` leads to in a text of JSON.",
    ),
    function(
        "json_array_length",
        of("(STRING) -> INT", json_path.LENGTH, fails=False),
        doc="How many elements an array of JSON has.",
    ),
    function(
        "json_object_keys",
        of("(STRING) -> ARRAY<STRING>", json_path.KEYS, fails=False),
        doc="The keys of an object of JSON, those of the outermost.",
    ),
)
