"""Spark SQL's functions and operators: what each takes, gives and computes, see `table`.

Imports go down only:

| room | |
|---|---|
| `table`, `resolve`, `dialects`, `differences` | all functions, and which overload a call is |
| `csv/` | FROM_CSV, TO_CSV |
| `json/`, `formats/` | FROM_JSON, GET_JSON_OBJECT; TO_CHAR, TO_NUMBER |
| `nested/`, `texts/`, `times/`, `numbers/`, `logic/` | a room for each kind of values |
| `regex/` | Java's regular expressions |
| `casts/` | CAST, and what operands become |
| `instants/` | the calendar, zones, ISO texts, patterns |
| `never` | what there will be no function for, and why |
| `core/` | types, signatures, entries, vectors over Arrow |
"""
