"""Java's regular expressions, translated for RE2 and Python's `regex`."""
