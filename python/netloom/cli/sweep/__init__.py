"""Parameter sweeps: a scenario again and again with keys varied, as one table."""
