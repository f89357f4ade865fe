"""`netloom lanes`, and lane schemes as files."""
