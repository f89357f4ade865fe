"""Minutes that jobs lose to their neighbours: from accounting, counters and routes."""
