CASE WHEN b THEN i END
CASE WHEN b THEN i ELSE i2 END
CASE WHEN b THEN i ELSE l2 END
CASE WHEN b THEN i ELSE d2 END
CASE WHEN b THEN i ELSE dec2 END
CASE WHEN b THEN dec ELSE big2 END
CASE WHEN b THEN dec ELSE d2 END
CASE WHEN b THEN f ELSE d2 END
CASE WHEN b THEN l ELSE f2 END
CASE WHEN b THEN t ELSE h2 END
CASE WHEN b THEN s ELSE s2 END
CASE WHEN b THEN s ELSE 'x' END
CASE WHEN b THEN i ELSE 'x' END
CASE WHEN b THEN i ELSE '7' END
CASE WHEN b THEN s_num ELSE i2 END
CASE WHEN b THEN dt ELSE ts2 END
CASE WHEN b THEN dt ELSE '2024-01-01' END
CASE WHEN b THEN ai ELSE ai2 END
CASE WHEN b THEN ai ELSE da2 END
CASE WHEN b THEN st ELSE st2 END
CASE WHEN b THEN m ELSE m2 END
CASE WHEN b THEN NULL ELSE i END
CASE WHEN b THEN 1 WHEN b2 THEN 2.5 ELSE 3L END
CASE i WHEN 1 THEN 'one' WHEN 2 THEN 'two' ELSE 'many' END
CASE i WHEN i2 THEN 'same' END
CASE i WHEN NULL THEN 'null' ELSE 'other' END
CASE s WHEN 'a' THEN 1 WHEN 'abc' THEN 2 END
CASE i WHEN '1' THEN 'one' END
CASE d WHEN 0 THEN 'zero' WHEN 1.5 THEN 'x' END
CASE WHEN i > 0 THEN 'p' WHEN i < 0 THEN 'n' ELSE 'z' END
CASE WHEN i2 = 0 THEN 0 ELSE i / i2 END
CASE WHEN i2 <> 0 THEN i % i2 END
CASE WHEN b THEN i ELSE b2 END
CASE WHEN b THEN bin ELSE bin2 END
CASE WHEN i THEN 1 END
if(b, i, i2)
if(b, i, l2)
if(b, i, d2)
if(b, dec, i2)
if(b, s, s2)
if(b, i, 'x')
if(b, dt, ts2)
if(b, NULL, i)
if(i > 0, 1, 'a')
if(i2 = 0, NULL, i / i2)
iff(b, i, i2)
coalesce(i, i2)
coalesce(i, l2)
coalesce(i, d2)
coalesce(i, 0)
coalesce(i, 0.5)
coalesce(dec, 0)
coalesce(dec, big2)
coalesce(s, s2, 'z')
coalesce(s, i)
coalesce(i, 'x')
coalesce(NULL, i)
coalesce(dt, ts2)
coalesce(ai, ai2)
coalesce(st, st2)
coalesce(i)
coalesce()
coalesce(i2, i / i2)
nvl(i, i2)
nvl(s, 'x')
nvl(i, 'x')
nvl(i, 1.5)
nvl(dt, '2024-01-01')
ifnull(i, i2)
ifnull(s, s2)
ifnull(i, l2)
nvl2(i, i2, l2)
nvl2(i, 'yes', 'no')
nvl2(s, s2, 1)
nullif(i, i2)
nullif(i, 1)
nullif(i, '1')
nullif(i, d2)
nullif(s, s2)
nullif(s, '')
nullif(d, d2)
nullif(d, 0)
nullif(dt, dt2)
nullif(dt, ts2)
nullif(NULL, i)
nullifzero(i)
nullifzero(d)
nullifzero(dec)
zeroifnull(i)
zeroifnull(d)
zeroifnull(dec)
zeroifnull(s)
isnull(i)
isnull(s)
isnotnull(i)
isnotnull(s)
i IS NULL
i IS NOT NULL
d IS NULL
st IS NULL
ai IS NOT NULL
b IS TRUE
b IS NOT TRUE
b IS FALSE
b IS NOT FALSE
b IS UNKNOWN
b IS NOT UNKNOWN
i IS DISTINCT FROM i2
i IS NOT DISTINCT FROM i2
d IS DISTINCT FROM d2
s IS DISTINCT FROM s2
s IS NOT DISTINCT FROM NULL
equal_null(i, i2)
equal_null(d, d2)
equal_null(s, s2)
isnan(d)
isnan(f)
isnan(i)
isnan(s_num)
nanvl(d, d2)
nanvl(f, f2)
nanvl(f, d2)
nanvl(d, i)
greatest(i, i2)
greatest(i, l2)
greatest(i, d2)
greatest(d, d2)
greatest(f, f2)
greatest(dec, dec2)
greatest(dec, big2)
greatest(s, s2)
greatest(dt, dt2)
greatest(dt, ts2)
greatest(ts, ts2)
greatest(i, i2, 3)
greatest(i, NULL)
greatest(i)
greatest(s, i)
greatest(b, b2)
greatest(i, '7')
greatest(ai, ai2)
least(i, i2)
least(i, l2)
least(d, d2)
least(f, d2)
least(dec, i2)
least(s, s2)
least(dt, dt2)
least(ts, dt2)
least(i, i2, 3, NULL)
least(b, b2)
decode(i, 1, 'one', 2, 'two', 'other')
decode(i, 1, 'one', 2, 'two')
decode(i, NULL, 'null', 1, 'one')
decode(s, 'a', 1, 'abc', 2, 3)
decode(i, i2, 'same', 'other')
assert_true(i > -100)
assert_true(b, 'b is false')
raise_error('no')
raise_error(s)
if(i > 0, raise_error('positive'), i)
typeof(i)
typeof(dec)
typeof(big + big2)
typeof(ai)
typeof(st)
typeof(m)
typeof(NULL)
typeof(i + d)
typeof(INTERVAL '1' DAY)
typeof(1.5)
typeof(1)
typeof(dt - dt2)
typeof(ts - ts2)
