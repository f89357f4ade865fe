"""A worker process of the local pool: batches as lines of JSON in, what became of them out."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Works until standard input ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    from netloom.sweeps.work import run_batch

    # What a library prints must not be taken for an answer.
    answers = os.dup(1)
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        try:
            answer: dict[str, object] = {"result": run_batch(*json.loads(line))}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        rest = memoryview(json.dumps(answer).encode() + b"\n")
        while rest:
            rest = rest[os.write(answers, rest) :]
