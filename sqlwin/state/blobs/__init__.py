"""Where segments lie: blobs in memory or in one SQLite file, with checksums and counted commits."""
