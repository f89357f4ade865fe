"""`netloom trace`: what recorded programs did, in order."""
