"""How commands end: exit codes, the usage error, and what `-` becomes."""

from __future__ import annotations

FINDINGS, USAGE, INPUT, INTERNAL, INTERRUPTED = 1, 2, 3, 4, 130

STDIO = "<stdin>"
"""What a lone `-` becomes before options are parsed: standard input, or standard output after `-o`."""


class UsageError(Exception):
    """Arguments that are fine one by one but not together."""
