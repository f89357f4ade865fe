"""`netloom noise`."""
