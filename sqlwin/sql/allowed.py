"""What an expression may be made of: nodes of sqlglot's tree and functions, one by one.

An expression comes from whoever writes the query, and DuckDB knows functions that read files,
run SQL or wait. So what is not listed here never reaches it. Three tables:

    NODES       what is no function: operators, literals, CASE
    FUNCTIONS   functions that sqlglot knows: its node, and the names Spark SQL has for it
    NAMED       functions that it does not know, by their names alone

and one of what is refused by class: functions whose value is not decided by the row, since
a row that is taken again, after a crash or on another host, must give the same.

`checked` holds a tree against them.
"""

from __future__ import annotations

from sqlglot import exp

Node = type[exp.Expr]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NODES: tuple[Node, ...] = (
    *(exp.Column, exp.Identifier, exp.Dot, exp.Bracket, exp.Slice, exp.Var, exp.Paren),
    *(exp.Literal, exp.Boolean, exp.Null, exp.HexString, exp.RawString, exp.National),
    *(exp.DataType, exp.DataTypeParam, exp.ColumnDef, exp.Interval, exp.IntervalSpan),
    *(exp.Tuple, exp.Alias, exp.Ordered, exp.PropertyEQ, exp.Kwarg, exp.Lambda),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.DPipe),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot),
    *(exp.BitwiseLeftShift, exp.BitwiseRightShift),
    *(exp.And, exp.Or, exp.Xor, exp.Not),
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.Is, exp.In, exp.Between, exp.Like, exp.ILike, exp.Escape, exp.Any, exp.All),
    *(exp.Case, exp.If, exp.AtTimeZone, exp.FromTimeZone, exp.Distance),
    *(exp.JSONPath, exp.JSONPathRoot, exp.JSONPathKey, exp.JSONPathSubscript),
    *(exp.JSONPathWildcard, exp.JSONPathSlice, exp.JSONPathUnion),
)

FUNCTIONS: dict[Node, str] = {
    # types
    exp.Cast: "cast boolean tinyint smallint int bigint float double decimal date timestamp string",
    exp.TryCast: "try_cast",
    exp.TimeStrToTime: "timestamp",
    exp.Typeof: "typeof",
    # conditions
    exp.Coalesce: "coalesce ifnull nvl",
    exp.EqualNull: "equal_null",
    exp.Greatest: "greatest",
    exp.Least: "least",
    exp.Nullif: "nullif",
    exp.Nvl2: "nvl2",
    exp.DecodeCase: "decode",
    # numbers
    exp.Abs: "abs",
    exp.Acos: "acos",
    exp.Acosh: "acosh",
    exp.Asin: "asin",
    exp.Asinh: "asinh",
    exp.Atan: "atan",
    exp.Atan2: "atan2",
    exp.Atanh: "atanh",
    exp.BitmapBitPosition: "bitmap_bit_position",
    exp.BitmapBucketNumber: "bitmap_bucket_number",
    exp.BitwiseCount: "bit_count",
    exp.Cbrt: "cbrt",
    exp.Ceil: "ceil ceiling",
    exp.Cos: "cos",
    exp.Cosh: "cosh",
    exp.Cot: "cot",
    exp.Degrees: "degrees",
    exp.Exp: "exp",
    exp.Factorial: "factorial",
    exp.Floor: "floor",
    exp.IsNan: "isnan",
    exp.IsInf: "isinf",
    exp.Ln: "ln",
    exp.Log: "log log2 log10",
    exp.Pi: "pi",
    exp.Pow: "pow power",
    exp.Radians: "radians",
    exp.Round: "round",
    exp.SafeDivide: "try_divide",
    exp.Sign: "sign signum",
    exp.Sin: "sin",
    exp.Sinh: "sinh",
    exp.Sqrt: "sqrt",
    exp.Tan: "tan",
    exp.Tanh: "tanh",
    # text and bytes
    exp.Ascii: "ascii",
    exp.BitLength: "bit_length",
    exp.Chr: "char chr",
    exp.Concat: "concat",
    exp.ConcatWs: "concat_ws",
    exp.Contains: "contains",
    exp.Decode: "decode",
    exp.Encode: "encode",
    exp.EndsWith: "endswith",
    exp.Format: "format_string",
    exp.FromBase64: "unbase64",
    exp.Hex: "hex",
    exp.Initcap: "initcap",
    exp.Left: "left",
    exp.Length: "len length char_length character_length",
    exp.Levenshtein: "levenshtein",
    exp.Lower: "lower lcase",
    exp.MD5: "md5",
    exp.Overlay: "overlay",
    exp.Pad: "lpad rpad",
    exp.RegexpCount: "regexp_count",
    exp.RegexpExtract: "regexp_extract regexp_substr",
    exp.RegexpExtractAll: "regexp_extract_all",
    exp.RegexpInstr: "regexp_instr",
    exp.RegexpLike: "rlike regexp regexp_like",
    exp.RegexpReplace: "regexp_replace",
    exp.RegexpSplit: "split",
    exp.Repeat: "repeat",
    exp.Replace: "replace",
    exp.Reverse: "reverse",
    exp.Right: "right",
    exp.SHA: "sha sha1",
    exp.SHA2: "sha2",
    exp.Space: "space",
    exp.SplitPart: "split_part",
    exp.StartsWith: "startswith",
    exp.StrPosition: "instr locate position",
    exp.Substring: "substr substring",
    exp.ToBase64: "base64",
    exp.ToBinary: "to_binary",
    exp.ToChar: "to_char",
    exp.ToNumber: "to_number",
    exp.Translate: "translate",
    exp.Trim: "trim ltrim rtrim btrim",
    exp.Unhex: "unhex",
    exp.Upper: "upper ucase",
    # times
    exp.AddMonths: "add_months",
    exp.ConvertTimezone: "convert_timezone",
    exp.DateDiff: "datediff date_diff",
    exp.DateFromUnixDate: "date_from_unix_date",
    exp.DateTrunc: "trunc",
    exp.Day: "day",
    exp.DayOfMonth: "dayofmonth",
    exp.DayOfWeek: "dayofweek",
    exp.DayOfYear: "dayofyear",
    exp.Dayname: "dayname",
    exp.Extract: "extract",
    exp.Hour: "hour",
    exp.LastDay: "last_day",
    exp.Minute: "minute",
    exp.Month: "month",
    exp.Monthname: "monthname",
    exp.MonthsBetween: "months_between",
    exp.Quarter: "quarter",
    exp.Second: "second",
    exp.StrToTime: "to_timestamp",
    exp.StrToDate: "to_date",
    exp.StrToUnix: "unix_timestamp to_unix_timestamp",
    exp.TimeToStr: "date_format",
    exp.TimestampAdd: "timestampadd",
    exp.TimestampDiff: "timestampdiff",
    exp.TimestampFromParts: "make_timestamp",
    exp.TimestampTrunc: "date_trunc",
    exp.TsOrDsAdd: "date_add date_sub dateadd",
    exp.TsOrDsToDate: "to_date",
    exp.UnixDate: "unix_date",
    exp.UnixMicros: "unix_micros",
    exp.UnixMillis: "unix_millis",
    exp.UnixSeconds: "unix_seconds",
    exp.UnixToStr: "from_unixtime",
    exp.UnixToTime: "timestamp_seconds",
    exp.WeekOfYear: "weekofyear",
    exp.Year: "year",
    # arrays, maps, structs
    exp.Array: "array",
    exp.ArrayAppend: "array_append",
    exp.ArrayCompact: "array_compact",
    exp.ArrayConcat: "array_concat",
    exp.ArrayContains: "array_contains",
    exp.ArrayDistinct: "array_distinct",
    exp.ArrayExcept: "array_except",
    exp.ArrayFilter: "filter",
    exp.ArrayInsert: "array_insert",
    exp.ArrayIntersect: "array_intersect",
    exp.ArrayMax: "array_max",
    exp.ArrayMin: "array_min",
    exp.ArrayPosition: "array_position",
    exp.ArrayPrepend: "array_prepend",
    exp.ArrayRemove: "array_remove",
    exp.ArraySize: "size array_size",
    exp.ArraySlice: "slice",
    exp.ArraySort: "array_sort sort_array",
    exp.ArrayToString: "array_join",
    exp.ArraysZip: "arrays_zip",
    exp.Flatten: "flatten",
    exp.GenerateSeries: "sequence",
    exp.Map: "map_from_arrays",
    exp.MapContainsKey: "map_contains_key",
    exp.MapFromEntries: "map_from_entries",
    exp.MapKeys: "map_keys",
    exp.Reduce: "reduce aggregate",
    exp.Struct: "struct named_struct",
    exp.Transform: "transform",
    exp.VarMap: "map",
    # JSON
    exp.JSONExtract: "get_json_object",
    exp.JSONExtractScalar: "get_json_object",
    exp.JSONFormat: "to_json",
    exp.JSONKeys: "json_object_keys",
    exp.ParseJSON: "parse_json",
}

NAMED = _words(
    """
    arrays_overlap assert_true bin cardinality date_part datepart element_at hash
    jaro_winkler_similarity json_array_length make_date map_concat map_entries map_values
    octet_length printf st_asbinary st_geomfromwkb time_bucket timestamp_micros timestamp_millis
    timestamp_seconds to_timestamp_ltz try_element_at url_decode url_encode weekday
    """
)

CHANGING: tuple[Node, ...] = (
    *(exp.CurrentTimestamp, exp.CurrentTimestampLTZ, exp.CurrentDate, exp.CurrentDatetime),
    *(exp.CurrentTime, exp.Localtime, exp.Localtimestamp, exp.UtcTimestamp, exp.UtcDate),
    *(exp.Rand, exp.Randn, exp.Randstr, exp.Uniform, exp.Uuid, exp.UtcTime, exp.Systimestamp),
)
"""Functions of the clock and of chance."""
CHANGING_NAMES = _words(
    """
    now today curdate current_time get_current_timestamp get_current_time transaction_timestamp
    current_localtime current_localtimestamp age random setseed shuffle gen_random_uuid uuidv4
    uuidv7 nextval currval monotonically_increasing_id txid_current
    """
)
SESSION: tuple[Node, ...] = (
    *(exp.CurrentCatalog, exp.CurrentDatabase, exp.CurrentSchema, exp.CurrentUser),
    *(exp.SessionUser, exp.CurrentTimezone, exp.CurrentRole, exp.CurrentVersion),
)
SESSION_NAMES = _words(
    """
    current_query current_setting getenv getvariable input_file_name input_file_block_start
    input_file_block_length java_method pg_sleep reflect sleep sleep_ms spark_partition_id
    try_reflect user version write_log
    """
)
"""What tells of the session or the machine, or acts on it."""

NAMES = frozenset(name for names in FUNCTIONS.values() for name in names.split()) | NAMED
