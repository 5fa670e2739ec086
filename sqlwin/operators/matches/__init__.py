"""MATCH_RECOGNIZE: matches of a pattern among the rows of each partition."""
