"""Matplotlib, without the settings of whoever wrote a `matplotlibrc` into the folder at hand.

Matplotlib reads that file when it is imported, before that of the user. A folder may be shared, so it is
imported from the root folder, and pictures look the same everywhere.
"""

from __future__ import annotations

import contextlib
import os

_here = None
with contextlib.suppress(OSError):
    _here = os.getcwd()
    os.chdir("/")
try:
    import matplotlib
finally:
    if _here is not None:
        os.chdir(_here)
matplotlib.rcdefaults()

__all__ = ["matplotlib"]
