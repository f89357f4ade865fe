"""What ends a computation from outside, where it may still return what it has."""

from __future__ import annotations


class Interruption(KeyboardInterrupt):
    """What ends a command: a computation that has something returns it, anything else ends as of Ctrl-C."""

    lets_return = True
    """What the core looks for (`crates/python/src/run.rs`)."""
