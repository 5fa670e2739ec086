"""Functions of dates, instants and intervals."""
