"""State as segments: files of records, each of a slice of time, merged and evicted whole."""
