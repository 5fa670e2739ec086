"""The calendar, time zones, and instants as texts: over numbers, no SQL."""
