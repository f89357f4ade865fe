"""How commands end: exit codes, the usage error, and what `-` becomes."""

from __future__ import annotations

from netloom.session import STDIO as STDIO

FINDINGS, USAGE, INPUT, INTERNAL, INTERRUPTED = 1, 2, 3, 4, 130


class UsageError(Exception):
    """Arguments that are fine one by one but not together."""
