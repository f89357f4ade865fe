"""Another project's `netloom`: its distribution on the index puts files into a folder of this package's name.

Whichever was installed last has its `__init__.py` there, and removing one takes files of the other. Ours is
`netloom-hpc` (docs/decisions/0045-what-an-install-brings.md).

Invariant: one listing of the folder that the package lies in, once a process; nothing is imported for it.
"""

from __future__ import annotations

import os

DISTRIBUTION = "netloom-hpc"
_OTHER = "netloom-"
_ENDINGS = (".dist-info", ".egg-info")

_told = False


def told(folder: str | None = None) -> str | None:
    """The line that says that another project's distribution lies beside this package; None if none does.

    Parameters
    ----------
    folder : str, optional
        Where packages are installed. [default: where this one is]

    Returns
    -------
    str, optional

    Examples
    --------
    >>> told("no such folder") is None
    True
    """
    if folder is None:
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        folder = os.path.dirname(package)
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    for name in names:
        if name.startswith(_OTHER) and name.endswith(_ENDINGS):
            version = name.removeprefix(_OTHER).rpartition(".")[0].partition("-")[0]
            return (
                f"another project's distribution, netloom {version}, is in the same folder: "
                f"pip uninstall netloom, then install {DISTRIBUTION} again"
            )
    return None


def warn() -> None:
    """Warns once a process, where there is something to warn of."""
    global _told
    if _told:
        return
    _told = True
    found = told()
    if found is not None:
        import warnings

        warnings.warn(found, stacklevel=3)
