"""`netloom dataplane`: path sampling in real packets."""
