struct(i, s)
struct(i, s AS z)
struct(1, 'a', i)
struct(i + 1, upper(s))
struct()
struct(st)
struct(st.a, m['a'])
(i, s)
(1, 2)
named_struct('x', i, 'y', s)
named_struct('x', 1, 'x', 2)
named_struct('x')
named_struct(s, 1)
named_struct('x', NULL)
named_struct(NULL, 1)
named_struct()
named_struct('a b', 1)
st.a
st.A
st.b
st.c
named_struct('X', i).x
named_struct('x', 1, 'X', 2).x
named_struct('p', st).p.b
struct(i, s).col1
struct(i, s).i
struct(1, s).col1
(1, 2).col2
st = st2
st < st2
st <=> st2
array(st)
struct(i2 AS I2)
st['a']
st[0]
st IN (st2)
struct(st.a AS q, st.b)
struct(CAST(i AS string))
struct(CAST(i AS string) AS n, dt, ts)
struct(ai[0])
struct(-1)
struct(coalesce(i, 1))
struct(NULL)
struct(current_date() IS NULL)
