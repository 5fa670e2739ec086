"""Numbers, dates and instants by patterns."""
