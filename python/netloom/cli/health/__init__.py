"""`netloom health`."""
