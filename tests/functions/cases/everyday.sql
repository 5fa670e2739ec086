-- as users write them: several functions, constants, and what is read as another type
t * 2
-7 / 2
i * 1.1
round(d * 100) / 100
round(i * 100.0 / l2, 1)
round(dec * 0.19, 2)
CAST(dec * 100 AS INT)
CAST(d AS INT) % 10
CAST(s_num AS DOUBLE) * 2
CAST(i AS STRING) || '%'
i / 1000.0
l / 1000
l DIV 1000
floor(l / 3600) % 24
i % 2 = 0
i % 10 IN (1, 2, 3)
abs(i - i2) > 5
i BETWEEN 1 AND 10 AND s <> ''
NOT (i = 1 OR s = 'a')
i > 0 AND d / i > 1
CASE WHEN i < 0 THEN 'negative' WHEN i = 0 THEN 'zero' WHEN i < 100 THEN 'small' ELSE 'large' END
CASE WHEN s IS NULL OR trim(s) = '' THEN 'none' ELSE upper(trim(s)) END
CASE WHEN d > 100 THEN 100 ELSE d END
CASE WHEN i > 5 THEN dec ELSE 0 END
coalesce(CAST(TRY_CAST(s_num AS INT) AS STRING), 'no number')
coalesce(i, 0) + coalesce(i2, 0)
coalesce(d, 0.0)
coalesce(dec, 0.00)
nullif(d, 0.0)
i / nullif(i2, 0)
if(i2 = 0, 0, i / i2)
if(s LIKE 'a%', 'a', 'other')
greatest(least(i, 100), 0)
least(d, 1.0)
concat(upper(left(s, 1)), lower(substring(s, 2)))
concat(s, '-', CAST(i AS STRING))
concat_ws('/', s, i, dt)
split(s, ' ')[0]
split(s_date, '-')[1]
element_at(split(s, ','), -1)
size(split(s, ','))
length(s) > 3 AND s RLIKE '^[a-z]'
regexp_replace(s, '[^a-zA-Z]', '')
regexp_extract(s_url, '^https?://([^/]+)', 1)
regexp_extract(s_date, '(\\d{4})-(\\d{2})', 2)
substring_index(s_url, '/', 3)
lpad(CAST(i AS STRING), 6, '0')
replace(replace(s, 'a', ''), 'b', '')
lower(s) IN ('abc', 'hello world')
s || s2 = 'ab'
s > 'M'
s = 'ABC' OR lower(s) = 'abc'
date_trunc('HOUR', ts)
date_trunc('DAY', ts) = ts
CAST(ts AS DATE)
CAST(ts AS STRING)
CAST(dt AS STRING)
CAST(date_trunc('MONTH', ts) AS DATE)
date_format(ts, 'yyyy-MM-dd')
date_format(ts, 'HH:mm')
date_format(ts, 'EEE')
to_date(ts) = dt2
year(ts) * 100 + month(ts)
hour(ts) BETWEEN 9 AND 17
dayofweek(dt) IN (1, 7)
weekday(dt) < 5
minute(ts) DIV 15 * 15
unix_timestamp(ts) - unix_timestamp(ts2)
(unix_millis(ts) - unix_millis(ts2)) / 1000.0
timestamp_millis(unix_millis(ts) - unix_millis(ts) % 60000)
timestamp_seconds(unix_timestamp(ts) DIV 300 * 300)
datediff(ts, ts2) > 7
ts > ts2 + INTERVAL 1 HOUR
ts - INTERVAL '1' HOUR < ts2
ts BETWEEN ts2 AND ts2 + INTERVAL '10' MINUTES
dt >= DATE '2024-01-01' AND dt < DATE '2024-01-01' + INTERVAL '1' YEAR
dt > date_sub(dt2, 30)
add_months(dt, -12) = dt2
last_day(dt) = dt
months_between(dt, dt2) / 12
floor(months_between(dt, dt2) / 12)
from_unixtime(l2, 'yyyy-MM-dd')
to_timestamp(s_date, "yyyy-MM-dd'T'HH:mm:ss")
TRY_CAST(s_date AS DATE) = dt2
CAST(s_date AS DATE) > dt2
from_json(s_json, 'a INT').a + 1
get_json_object(s_json, '$.a') = '1'
CAST(get_json_object(s_json, '$.a') AS INT)
coalesce(get_json_object(s_json, '$.b'), 'none')
to_json(struct(i, s))
m['a'] > 0
coalesce(m['a'], 0)
ai[0] + ai[1]
array_contains(sa, s2) OR size(sa) = 0
st.a * 2
st.b || '!'
abs(hash(s)) % 4
pmod(hash(s), 4)
crc32(CAST(s AS BINARY))
sha2(s, 256)
md5(concat(s, s2))
base64(CAST(s AS BINARY))
CAST(unbase64(base64(CAST(s AS BINARY))) AS STRING)
isnull(s) OR s = ''
i IS NOT NULL AND d IS NOT NULL
CAST(b AS INT)
CAST(i > 0 AS INT) + CAST(d > 0 AS INT)
b = (i > 0)
sqrt(pow(d - d2, 2) + pow(f - f2, 2))
sign(d) * floor(abs(d))
ceil(d / 10) * 10
width_bucket(d, 0, 100, 10)
format_number(d, 2)
format_string('%05d', i)
format_string('%.2f', d)
printf('%s=%d', s, i)
