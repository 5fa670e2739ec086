"""MATCH_RECOGNIZE: its pattern, its expressions, and the relation that it makes."""
