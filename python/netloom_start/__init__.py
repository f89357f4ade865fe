"""The command's first lines: Ctrl-C is understood before anything else is imported.

Importing `netloom.cli` takes a while, on a busy machine a tenth of a second: a Ctrl-C in it was a traceback.
From here on it ends the process with a word and exit code 130; `netloom.cli.main` then takes over. It is a
package of its own because a module of `netloom` would import that first. Whoever uses netloom as a library
never imports this.
"""

import _signal  # type: ignore[import-not-found]
import os

INTERRUPTED = 130
_NOT_OURS = 3
_AGAIN = (
    "the package netloom is not whole, or another project's: "
    "pip uninstall netloom netloom-hpc, then install netloom-hpc again"
)


def _end(*_: object) -> None:
    os.write(2, b"netloom: interrupted\n")
    os._exit(INTERRUPTED)


_end.early = True  # type: ignore[attr-defined]  # What `streams.end_as_interrupted` may replace.
if _signal.getsignal(_signal.SIGINT) == _signal.default_int_handler:
    _signal.signal(_signal.SIGINT, _end)


def main() -> int:
    """Runs the command; returns its exit code, if it does not end the process itself."""
    import sys

    if not _is_ours():
        return _NOT_OURS
    if sys.argv[1:] in (["--version"], ["-V"]) and _told_version():
        return 0
    from netloom.cli import main

    return main()


def _is_ours() -> bool:
    """Whether the package has this project's files; tells of another project's that lie among them."""
    try:
        import netloom
        from netloom import namesake
    except ImportError as error:
        return _tell(f"error: {error}: {_AGAIN}")
    if not hasattr(netloom, "_HOMES"):
        return _tell(f"error: {netloom.__path__[0]}: {_AGAIN}")
    found = namesake.told()
    return found is None or not _tell(f"warning: {found}")


def _tell(text: str) -> bool:
    try:
        os.write(2, f"netloom: {text}\n".encode())
    except OSError:
        return False  # Who reads it has left.
    return False


def _told_version() -> bool:
    """Prints the version without the parser, which takes ten times as long; False if that cannot be."""
    from netloom._core import __version__

    try:
        os.write(1, f"{__version__}\n".encode())
    except OSError:  # Who reads it has left, or the disk is full: the command has words for that.
        return False
    return True
