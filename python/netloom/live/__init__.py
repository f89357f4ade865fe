"""Real subnet managers: OpenSM on a simulated fabric (`ibsim`), without hardware.

Idea: one context manager a process, one folder for all that they write, bounds on every wait.
Invariant: no process survives its `with` block, an exception, Ctrl-C, or the death of Python itself.
"""

from netloom.live.ibsim import Ibsim
from netloom.live.opensm import OpenSM
from netloom.live.process import missing_tools

__all__ = ["Ibsim", "OpenSM", "missing_tools"]
