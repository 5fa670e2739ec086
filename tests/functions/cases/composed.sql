-- an argument that may fail beside a NULL
dt - (100 - i) % 100
date_add(dt, abs(i) % 100)
date_sub(dt, abs(i) % 100)
add_months(dt, abs(i) % 100)
next_day(dt, CAST(abs(i) AS STRING))
datediff(dt, date_add(dt2, abs(i) % 100))
date_format(ts, CAST(CAST(l AS INT) % 1 AS STRING))
make_date(i2, CAST(l AS INT), 1)
months_between(ts, CAST(date_add(dt2, abs(i) % 100) AS TIMESTAMP))
substring(s, CAST(l AS INT))
substring(s, i2, CAST(l AS INT))
left(s, CAST(l AS INT))
right(s, CAST(l AS INT))
repeat(s, CAST(l AS INT) % 4)
lpad(s, CAST(l AS INT) % 40, s2)
replace(s, s2, CAST(CAST(l AS INT) AS STRING))
translate(s, s2, CAST(CAST(l AS INT) AS STRING))
substring_index(s, s2, CAST(l AS INT))
split_part(s, s2, CAST(l AS INT))
overlay(s, s2, CAST(l AS INT))
instr(s, CAST(CAST(l AS INT) AS STRING))
contains(s, CAST(CAST(l AS INT) AS STRING))
startswith(s, CAST(CAST(l AS INT) AS STRING))
find_in_set(s, CAST(CAST(l AS INT) AS STRING))
s LIKE CAST(CAST(l AS INT) AS STRING)
s RLIKE CAST(CAST(l AS INT) AS STRING)
regexp_replace(s, 'a', CAST(CAST(l AS INT) AS STRING))
regexp_extract(s, '(a)(b)', CAST(l AS INT))
split(s, CAST(CAST(l AS INT) AS STRING))
concat(s, CAST(CAST(l AS INT) AS STRING))
s || CAST(l AS INT)
s = CAST(CAST(l AS INT) AS STRING)
i < CAST(l AS INT)
i >= CAST(l AS INT)
i + CAST(l AS INT)
i & CAST(l AS INT)
i << CAST(l AS INT)
bit_get(i, CAST(l AS INT))
CAST(l AS INT) % i
CAST(l AS INT) DIV i
pmod(CAST(l AS INT), i)
d / CAST(l AS INT)
CAST(l AS INT) / d
pow(d, CAST(l AS INT))
atan2(d, CAST(l AS INT))
hypot(d, CAST(l AS INT))
log(d, CAST(l AS INT))
conv(s_num, 10, CAST(l AS INT))
format_number(d, CAST(l AS INT) % 5)
nullif(i, CAST(l AS INT))
element_at(ai, CAST(l AS INT))
try_element_at(ai, CAST(l AS INT))
get(ai, CAST(l AS INT))
array_position(ai, CAST(l AS INT))
array_contains(ai, CAST(l AS INT))
array_remove(ai, CAST(l AS INT))
array_append(ai, CAST(l AS INT))
slice(ai, CAST(l AS INT), 1)
array_union(ai, array(CAST(l AS INT)))
array_except(ai, array(CAST(l AS INT)))
array_intersect(ai, array(CAST(l AS INT)))
arrays_overlap(ai, array(CAST(l AS INT)))
map_contains_key(m, CAST(CAST(l AS INT) AS STRING))
map_from_arrays(sa, array(CAST(l AS INT)))
greatest(i, CAST(l AS INT))
concat_ws(s, CAST(CAST(l AS INT) AS STRING))
levenshtein(s, CAST(CAST(l AS INT) AS STRING))
i IN (CAST(l AS INT), 1 % i2)
i BETWEEN CAST(l AS INT) AND 1 % i2
-- beside a NULL that is one for every row
CAST(l AS INT) + NULL
CAST(l AS INT) + CAST(NULL AS INT)
CAST(NULL AS INT) * CAST(l AS INT)
(1 / i) / NULL
CAST(l AS INT) < NULL
concat(CAST(CAST(l AS INT) AS STRING), CAST(NULL AS STRING))
concat(CAST(NULL AS STRING), CAST(CAST(l AS INT) AS STRING))
substring(CAST(CAST(l AS INT) AS STRING), CAST(NULL AS INT))
date_add(date_add(dt, CAST(l AS INT)), CAST(NULL AS INT))
year(date_add(dt, CAST(NULL AS INT))) + CAST(l AS INT)
TRY_CAST('x' AS INT) + CAST(l AS INT)
nullif(CAST(NULL AS INT), CAST(l AS INT))
nullif(CAST(l AS INT), CAST(NULL AS INT))
instr(trim(CAST(NULL AS STRING)), s) DIV (i * i2)
(CASE WHEN NULL THEN 1 END) + CAST(l AS INT)
if(NULL, CAST(l AS INT), 3)
greatest(CAST(l AS INT), NULL)
-- chains of one sign
i + 1 + i2
i + 5 + -5
1 + i + 2147483647
l + (-5 + l)
i * 2 * i2
i * 100 * CAST(d AS INT)
try_add(i + 1, i2) + 1
try_add(i, 1) + i2 + 1
try_add(i + 2147483647, 1)
try_multiply(i, 2) * 3
try_multiply(i * 2, 3)
i + 1 - 1
i + 1 + 2L
100 * 1 + i
i + (CASE WHEN TRUE THEN 1 + i ELSE 0 END)
-- comparisons with sums
l + 1 > 0
0 < l - 1
nullif(1L, 101 + l2)
-l > 0
i * 2 = 4
-- not computed
coalesce(dayofweek(DATE '2024-02-29'), pmod(i2, i) ^ i)
coalesce(i, pmod(i2, i) ^ i)
CASE WHEN i IS NULL THEN 0 ELSE pmod(i2, i) ^ i END
CASE WHEN TRUE THEN s ELSE raise_error('x') END
(1 % 0) BETWEEN 1 AND (- i)
nullif(1, CAST(3000000000 AS INT))
dt - (- CAST(sqrt(-2D) AS INT)) % 100
-- numbers of many digits as decimals
CAST(d AS DECIMAL(20, 4))
CAST(d AS DECIMAL(38, 20))
TRY_CAST(d AS DECIMAL(20, 4))
CAST(s_num AS DECIMAL(20, 4))
CAST('9.223372036854776e+18' AS DECIMAL(20, 4))
TRY_CAST(concat('9.223372036854776e+1', i) AS DECIMAL(20, 4))
CAST(concat('1', 'e-400') AS DECIMAL(20, 4))
-- texts
replace('', '', s)
replace('a', '', s2)
overlay('abcdefgh' PLACING s2 FROM i2)
overlay('abcdefgh' PLACING 'XY' FROM i2 FOR i)
format_string('%e', d * 1e-300)
format_number(d, '#,##0.00%')
map(-0.0D, 1, 1D, 2)
array_length(ai)
strpos(s, 'a')
iif(b, 1, 2)
truncate(d, 1)
CASE WHEN NULL THEN 1 END
CASE WHEN s THEN 1 END
if(s, 1, 2)
CASE WHEN 'true' THEN 1 END
if('true', 1, 2)
CASE WHEN nullif(NULL, 1) THEN 1 END
CASE WHEN TRUE THEN 1 WHEN NULL THEN 2 END
CASE WHEN b THEN 1 WHEN NULL THEN 2 END
if(nullif(NULL, 1), 1, 2)
nvl2(NULL, 1, 2)
map(-(0D), 1)
map(d * -0D, 1)
map(CAST('-0' AS DOUBLE), 1)
map(CAST('-0' AS FLOAT), 1)
map(-(0D), i)
map_from_arrays(array(-(0D)), array(1))
map_from_arrays(array(-0D), array(1))
map_from_entries(array(struct(-0D, 1)))
map_concat(map(1D, 1), map(-(0D), 1))
map(array(-0D), 1)
map(struct(-0D), 1)
ceil(-9223372036854775808D)
floor(-9223372036854775808D)
ceil(-9223372036854777856D)
ceil(CAST(l AS DOUBLE))
floor(CAST(l AS DOUBLE))
l DIV (0 % i2)
TRY_CAST(s AS BIGINT) % (5 DIV i2)
TRY_CAST(s AS DOUBLE) / (i DIV i2)
try_add(i, (-5 + levenshtein('Ab c', '')))
i + (length('abc') - 5) + 2
b AND 1 / 0 > 1
FALSE AND 1 / 0 > 1 AND b
b OR 1 / 0 > 1
b AND CAST('x' AS INT) > 1
coalesce(i, 1 / 0)
coalesce(1 / 0, i)
nullif(i, 1 DIV 0)
nullif(1 DIV 0, i)
i + NULL * (1 DIV 0)
greatest(i, CAST(NULL AS INT) + l * (1 DIV 0))
greatest(i, try_add(l2, CAST('x' AS INT)))
transform(ai, x -> x + 1 DIV 0)
filter(ai, x -> 1 DIV 0 > x)
CASE WHEN b THEN 1 DIV 0 ELSE 1 END
CASE WHEN 1 DIV 0 > i THEN 1 ELSE 2 END
CASE WHEN b THEN 1 WHEN 1 DIV 0 > i THEN 2 END
CASE i WHEN 1 DIV 0 THEN 1 END
if(b, 1, 1 DIV 0)
nvl2(i, 1, 1 DIV 0)
decode(i, 1 DIV 0, 2, 3)
decode(i, 1, 1 DIV 0, 3)
i IN (1, 1 DIV 0)
try_to_timestamp(s, CAST(1 DIV 0 AS STRING))
try_divide(1, 1 DIV 0) + i
try_element_at(ai, CAST(1 DIV 0 AS INT))
i BETWEEN l AND 1 DIV 0
struct(i, 1 DIV 0).col1
array(i, CAST(1 DIV 0 AS INT))[0]
i + CASE WHEN TRUE THEN NULL END * CAST(l2 + CAST('x' AS INT) AS INT)
s LIKE CAST(1 DIV 0 AS STRING)
1 DIV 0 IS NULL
(1 DIV 0) <=> i
abs((coalesce(TRY_CAST(s AS BIGINT), nullif(3000000000, 3000000000)) DIV ((i - 0) * (0 % i2))))
greatest(abs(CAST(abs(dec) AS DECIMAL(8, 1))), (CASE WHEN b THEN CAST(CAST(NULL AS INT) AS DECIMAL(12, 2)) ELSE coalesce(dec2, dec2) END % coalesce((dec / dec), greatest(dec, 1.5))))
((coalesce(TRY_CAST('é😀' AS BIGINT), nullif(1L, 1L)) DIV month(greatest(dt2, dt))) % ceil(least((-5 / 0), (d * d))))
greatest(nullif((CAST(1.5 AS INT) & if(b2, 1, i)), length(('' || i))), try_add(CASE WHEN (i = i) THEN (100 & 0) WHEN (1.5 < dec) THEN coalesce(0, CAST(NULL AS INT)) END, CAST(unix_micros(TIMESTAMP '2024-02-29 10:11:12.5') AS INT)))
(least(year(next_day(dt, 'MON')), nullif((i & CAST(NULL AS INT)), -5)) ^ try_add(i, (-5 + levenshtein('Ab c', ''))))
