"""A scenario simulated under every routing, with checkpoints, and again and again with one thing varied."""
