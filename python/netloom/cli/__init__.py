"""The command `netloom`: one file a verb, loaded when it is used.

What every verb shares (inputs, the result's envelope, rendering) is in `common`; errors, exit codes, broken
pipes and Ctrl-C are handled here, once.

Exit codes: 0 done; 1 done, with findings; 2 usage; 3 input, output or format; 4 internal; 124 the time limit
passed before there was anything to keep; 130 interrupted, by Ctrl-C or SIGTERM. How it ends is in `guard`.
"""

from __future__ import annotations

import io
import os
import sys

from netloom.cli import guard

# Not from `typing`: until `main` runs, a Ctrl-C is a traceback, so little is imported here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import cyclopts

FINDINGS, USAGE, INPUT, INTERNAL, INTERRUPTED = 1, 2, 3, 4, 130

STDIO = "<stdin>"
"""What a lone `-` becomes before options are parsed: standard input, or standard output after `-o`."""

_VERBS: dict[str, str | tuple[str, dict[str, str]]] = {
    "fabric": (
        "Make, inspect, compare, convert and damage fabrics.",
        {
            "new": "Make a fabric from a generator spec.",
            "show": "What a fabric is, and what is odd about it.",
            "diff": "What changed from one dump of a fabric to another.",
            "convert": "Write a fabric in another format.",
            "damage": "Take cables and switches out.",
        },
    ),
    "traffic": (
        "Make, inspect, place and convert traffic.",
        {
            "new": "Make traffic from a pattern spec.",
            "show": "What a traffic is.",
            "place": "Place the jobs of a jobs file on a fabric's hosts.",
            "convert": "Write traffic in another format.",
        },
    ),
    "counters": (
        "Make, inspect, subtract and check what ports counted.",
        {
            "synth": "The counters that traffic would leave under given routes.",
            "show": "What counters say: how much, how surely, where most.",
            "diff": "What was counted from one reading to the next.",
            "check": "Which counters are bad, by name.",
            "poll": "Read the counters of every port of a live fabric.",
        },
    ),
    "route": "Make routes with an engine.",
    "check": "Verify routes, and certificates.",
    "loads": "Load of every link, and how far from the best possible.",
    "optimize": "Make the best routes for a traffic, with a proof.",
    "infer": "Who talks to whom, from switch counters.",
    "watch": "A fabric while it runs: load, hottest links, congestion, jobs, the loop's decisions.",
    "simulate": "What a run takes under every routing of a scenario, packet by packet.",
    "sample": "Simulate with paths sampled inside packets: congestion by link, job and phase.",
    "diagnose": "What is congested, whose fault it is, and what would help.",
    "loop": "The closed loop, in the simulator or live: counters in, better routes out, if that surely pays.",
    "lanes": (
        "Read and load the SL-to-VL tables of a live fabric.",
        {
            "read": "The SL-to-VL tables that switches and adapters have.",
            "load": "Give switches and adapters SL-to-VL tables, row by row.",
        },
    ),
    "plot": (
        "Draw traffic, loads, searches, simulated runs and what inference is worth.",
        {
            "matrix": "Draw a traffic matrix.",
            "loads": "Draw sorted link loads.",
            "history": "Draw how a search got better.",
            "front": "Draw what changed entries buy.",
            "run": "Draw a simulated run: every link by level, and over time.",
            "load": "Draw latency and accepted throughput over offered load.",
            "congestion": "Draw where packets of a sampled run met congestion, link by link.",
            "coefficients": "Draw a traffic matrix in a basis.",
            "study": "Draw how well traffic is told from counters.",
        },
    ),
    "apply": "Put new routes on a live fabric, safely.",
    "demo": "The whole job on a real fabric and real applications.",
    "completion": "Print what makes a shell complete netloom's commands and options.",
}

_FORMS = {
    "counters poll": "netloom.cli.polled:poll",
    "lanes read": "netloom.cli.sl2vl:read",
    "lanes load": "netloom.cli.sl2vl:load",
    "demo": "netloom.cli.demos:app",
    "sample": "netloom.cli.sampler:app",
    "infer": "netloom.cli.inferring:app",
    "loop": "netloom.cli.looping:app",
    "plot congestion": "netloom.cli.congested:congestion",
    "plot coefficients": "netloom.cli.pictures:coefficients",
    "plot study": "netloom.cli.pictures:study",
    "plot load": "netloom.cli.offered:load",
}
"""Verbs that are elsewhere than in a file of their name."""


def build_app() -> cyclopts.App:
    """Returns the command's parser. Only names and one-line helps: no verb is imported."""
    import cyclopts

    from netloom.cli.usage import told

    app = cyclopts.App(
        name="netloom",
        help="Routes, loads, proofs and simulation for InfiniBand fat trees.",
        version=_version,
        version_flags=("--version", "-V"),
        default_parameter=cyclopts.Parameter(negative=()),
        help_format="markdown",
        suppress_keyboard_interrupt=False,  # `main` says "interrupted"
    )
    for position, (verb, entry) in enumerate(_VERBS.items()):
        if isinstance(entry, str):
            app.command(
                _FORMS.get(verb, f"netloom.cli.{verb}:{verb}"),
                name=verb,
                help=entry,
                sort_key=position,
                **told(verb),
            )
            continue
        help_text, commands = entry
        group = cyclopts.App(name=verb, help=help_text, sort_key=position)
        for name, text in commands.items():
            place = _FORMS.get(f"{verb} {name}", f"netloom.cli.{verb}:{name}")
            group.command(place, name=name, help=text, **told(f"{verb} {name}"))
        app.command(group)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows `netloom`; `sys.argv[1:]` if not given.
    """
    try:
        from netloom.cli import streams

        streams.hold()
        guard.start()
        if arguments is None:
            streams.without_pandas()
        streams.end_as_interrupted()
        for stream in (sys.stdout, sys.stderr):
            # Names in dumps and files may be anything; results are UTF-8 wherever they go.
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8", errors="surrogateescape")
        given = sys.argv[1:] if arguments is None else arguments
        code = _run([STDIO if token == "-" else token for token in given])
        sys.stdout.flush()
        guard.leave(code)
        return code
    except KeyboardInterrupt:
        import _signal  # type: ignore[import-not-found]

        # One is enough: another must not interrupt the word about the first.
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
        _signal.signal(_signal.SIGTERM, _signal.SIG_IGN)
        code = _fail("interrupted", INTERRUPTED)
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

    if "" in tokens:
        return _fail('usage: an argument is empty (""): expected a file, a spec or a value', USAGE)
    if tokens and tokens[0] == "help":
        # As other commands have it: `netloom help optimize`.
        tokens = [*tokens[1:], "--help"]
    try:
        result = build_app()(
            _form_first(tokens), exit_on_error=False, print_error=False, result_action="return_value"
        )
        return result if isinstance(result, int) else 0
    except cyclopts.CycloptsError as error:
        return _fail(f"usage: {' '.join(str(error).split())} (--help says more)", USAGE)
    except UsageError as error:
        return _fail(f"usage: {error}", USAGE)
    except InternalError as error:
        return _internal(error)
    except NetloomError as error:
        return _fail(f"error: {error}", INPUT)
    except (OSError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        # Not only Exception: a panic in the core that its door does not catch is pyo3's PanicException.
        return _internal(error)


def _form_first(tokens: Sequence[str]) -> Sequence[str]:
    """`infer --study` and `loop --live` are forms, wherever the word stands: the parser expects it first.

    `--rollback` of `apply` may have a number behind it; the parser expects one.
    """
    if tokens and tokens[0] == "apply" and "--rollback" in tokens:
        at = tokens.index("--rollback") + 1
        if at == len(tokens) or tokens[at].startswith("-"):
            return [*tokens[:at], "last", *tokens[at:]]
    for verb, form in (
        ("infer", "--study"),
        ("loop", "--live"),
        ("sample", "--study"),
        ("sample", "--decode"),
    ):
        if tokens and tokens[0] == verb and form in tokens:
            return [verb, form, *(token for token in tokens[1:] if token != form)]
    return tokens


class UsageError(Exception):
    """Arguments that are fine one by one but not together."""


def _fail(text: str, code: int) -> int:
    if os.environ.get("NETLOOM_DEBUG") and sys.exc_info()[0] is not None:
        import traceback

        traceback.print_exc()
    from netloom.cli.render import printable

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
    # Where another file names it.
    place = f"{error.place}: " if hasattr(error, "place") else ""
    return f"{place}{error.filename}: {what}" if error.filename else f"standard output: {what}"


def _version() -> str:
    from netloom import __version__

    return __version__
