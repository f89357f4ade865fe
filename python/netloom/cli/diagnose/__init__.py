"""`netloom diagnose`."""
