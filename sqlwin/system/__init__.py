"""What the machine has for sqlwin: secrets of its environment, a cache folder, an HTTP server."""
