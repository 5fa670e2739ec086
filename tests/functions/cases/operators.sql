-- arithmetic of every type with itself
t + t2
t - t2
t * t2
h + h2
h - h2
h * h2
i + i2
i - i2
i * i2
l + l2
l - l2
l * l2
f + f2
f - f2
f * f2
d + d2
d - d2
d * d2
dec + dec2
dec - dec2
dec * dec2
big + big2
big - big2
big * big2
n38 + n38b
n38 - n38b
n38 * n38b
t / t2
i / i2
l / l2
f / f2
d / d2
dec / dec2
big / big2
n38 / n38b
t % t2
h % h2
i % i2
l % l2
f % f2
d % d2
dec % dec2
big % big2
n38 % n38b
mod(i, i2)
mod(d, d2)
mod(dec, dec2)
t DIV t2
i DIV i2
l DIV l2
dec DIV dec2
big DIV big2
n38 DIV n38b
-t
-h
-i
-l
-f
-d
-dec
-big
-n38
+i
+d
- -i
negative(i)
negative(l)
negative(d)
negative(dec)
positive(i)
positive(dec)
-- of two types
t + h2
t + i2
h * i2
i + l2
t * 2
t + 1000
h + 1
i + 1
i * 2
i + 1L
i + 1.5
i + 1.5D
i * 0.1
l + 1
l * 2.5
i + f2
l + f2
i + d2
l + d2
f + d2
f * 0.1
d + 0.1
i + dec2
l * dec2
t + dec2
dec + 1
dec * 2
dec * 1.5
dec * i2
dec / i2
dec / 3
dec % 3
dec + big2
dec * big2
dec / big2
big / dec2
big + n38b
n38 + dec2
n38 * big2
n38 / 7
dec + d2
dec * f2
big * d2
dec DIV 3
i DIV 2
i / 2
i % 3
l % 10
d % 3
d / 0
i / 0
dec / 0
i % 0
d % 0
i DIV 0
1 / 0
1.0 / 3
10 / 4
10 DIV 4
-7 DIV 2
-7 % 3
5.5 % 2
1.5 + 2
0.1 + 0.2
0.1D + 0.2D
1e0 + 1
9223372036854775807 + 1
2147483647 + 1
127Y + 1Y
32767S + 1S
1.1 * 1.1
1 / 3.0
-- texts among numbers
i + '1'
i - '1'
'2' * i
i / '2'
i + s_num
l + s_num
d + s_num
dec + s_num
f + s_num
s_num + s_num
-s_num
s_num % 3
i % '3'
i DIV '2'
-- comparison
b = b2
b < b2
b >= b2
t = t2
t < h2
i = i2
i <> i2
i != i2
i < i2
i <= i2
i > i2
i >= i2
i <=> i2
l = l2
l < i2
f = f2
f < f2
f = 0.1
f = 0.1D
f < 1.1
f > d2
d = d2
d < d2
d <= d2
d > d2
d >= d2
d <=> d2
d <> d2
d = 0
d = i2
d < dec2
d = 0.1
dec = dec2
dec < dec2
dec = big2
dec > i2
dec = 1.5
dec = 1.005
i = dec2
i = 1.5
i < 2.5
l = d2
l < f2
n38 = big2
n38 > dec2
s = s2
s < s2
s >= s2
s <=> s2
s <> s2
s = 'a'
bin = bin2
bin < bin2
bin >= bin2
dt = dt2
dt < dt2
dt >= dt2
ts = ts2
ts < ts2
ts <=> ts2
ts > dt2
dt = ts2
dt < ts
ai = ai2
ai < ai2
ai <=> ai2
ai > ai2
sa = sa2
sa < sa2
da = da2
da < da2
da <=> da2
st = st2
st < st2
st <=> st2
st >= st2
m = m2
-- comparison with texts
i = s_num
l < s_num
d = s_num
dec = s_num
f > s_num
b = s_num
s_num = 1
s_num > 1.5
1.5 = '1.51'
i = '1'
i > '1.5'
d > '1.5'
dec = '1.5'
b = 'true'
b = 't'
b = 1
b = i2
dt = '2024-02-29'
dt > '2024'
dt = s_date
dt < s_date
ts = '2024-02-29 10:11:12'
ts > '2024-02-29'
ts = s_date
ts < s_date
'2024-02-29' = dt
s_date = dt2
i IN ('1', '2')
dt IN ('2024-02-29', '1970-01-01')
bin = 'abc'
-- logic
b AND b2
b OR b2
NOT b
! b
b AND NOT b2 OR b2
b AND i > 0
i > 0 OR d > 0
NOT i = 1
b <=> b2
b AND NULL
b OR NULL
NULL AND FALSE
i AND b
-- sets and ranges
i IN (1, 2, 3)
i IN (1, NULL)
i NOT IN (1, 2)
i NOT IN (1, NULL)
i IN (i2, 5)
i IN (1L, 2.5)
s IN ('a', 'abc', '')
s NOT IN ('a', s2)
d IN (0, 1.5)
d IN (d2)
dec IN (1.5, 2)
dt IN (dt2)
ts IN (ts2)
i BETWEEN 1 AND 5
i NOT BETWEEN 1 AND 5
i BETWEEN i2 AND 10
d BETWEEN 0 AND 2
d BETWEEN -1 AND d2
s BETWEEN 'a' AND 'c'
dt BETWEEN '2024-01-01' AND '2024-12-31'
ts BETWEEN ts2 AND TIMESTAMP '2024-12-31 00:00:00'
st IN (st2)
ai IN (ai2)
(i, s) = (1, 'a')
(i, i2) IN ((1, 1), (2, 3))
-- bits
t & t2
h | h2
i & i2
i | i2
i ^ i2
l & l2
l | l2
l ^ l2
~t
~h
~i
~l
i & l2
t | i2
a & 1
i & 1 = 1
i & i2 | 1
i | i2 & 3
i ^ i2 & 7
i << 1
i << i2
i >> 1
i >> i2
i >>> 1
i >>> i2
l << i2
l >> i2
l >>> i2
i & i2 >> 1
1 + 2 << 3
i + 1 << 1
shiftleft(i, i2)
shiftright(i, i2)
shiftrightunsigned(i, i2)
shiftleft(l, 3)
shiftright(l, 65)
shiftrightunsigned(l, 1)
shiftleft(t, 1)
shiftright(h, 1)
bit_count(t)
bit_count(i)
bit_count(l)
bit_count(b)
bit_get(i, 0)
bit_get(i, 31)
bit_get(l, 63)
bit_get(i, i2)
getbit(t, 7)
getbit(t, 8)
getbit(l, i2)
i & 1.5
d & 1
-- precedence
i + i2 * 2
(i + i2) * 2
-i * 2
i - -i2
i % 3 * 2
i = 1 = true
NOT b = b2
i < 5 AND i > 0 OR b
i + 1 = i2 - 1
i || i2
s || s2
i || s
2 - 1 - 1
100 / 10 / 5
8 DIV 3 DIV 2
i & 3 + 1
~i & 3
-- constants
1Y
1S
1L
1.5
1.50BD
1.5F
1.5D
1e3
1E-3
.5
X'1F'
TRUE
NULL
'a'
DATE '2024-02-29'
TIMESTAMP '2024-02-29 10:11:12.5'
TIMESTAMP '2024-02-29 10:11:12+02:00'
INTERVAL '1' DAY
INTERVAL '1-2' YEAR TO MONTH
