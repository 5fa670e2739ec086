"""The session: a local one and its JVM, and what Spark Connect allows."""
