"""Functions of Spark that the table will not have, and why."""

from __future__ import annotations

_VARIANT = "there are no columns of type VARIANT: GET_JSON_OBJECT and FROM_JSON read JSON"
_XML = "XML is parsed before it gets into a stream, as rows of columns"
_ROWS = "it makes several rows of one, which no scalar does"

NEVER: dict[str, str] = {
    **dict.fromkeys(
        (
            *("parse_json", "try_parse_json", "variant_get", "try_variant_get", "is_variant_null"),
            *("schema_of_variant", "schema_of_variant_agg", "to_variant_object"),
            "is_valid_variant",
        ),
        _VARIANT,
    ),
    **dict.fromkeys(
        (
            *("from_xml", "to_xml", "schema_of_xml", "xpath", "xpath_boolean", "xpath_double"),
            *("xpath_float", "xpath_int", "xpath_long", "xpath_number", "xpath_short"),
            "xpath_string",
        ),
        _XML,
    ),
    "json_tuple": _ROWS,
}
