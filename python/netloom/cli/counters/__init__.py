"""`netloom counters`, and counters as other verbs take them."""
