"""Pictures: what draws them, and plans as diagrams."""
