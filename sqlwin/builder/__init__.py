"""A query built by calls instead of text; `sqlwin.stream(name, …)` begins one.

Every call makes a new `QueryBuilder`, which is a piece of SQL text with the streams that it reads.
The text goes through the one binder, so that a builder can say nothing that SQL cannot, and its
plan is that of its text. What is put into the text is checked where it is given: names are quoted,
durations are read, and an expression has to be one whole expression.
"""
