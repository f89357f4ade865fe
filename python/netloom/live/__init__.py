"""Fabrics as they are: diagnostics, subnet managers; OpenSM on a simulated fabric (`ibsim`).

Idea: one context manager a process, one folder for all that they write, bounds on every wait.
Invariant: no process survives its `with` block, an exception, Ctrl-C, or the death of Python itself.
"""

from netloom.live.access import Access
from netloom.live.ibsim import Ibsim
from netloom.live.manager import Manager, Problem
from netloom.live.opensm import OpenSM
from netloom.live.process import missing_tools
from netloom.live.subnet_managers import Peer, peers, rivals

__all__ = ["Access", "Ibsim", "Manager", "OpenSM", "Peer", "Problem", "missing_tools", "peers", "rivals"]
