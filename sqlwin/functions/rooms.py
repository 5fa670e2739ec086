"""Which module has which function: what a call needs is imported when it is first called.

Most queries call few functions, and all of them are some 100 modules, Arrow's kernels and
regular expressions. `NAMES` has the functions of each module in every spelling; `MORE` the
functions of other modules for which it has overloads. A test compares both with the modules.

>>> modules_of("upper")
('texts.case',)
>>> modules_of("reverse")
('texts.basics', 'nested.arrays')
"""

from __future__ import annotations

from functools import cache

NAMES = {
    "numbers.arithmetic": """
        +, -, *, /, %, mod, div, pmod, try_add, try_subtract, try_multiply, try_divide, try_mod,
        negative, positive, abs
    """,
    "numbers.bits": """
        &, |, ^, ~, <<, shiftleft, >>, shiftright, >>>, shiftrightunsigned, bit_count, bit_get,
        getbit, bitmap_bit_position, bitmap_bucket_number, bitmap_count, bitmap position
    """,
    "sketches.hll_functions": """
        hll_sketch_estimate, hll_union
    """,
    "sketches.theta_functions": """
        theta_sketch_estimate, theta_union, theta_intersection, theta_difference
    """,
    "sketches.kll_functions": """
        kll_sketch_get_n_bigint, kll_sketch_get_quantile_bigint,
        kll_sketch_get_rank_bigint, kll_sketch_merge_bigint,
        kll_sketch_to_string_bigint,
        kll_sketch_get_n_float, kll_sketch_get_quantile_float,
        kll_sketch_get_rank_float, kll_sketch_merge_float,
        kll_sketch_to_string_float,
        kll_sketch_get_n_double, kll_sketch_get_quantile_double,
        kll_sketch_get_rank_double, kll_sketch_merge_double,
        kll_sketch_to_string_double
    """,
    "casts.functions": """
        boolean, tinyint, smallint, int, bigint, float, double, decimal, string, binary, date,
        timestamp, timestamp_ntz
    """,
    "logic.comparison": """
        =, ==, <>, !=, <, <=, >, >=, <=>, equal_null, <!=>, greatest, least, isnull, isnotnull,
        isnan, nanvl
    """,
    "logic.conditions": """
        and, or, xor, not, !, coalesce, ifnull, nvl, nvl2, if, nullif, nullifzero, zeroifnull,
        decode, assert_true, raise_error, typeof
    """,
    "numbers.mathematics": """
        round, bround, ceil, ceiling, floor, rint, sqrt, cbrt, exp, expm1, ln, log10, log2,
        log1p, log, pow, power, hypot, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh,
        degrees, radians, cot, sec, csc, asinh, acosh, atanh, atan2, e, pi, sign, signum,
        factorial, bin, conv, width_bucket
    """,
    "texts.case": """
        upper, ucase, lower, lcase, initcap
    """,
    "texts.basics": """
        concat, ||, concat_ws, length, len, char_length, character_length, octet_length,
        bit_length, reverse, ascii, chr, char, elt, quote, collate, collation
    """,
    "texts.parts": """
        substring, substr, left, right, replace, translate, overlay, split_part, substring_index
    """,
    "texts.padding": """
        trim, ltrim, rtrim, btrim, lpad, rpad, repeat, space
    """,
    "texts.search": """
        instr, locate, position, contains, startswith, endswith, find_in_set, levenshtein,
        jaro_winkler_similarity, soundex
    """,
    "texts.checks": """
        mask, luhn_check, is_valid_utf8, make_valid_utf8, validate_utf8, try_validate_utf8
    """,
    "texts.printing": """
        format_string, printf
    """,
    "texts.like": """
        like, ilike
    """,
    "texts.regex": """
        rlike, regexp, regexp_like, regexp_replace, regexp_extract, regexp_extract_all,
        regexp_count, regexp_instr, regexp_substr, split
    """,
    "texts.encodings": """
        base64, unbase64, to_base32, from_base32, hex, unhex, encode, to_binary, try_to_binary
    """,
    "texts.hashes": """
        md5, sha, sha1, sha2, hmac, crc32, hash, xxhash64
    """,
    "texts.urls": """
        parse_url, try_parse_url, url_encode, url_decode, try_url_decode
    """,
    "json.functions": """
        get_json_object, json_array_length, json_object_keys, to_json, from_json, schema_of_json
    """,
    "json.by_path": """
        json_value, json_query, json_exists, json_length, ->, ->>, #>, #>>, jsonb_extract_path,
        json_extract_path, jsonb_extract_path_text, json_extract_path_text, json_extract,
        json_extract_string, json value, json outcome, json query, json exists, is json
    """,
    "json.making": """
        json_string, json_quote, json_unquote, json_object, json_build_object, jsonb_build_object,
        json_array, json_build_array, jsonb_build_array
    """,
    "csv.functions": """
        to_csv, from_csv, schema_of_csv
    """,
    "times.dates": """
        year, quarter, month, day, dayofmonth, dayofyear, dayofweek, weekday, weekofyear, hour,
        minute, second, extract, date_part, datepart, dayname, monthname, last_day, date_add,
        dateadd, date_sub, timestampadd, datediff, date_diff, timestampdiff, timediff,
        add_months, months_between, next_day, trunc, date_trunc, floor to, ceil to, time_bucket,
        make_date, make_timestamp, make_timestamp_ltz, try_make_timestamp, try_make_timestamp_ltz,
        timestamp_seconds, timestamp_millis, timestamp_micros, date_from_unix_date, unix_date,
        unix_seconds, unix_millis, unix_micros, from_utc_timestamp, to_utc_timestamp,
        current_timezone
    """,
    "formats.functions": """
        date_format, to_date, try_to_date, to_timestamp, try_to_timestamp, unix_timestamp,
        to_unix_timestamp, from_unixtime, timestamptostring, stringtotimestamp,
        format_timestamp, parse_timestamp, datetostring, stringtodate, format_date, parse_date,
        convert_tz, from_days, to_char, to_varchar, to_number, try_to_number, format_number
    """,
    "times.intervals": """
        session gap, make_ym_interval, make_dt_interval
    """,
    "times.processing": """
        current_timestamp, now, proctime, current_row_timestamp, current_date, curdate,
        localtimestamp
    """,
    "times.without_zone": """
        make_timestamp_ntz, try_make_timestamp_ntz, to_timestamp_ntz, convert_timezone,
        at time zone
    """,
    "dialects": """
        to_timestamp_ltz
    """,
    "nested.arrays": """
        array, size, cardinality, array_size, array_append, array_prepend, array_position,
        array_contains, array_max, array_min, flatten, get, element_at, try_element_at, [],
        slice, array_distinct, array_union, array_except, array_intersect, arrays_overlap,
        array_remove, array_compact, array_join, array_repeat, array_insert, arrays_zip,
        sequence, array_sort, sort_array, transform, filter, exists, forall, aggregate, reduce,
        zip_with, vector_norm, vector_normalize, vector_inner_product, vector_l2_distance,
        vector_cosine_similarity
    """,
    "nested.maps": """
        map_keys, map_values, map_entries, map_contains_key, map_filter, transform_values,
        transform_keys, map_zip_with, map, map_from_arrays, map_from_entries, map_concat,
        str_to_map
    """,
    "nested.structs": """
        named_struct, struct
    """,
}
MORE = {
    "texts.encodings": """
        decode
    """,
    "formats.functions": """
        to_timestamp_ltz
    """,
    "times.intervals": """
        +, -, *, /, div, try_add, try_subtract, try_multiply, try_divide, negative, positive,
        abs, sign
    """,
    "times.processing": """
        unix_timestamp, unix_date
    """,
    "nested.arrays": """
        reverse, concat, ||
    """,
}


@cache
def index() -> dict[str, tuple[str, ...]]:
    """By name of a function, the modules that it is made of, in their order."""
    found: dict[str, tuple[str, ...]] = {}
    for names in (NAMES, MORE):
        for module, texts in names.items():
            for name in map(str.strip, texts.split(",")):
                found[name] = (*found.get(name, ()), module)
    return found


def modules_of(name: str) -> tuple[str, ...]:
    """Nothing where there is no such function."""
    return index().get(name, ())
