"""Functions of DuckDB that may be called: what they give depends on their arguments alone.

Not here, whatever their use: clocks and chance (`now`, `random`, `uuid`; the one-argument
`age`), the session and its settings (`current_setting`, `current_user`, `version`), sleep and
logs, sequences, SQL in strings (`json_serialize_sql`, `query`), files and paths, variables,
and what is internal to the engine. `error` ends the row, and nothing else. `replace` is called
where what it makes is known to be short (`short_replace` of `texts/parts.py`).
"""

from __future__ import annotations

_OPERATORS = """
    + - * / // % ** ^ & | ~ << >> ! || = == <> != < <= > >= @> <@ && ->> -> ~~ ~~* !~~ !~~* ~~~
    ^@ @ xor
"""
_NUMBERS = """
    abs acos acosh add asin asinh atan atan2 atanh bin bit_count cbrt ceil ceiling cos cosh cot
    degrees divide even exp factorial fdiv floor fmod gamma gcd greatest greatest_common_divisor
    hamming isfinite isinf isnan lcm least least_common_multiple lgamma ln log log10 log2 mod
    multiply nextafter pi pow power radians round round_even roundbankers sign signbit sin sinh
    sqrt subtract tan tanh to_base trunc
"""
_TEXT = """
    ascii bar base64 bit_length char_length character_length chr concat concat_ws contains
    damerau_levenshtein decode editdist3 encode ends_with format from_base64 from_binary from_hex
    hex ilike_escape
    instr jaccard jaro_similarity jaro_winkler_similarity lcase left left_grapheme length
    length_grapheme levenshtein like_escape lower ltrim md5 mismatches nfc_normalize
    not_ilike_escape not_like_escape octet_length ord overlay position prefix printf
    regexp_escape regexp_extract regexp_extract_all regexp_matches
    repeat replace reverse right right_grapheme rtrim
    sha1 sha256 split split_part starts_with str_split string_split
    strip_accents strlen strpos substr substring substring_grapheme suffix
    to_base64 to_binary to_hex translate trim ucase unbin unhex unicode upper url_decode
    url_encode
"""
_TIMES = """
    century date_add date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc
    day dayname dayofmonth dayofweek dayofyear days_in_month decade epoch epoch_ms epoch_ns
    epoch_us era hour isodow isoyear julian last_day make_date make_time make_timestamp
    make_timestamp_ms make_timestamp_ns make_timestamptz microsecond millennium millisecond
    minute month monthname nanosecond normalized_interval quarter second strftime strptime
    time_bucket timezone timezone_hour timezone_minute to_centuries to_days to_decades to_hours
    to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds
    to_timestamp to_weeks to_years try_strptime week weekday weekofyear year yearweek
"""
_NESTED = """
    array_append array_apply array_cat array_concat array_contains array_distinct array_extract
    array_filter array_has array_has_all array_has_any array_indexof array_intersect array_length
    array_position array_prepend array_push_back array_push_front array_reduce array_reverse
    array_reverse_sort array_slice array_sort array_transform array_unique
    array_value array_zip cardinality element_at flatten len list_append
    list_apply list_cat list_concat list_contains list_distinct list_element list_extract
    list_filter list_has list_has_all list_has_any list_indexof list_intersect list_max list_min
    list_pack list_position list_prepend list_reduce list_reverse list_reverse_sort list_select
    list_slice list_sort list_sum list_transform list_unique list_value list_where list_zip map
    map_concat map_contains map_entries map_extract map_extract_value map_from_entries map_keys
    map_values reduce row struct_concat struct_extract struct_extract_at struct_insert
    struct_keys struct_pack struct_values
"""
_JSON = """
    json json_array json_array_length json_contains json_exists json_extract json_extract_path
    json_extract_path_text json_extract_string json_keys json_object json_quote json_type
    json_valid json_value to_json st_asbinary st_geomfromwkb
"""
_OTHERS = "assert_true coalesce constant_or_null error hash if ifnull nullif typeof"

PURE = frozenset(
    word
    for words in (_OPERATORS, _NUMBERS, _TEXT, _TIMES, _NESTED, _JSON, _OTHERS)
    for word in words.split()
)
