"""`netloom plot`."""
