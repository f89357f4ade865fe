"""`netloom simulate`."""
