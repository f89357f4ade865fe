"""The command `netloom`: a file or a folder a verb, loaded when it is used.

What every verb shares (inputs, the result's envelope, rendering) is in `shared`; errors, exit codes, broken
pipes and Ctrl-C are handled here, once.

Exit codes: 0 done; 1 done, with findings; 2 usage; 3 input, output or format; 4 internal; 124 the time limit
passed before there was anything to keep; 130 interrupted, by Ctrl-C, SIGTERM or SIGHUP (`shared.guard`).
"""

from __future__ import annotations

import io
import os
import sys

from netloom.cli.parser import renamed
from netloom.cli.parser.verbs import build_app
from netloom.cli.shared import guard
from netloom.cli.shared.exits import INPUT, INTERNAL, INTERRUPTED, STDIO, USAGE, UsageError

_NAMES = "expected names of files in UTF-8"

# Not from `typing`: until `main` runs, a Ctrl-C is a traceback, so little is imported here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows `netloom`; `sys.argv[1:]` if not given: then the process is the command's own, and ends.
    """
    code = _guarded(arguments)
    if arguments is None:
        guard.leave(code)
    return code


def _guarded(arguments: Sequence[str] | None) -> int:
    """What runs inside of the guard."""
    try:
        from netloom.cli.shared import streams

        streams.hold()
        guard.start()
        if arguments is None:
            streams.without_pandas()
            streams.heed_lost_interrupts()
        streams.end_as_interrupted()
        for stream in (sys.stdout, sys.stderr):
            # Names in dumps and files may be anything; results are UTF-8 wherever they go.
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8", errors="surrogateescape")
        given = sys.argv[1:] if arguments is None else arguments
        code = _run([STDIO if token == "-" else token for token in given])
        sys.stdout.flush()
        if guard.left_behind:
            guard.leave(code)
        return code
    except KeyboardInterrupt:
        # One is enough: another must not interrupt the word about the first.
        guard.ignore()
        code = _fail("interrupted", INTERRUPTED)
        if guard.left_behind:
            guard.leave(code)
        return code
    except BrokenPipeError:
        # Whoever read our output has left.
        streams.abandon_stdout()
        return 0
    except SystemExit:
        # Only rich leaves so, when whoever read the help has left.
        streams.abandon_stdout()
        return 0
    except OSError as error:
        if error.filename is None:
            streams.abandon_stdout()
        return _fail(f"error: {_os_text(error)}", INPUT)
    finally:
        guard.release(ends=arguments is None)


def _run(tokens: Sequence[str]) -> int:
    import cyclopts

    from netloom.errors import InternalError, NetloomError
    from netloom.reading import limits

    # What follows `--` is another program's (`netloom record`).
    ours = tokens[: tokens.index("--")] if "--" in tokens else tokens
    if "" in ours:
        return _fail('usage: an argument is empty (""): expected a file, a spec or a value', USAGE)
    odd = next((token for token in ours if not _is_utf8(token)), None)
    if odd is not None:
        return _fail(f"error: {odd}: {_NAMES}", INPUT)
    if tokens and tokens[0] == "help":
        # As other commands have it: `netloom help optimize`.
        from netloom.cli.parser import brief

        brief.ask_for_whole()
        tokens = [*tokens[1:], "--help"]
    old = renamed.told(tokens)
    if old is not None:
        return _fail(f"usage: {old}", USAGE)
    try:
        limits.of_environment()
    except ValueError as error:
        return _fail(f"usage: {error}", USAGE)
    try:
        result = build_app()(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        return result if isinstance(result, int) else 0
    except cyclopts.MissingArgumentError as error:
        if error.argument is None or "--output" not in error.argument.names:
            return _fail(f"usage: {' '.join(str(error).split())} (--help says more)", USAGE)
        return _fail(
            f"usage: {' '.join(error.command_chain or ())} needs -o FILE: its ending names the format", USAGE
        )
    except cyclopts.CycloptsError as error:
        return _fail(f"usage: {' '.join(str(error).split())} (--help says more)", USAGE)
    except UsageError as error:
        return _fail(f"usage: {error}", USAGE)
    except guard.TooLate as error:
        return _fail(f"error: {error}", guard.TOO_LATE)
    except InternalError as error:
        return _internal(error)
    except NetloomError as error:
        return _fail(f"error: {error}", INPUT)
    except (OSError, KeyboardInterrupt, SystemExit):
        raise
    except ImportError as error:
        from netloom import extras

        missing = extras.of_import(error)
        return _internal(error) if missing is None else _fail(f"error: {missing}", INPUT)
    except MemoryError as error:
        return _fail(f"error: out of memory: {str(error)[:200] or 'expected a smaller input'}", INPUT)
    except UnicodeEncodeError as error:
        if _is_utf8(str(error.object)):
            return _internal(error)
        return _fail(f"error: {str(error.object)[:200]}: {_NAMES}", INPUT)
    except BaseException as error:
        # Not only Exception: a panic in the core that its door does not catch is pyo3's PanicException.
        return _internal(error)


def _is_utf8(text: str) -> bool:
    """Whether Python was given it as UTF-8; other bytes are surrogates."""
    return text.isprintable() or not any("\ud800" <= one <= "\udfff" for one in text)


def _fail(text: str, code: int) -> int:
    if os.environ.get("NETLOOM_DEBUG") and sys.exc_info()[0] is not None:
        import traceback

        traceback.print_exc()
    from netloom.cli.shared.render import printable

    print(printable(f"netloom: {' '.join(text.split())}"), file=sys.stderr)
    return code


def _internal(error: BaseException) -> int:
    if guard.heard:
        # A library that was interrupted while it loaded; the interpreter is not taken down around its half.
        guard.left_behind = True
        return _fail("interrupted", INTERRUPTED)
    text = f"internal error: {type(error).__name__}: {error}"
    return _fail(f"{text} (a bug: please report it; NETLOOM_DEBUG=1 shows where)", INTERNAL)


def _os_text(error: OSError) -> str:
    what = error.strerror or str(error)
    if error.errno is None and not error.filename:
        return what or type(error).__name__  # A library's, of data in memory.
    # Where another file names it.
    place = f"{error.place}: " if hasattr(error, "place") else ""
    return f"{place}{error.filename}: {what}" if error.filename else f"standard output: {what}"
