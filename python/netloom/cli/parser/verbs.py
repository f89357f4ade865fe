"""The verbs: what each is, where it is, and the parser of them all.

Only names and one-line helps are here: no verb is imported before it is used.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import cyclopts

VERBS: dict[str, str | tuple[str, dict[str, str]]] = {
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
    "health": "Which cable to look at first: slow, missing, flapping, with errors.",
    "record": "What any MPI program sends: run it with the recorder.",
    "trace": (
        "Show, check and convert recorded traces.",
        {
            "show": "What a trace has: ranks, events by function, communicators.",
            "check": "Whether a trace is whole: messages without their other half, lost ranks.",
            "convert": "Write a trace in another format.",
        },
    ),
    "route": "Make routes with an engine.",
    "check": "Verify routes, and certificates.",
    "path": "Which way a pair takes: links, lanes, loads.",
    "loads": "Load of every link, and how far from the best possible.",
    "optimize": "Make the best routes for a traffic, with a proof.",
    "infer": "Who talks to whom, from switch counters.",
    "watch": "A fabric while it runs: load, hottest links, congestion, jobs, the loop's decisions.",
    "plan": "Which network for a machine that is to be bought: designs counted, priced and slowed down.",
    "simulate": "What a run takes under every routing of a scenario, packet by packet.",
    "sweep": (
        "A scenario again and again with keys varied, as one table.",
        {
            "run": "Run a sweep: what varies, each with each; goes on where it was stopped.",
            "part": "Run one of several parts of a sweep, as a task of a job array does.",
            "merge": "Join what the parts of a sweep have made to one table.",
        },
    ),
    "noise": "What neighbours do to a job, message by message, under every routing of a scenario.",
    "sample": (
        "Paths sampled inside packets: congestion by link, job and phase.",
        {
            "run": "Simulate with paths sampled inside packets: congestion by link, job and phase.",
            "decode": "Estimates from packets that receivers have kept, wherever they were sampled.",
        },
    ),
    "dataplane": (
        "Path sampling in real packets, by BPF programs on Linux.",
        {
            "plan": "Which number, mask, threshold and role every port has; nothing is changed.",
            "up": "Put the programs on ports of this machine; a dry run unless --yes.",
            "status": "What is up, and what its programs did to packets.",
            "collect": "Write down what receivers tell: the table that sample decode reads.",
            "down": "Take the programs off again, also after a crash; a dry run unless --yes.",
        },
    ),
    "diagnose": "What is congested, whose fault it is, and what would help.",
    "loop": (
        "The closed loop, in the simulator or live: counters in, better routes out, if that surely pays.",
        {
            "run": "The closed loop in the simulator, round by round.",
            "live": "The closed loop on a live fabric, through OpenSM; a dry run unless --yes.",
            "table": "Tables 5.1 to 5.5 of the dissertation, run here.",
        },
    ),
    "lanes": (
        "Read and load the SL-to-VL tables of a live fabric.",
        {
            "read": "The SL-to-VL tables that switches and adapters have.",
            "load": "Give switches and adapters SL-to-VL tables, row by row.",
            "write": "The virtual lanes of a scheme, as files for a real fabric.",
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
            "slowdown": "Draw what a job waits for: its neighbours, or itself.",
            "tail": "Draw the tail of message latency.",
            "engines": "Draw how far engines are from the bound, over many cases.",
            "cables": "Draw every cable between leaves and spines, before and after.",
            "load": "Draw latency and accepted throughput over offered load.",
            "congestion": "Draw where packets of a sampled run met congestion, link by link.",
            "coefficients": "Draw a traffic matrix in a basis.",
            "study": "Draw how well traffic is told from counters.",
            "plan": "Draw designs of a machine's network: price against slowdown.",
            "sweep": "Draw a sweep: means and their intervals by group.",
        },
    ),
    "apply": (
        "Put new routes on a live fabric, safely.",
        {
            "plan": "What new routes would change; nothing is sent.",
            "send": "Put new routes on a live fabric; a dry run unless --yes.",
            "rollback": "Return to the tables before an earlier change.",
            "recover": "Finish or undo a change that was killed.",
            "history": "List earlier changes.",
        },
    ),
    "study": (
        "Tables of the papers, run here beside the published figures.",
        {
            "list": "Every table and figure of the papers that netloom makes, with its command.",
            "chapter4": "Tables 4.1 to 4.3 of the dissertation: traffic from counters, by application.",
            "sampling": "Table 2.1 of the dissertation: errors of sampling beside the formulas.",
        },
    ),
    "demo": "The whole job on a real fabric and real applications.",
    "completion": "Print what makes a shell complete netloom's commands and options.",
}
"""Each with its help, and its commands with theirs."""

_PLACES = {
    "counters poll": "counters.poll:poll",
    "lanes read": "lanes.command:read",
    "lanes load": "lanes.command:load",
    "lanes write": "lanes.files:write",
    "demo": "demo.app:app",
    "diagnose": "diagnose.app:app",
    "sample decode": "sample.decode:decode",
    "dataplane up": "dataplane.ports:up",
    "dataplane down": "dataplane.ports:down",
    "dataplane status": "dataplane.ports:status",
    "dataplane collect": "dataplane.collect:collect",
    "loop live": "loop.live:live",
    "study list": "study.listed:list_",
    "study chapter4": "study.chapter4:chapter4",
    "study sampling": "study.sampling:sampling",
    "plot slowdown": "plot.neighbours:slowdown",
    "plot tail": "plot.neighbours:tail",
    "plot cables": "plot.cables:cables",
    "plot engines": "plot.engines:engines",
    "plot congestion": "plot.congestion:congestion",
    "plot coefficients": "plot.inference:coefficients",
    "plot study": "plot.inference:study",
    "plot load": "plot.load:load",
    "plot plan": "plot.planned:plan",
    "plot sweep": "plot.swept:sweep",
    "completion": "parser.completion:completion",
}
"""Where verbs and their commands are that are not where others are."""
_FOLDERS = (
    "apply",
    "counters",
    "dataplane",
    "health",
    "infer",
    "loop",
    "noise",
    "optimize",
    "plan",
    "plot",
    "record",
    "sample",
    "simulate",
    "sweep",
    "trace",
)
"""Verbs with a folder, whose functions are in `command`; others are a file."""


def _place(verb: str, command: str | None = None) -> str:
    name = verb if command is None else f"{verb} {command}"
    module = f"{verb}.command" if verb in _FOLDERS else verb
    return f"netloom.cli.{_PLACES.get(name, f'{module}:{command or verb}')}"


def build_app() -> cyclopts.App:
    """Returns the command's parser. Only names and one-line helps: no verb is imported."""
    import cyclopts

    from netloom.cli.parser.usage import told

    app = cyclopts.App(
        name="netloom",
        help="Routes, loads, proofs and simulation for InfiniBand fat trees.",
        version=_version,
        version_flags=("--version", "-V"),
        default_parameter=cyclopts.Parameter(negative=()),
        help_format="markdown",
        suppress_keyboard_interrupt=False,  # `main` says "interrupted"
    )
    for position, (verb, entry) in enumerate(VERBS.items()):
        if isinstance(entry, str):
            app.command(
                _place(verb),
                name=verb,
                help=entry,
                sort_key=position,
                **told(verb),
            )
            continue
        help_text, commands = entry
        group = cyclopts.App(name=verb, help=help_text, sort_key=position)
        for name, text in commands.items():
            group.command(_place(verb, name), name=name, help=text, **told(f"{verb} {name}"))
        app.command(group)
    return app


def _version() -> str:
    from netloom import __version__

    return __version__
