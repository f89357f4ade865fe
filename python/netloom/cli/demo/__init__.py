"""`netloom demo`."""
