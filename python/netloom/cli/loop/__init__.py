"""`netloom loop`."""
