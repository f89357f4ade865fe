"""`netloom optimize`."""
