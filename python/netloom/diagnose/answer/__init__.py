"""A diagnosis from its input to its result: of runs, and of real counters."""
