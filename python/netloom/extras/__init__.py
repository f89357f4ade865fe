"""What a smaller install lacks: which extra brings which libraries, and the one line that says so.

`pip install netloom-hpc` brings what fabrics, traffic, routes, proofs, changes and simulation need. Libraries
that only some verbs use come with extras (docs/decisions/0045-what-an-install-brings.md).

`commas` writes CSV without PyArrow.

Invariant: this is the one place that decides whether a library is there, and that words it when it is not.
Nothing is imported to find out.
"""

from __future__ import annotations

import importlib.util
import sys

from netloom.errors import NotInstalledError

EXTRAS: dict[str, dict[str, str]] = {
    "plot": {"matplotlib": "Matplotlib"},
    "arrow": {"pyarrow": "PyArrow"},
    "scipy": {"scipy": "SciPy"},
    "exact": {"highspy": "HiGHS", "clarabel": "Clarabel", "scipy": "SciPy"},
    "dask": {"distributed": "Dask"},
    "gpu": {"cupy": "CuPy", "scipy": "SciPy"},
    "networkx": {"networkx": "networkx"},
    "pandas": {"pandas": "pandas", "pyarrow": "PyArrow"},
    "learn": {"sklearn": "scikit-learn"},
}
"""Each extra with the modules it brings, and their names."""


def need(*extras: str, library: str | None = None) -> None:
    """Goes on if all libraries of these extras are installed.

    Call it before anything is computed: who waits ten minutes for "not installed" has lost them.

    Parameters
    ----------
    extras : str
        Names of `EXTRAS`.
    library : str, optional
        Only this module of them. [default: all]

    Raises
    ------
    NotInstalledError
        Naming all libraries that are missing, and what to type.

    Examples
    --------
    >>> from netloom import extras
    >>> extras.need("scipy")
    """
    missing = [extra for extra in extras if not (has(extra) if library is None else _is_there(library))]
    if missing:
        raise NotInstalledError(told(*missing, library=library))


def has(extra: str) -> bool:
    """Whether all libraries of an extra are installed.

    Parameters
    ----------
    extra : str
        A name of `EXTRAS`.
    """
    return all(_is_there(module) for module in EXTRAS[extra])


def told(*extras: str, library: str | None = None) -> str:
    """The line for extras that are not there: `Matplotlib is not installed: pip install 'netloom-hpc[plot]'`.

    Parameters
    ----------
    extras : str
        Names of `EXTRAS`.
    library : str, optional
        The module that is missing. [default: those of the extras that are]
    """
    modules = {module: name for extra in extras for module, name in EXTRAS[extra].items()}
    names = [
        name for module, name in modules.items() if (module == library if library else not _is_there(module))
    ]
    are = "is" if len(names) == 1 else "are"
    return f"{' and '.join(names)} {are} not installed: pip install 'netloom-hpc[{','.join(extras)}]'"


def of_import(error: ImportError) -> str | None:
    """The line for an import that failed; None if no extra brings that module.

    Parameters
    ----------
    error : ImportError
        As Python raised it.
    """
    module = (error.name or "").partition(".")[0]
    for extra, modules in EXTRAS.items():
        if module in modules and not _is_there(module):
            return told(extra, library=module)
    return None


def _is_there(module: str) -> bool:
    if module in sys.modules:
        return sys.modules[module] is not None
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
