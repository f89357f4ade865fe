"""`netloom plan`: designs of a machine that is to be bought, and their report."""
