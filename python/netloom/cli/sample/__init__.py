"""`netloom sample`."""
