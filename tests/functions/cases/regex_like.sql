s LIKE 'a%'
s LIKE '%c'
s LIKE '%b%'
s LIKE '_'
s LIKE '___'
s LIKE 'a_c'
s LIKE 'a\_c'
s LIKE 'a\%c'
s LIKE 'a\\c'
s LIKE 'a\\\\c'
s LIKE ''
s LIKE '%'
s LIKE '%%'
s LIKE s2
s LIKE s_pat
s LIKE NULL
s NOT LIKE 'a%'
s NOT LIKE s2
s LIKE 'a!_c' ESCAPE '!'
s LIKE 'a/%c' ESCAPE '/'
s LIKE '%!' ESCAPE '!'
s LIKE 'a!bc' ESCAPE '!'
s LIKE s_pat ESCAPE '^'
'a\\' LIKE 'a\\'
'a_c' LIKE 'a\_c'
'abc' LIKE 'a\_c'
'a%c' LIKE r'a\%c'
s LIKE r'a\_c'
s LIKE r'a\\c'
s LIKE '😀'
s LIKE '_😀_'
s LIKE '%é'
s LIKE '%\n%'
s ILIKE 'A%'
s ILIKE 'ABC'
s ILIKE '%É'
s ILIKE s2
s NOT ILIKE 'A%'
s ILIKE 'a\_C'
s ILIKE 'a!_C' ESCAPE '!'
s ILIKE 'SS'
like(s, 'a%')
like(s, s2)
like(s, 'a/_c', '/')
ilike(s, 'A%')
ilike(s, 'A/_C', '/')
s LIKE ANY ('a%', '%c')
s LIKE ANY ('a%', NULL)
s LIKE ALL ('a%', '%c')
s LIKE ALL ('a%', NULL)
s NOT LIKE ANY ('a%', '%c')
s NOT LIKE ALL ('a%', '%c')
s LIKE SOME ('a%', 'x')
s ILIKE ANY ('A%', '%C')
s ILIKE ALL ('A%', '%C')
i LIKE '1%'
dt LIKE '2024%'
d LIKE '%.5'
s RLIKE 'a'
s RLIKE '^a'
s RLIKE 'c$'
s RLIKE '^[a-c]+$'
s RLIKE '\\d+'
s RLIKE r'\d+'
s RLIKE '(?i)ABC'
s RLIKE ''
s RLIKE s_pat
s RLIKE '.'
s RLIKE '^.$'
s RLIKE '\\bHello\\b'
s RLIKE '\\p{L}'
s RLIKE '\\p{Lu}'
s RLIKE '(a)\\1'
s RLIKE 'a(?=b)'
s RLIKE '(?<!a)b'
s RLIKE 'é'
s RLIKE '(?u)\\w+'
s RLIKE '[^\\x00-\\x7F]'
s RLIKE '\\s'
s RLIKE 'a++b'
s RLIKE '(?s)line.end'
s RLIKE '(?m)^end'
s RLIKE '\\R'
s RLIKE '\\h'
s NOT RLIKE 'a'
s REGEXP 'b'
rlike(s, 'a')
regexp(s, 'a|b')
regexp_like(s, '^a.c$')
regexp_like(s, s_pat)
regexp_replace(s, 'a', 'X')
regexp_replace(s, '(a)(b)', '$2 $1')
regexp_replace(s, '(\\w+) (\\w+)', '$2 $1')
regexp_replace(s, r'(\w+) (\w+)', '$2,$1')
regexp_replace(s, '', '-')
regexp_replace(s, 'x*', '-')
regexp_replace(s, '[abc]+', '')
regexp_replace(s, 'a', '\\$')
regexp_replace(s, 'a', '$0$0')
regexp_replace(s, 'a', '$1')
regexp_replace(s, '(?<first>a)', '${first}!')
regexp_replace(s, 'a', '\\\\')
regexp_replace(s, s_pat, 'X')
regexp_replace(s, 'a', s2)
regexp_replace(s, 'a', 'X', 2)
regexp_replace(s, 'a', 'X', 100)
regexp_replace(s, 'a', 'X', 0)
regexp_replace(s, 'a', 'X', i2)
regexp_replace(s, '(?i)A', 'X')
regexp_replace(s, '\\s+', ' ')
regexp_replace(s, '.', '*')
regexp_replace(s, '^', '>')
regexp_replace(s, '$', '<')
regexp_replace(s, 'é', 'e')
regexp_replace(s, '\\p{L}', 'L')
regexp_replace(s, NULL, 'X')
regexp_extract(s, '(a)(b)')
regexp_extract(s, '(a)(b)?', 0)
regexp_extract(s, '(a)(b)?', 1)
regexp_extract(s, '(a)(b)?', 2)
regexp_extract(s, '(a)', 2)
regexp_extract(s, '(a)', -1)
regexp_extract(s, '([a-z]+)', 1)
regexp_extract(s, '(\\d+)-(\\d+)', 2)
regexp_extract(s, s_pat, 0)
regexp_extract(s, 'a', 0)
regexp_extract(s, 'a')
regexp_extract(s, '(b|c)', i2)
regexp_extract_all(s, '(a)')
regexp_extract_all(s, '(a)(b)', 2)
regexp_extract_all(s, '[abc]', 0)
regexp_extract_all(s, '(b|(c))', 2)
regexp_extract_all(s, s_pat, 0)
regexp_extract_all(s, 'a', 1)
regexp_count(s, 'a')
regexp_count(s, '[abc]')
regexp_count(s, '')
regexp_count(s, s_pat)
regexp_count(s, '.')
regexp_instr(s, 'b')
regexp_instr(s, 'b', 0)
regexp_instr(s, s_pat)
regexp_instr(s, '😀|é')
regexp_substr(s, '[bc]+')
regexp_substr(s, s_pat)
regexp_substr(s, 'nothing')
split(s, '[,\\s]')
split(s, '(?=a)')
split(s, '\\|')
split(s, '.')
split(s, s_pat)
split(s, s_pat, 2)
