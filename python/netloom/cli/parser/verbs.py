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
            "show": "Show a fabric's shape, counts and oddities.",
            "diff": "Show what changed between two dumps of a fabric.",
            "convert": "Write a fabric in another format.",
            "damage": "Take cables and switches out.",
        },
    ),
    "traffic": (
        "Make, inspect, place and convert traffic.",
        {
            "new": "Make traffic from a pattern spec.",
            "show": "Show what is in a traffic.",
            "place": "Place the jobs of a jobs file on a fabric's hosts.",
            "convert": "Write traffic in another format.",
            "pairs": "Choose few rounds of tests of pairs that tell all cables apart.",
        },
    ),
    "counters": (
        "Make, inspect, subtract and check port counters.",
        {
            "synth": "Compute the counters that a traffic leaves under given routes.",
            "show": "Show counters: bytes, noise, the hottest links.",
            "diff": "Subtract one reading of counters from a later one.",
            "check": "Find bad counters and name them.",
            "poll": "Read the counters of every port of a live fabric.",
        },
    ),
    "health": "List suspect cables: missing, slow, flapping, with errors.",
    "interference": "Tell how many minutes jobs lost to their neighbours, and where.",
    "record": "Run an MPI program and record what it sends.",
    "trace": (
        "Show, check and convert recorded traces.",
        {
            "show": "Show what is in a trace: ranks, events by function, communicators.",
            "check": "Check a trace for missing parts: unmatched messages, lost ranks.",
            "convert": "Write a trace in another format.",
            "scale": "Write a trace on more ranks, of a program on a regular grid.",
        },
    ),
    "route": "Make routes with an engine.",
    "check": "Verify routes, and certificates.",
    "path": "Show the path of a pair of hosts: links, lanes, loads.",
    "loads": "Compute the load of every link, and the gap to the best.",
    "optimize": "Find the best routes for a traffic, with a proof.",
    "infer": "Infer who talks to whom from switch counters.",
    "watch": "Watch a live fabric: load, congestion, jobs, the loop.",
    "plan": "Compare networks for a new machine: cables, price, slowdown.",
    "simulate": "Simulate a scenario under several routings: packets or flows.",
    "sweep": (
        "Run a scenario many times with varied keys; one table.",
        {
            "run": "Run all combinations of a sweep; continues where it was stopped.",
            "part": "Run one part of a sweep, as a task of a job array.",
            "merge": "Join the results of a sweep's parts to one table.",
        },
    ),
    "noise": "Measure how other jobs delay a job, message by message.",
    "sample": (
        "Sample paths inside packets: congestion by link, job and phase.",
        {
            "run": "Simulate a scenario and sample paths inside packets.",
            "decode": "Estimate traffic and congestion from sampled packets that receivers have kept.",
        },
    ),
    "dataplane": (
        "Sample paths in real packets, with BPF programs on Linux.",
        {
            "plan": "Show the number, mask, threshold and role of every port; changes nothing.",
            "up": "Put the programs on ports of this machine; a dry run unless --yes.",
            "status": "Show which programs are on ports, and their packet counts.",
            "collect": "Write what receivers report to a table that sample decode reads.",
            "down": "Remove the programs, also after a crash; a dry run unless --yes.",
        },
    ),
    "diagnose": "Find what is congested, which job causes it, and what helps.",
    "loop": (
        "Run the closed loop: read counters, change routes if that pays.",
        {
            "run": "Run the closed loop in the simulator, round by round.",
            "live": "Run the closed loop on a live fabric, through OpenSM; a dry run unless --yes.",
            "table": "Run the dissertation's tables 5.1 to 5.5 and show both results.",
        },
    ),
    "lanes": (
        "Read, load and write SL-to-VL tables.",
        {
            "read": "Read the SL-to-VL tables of switches and adapters.",
            "load": "Load SL-to-VL tables into switches and adapters; a dry run unless --yes.",
            "write": "Write the virtual lanes of a scheme as files for a real fabric.",
        },
    ),
    "plot": (
        "Draw traffic, loads, searches, simulated runs, errors.",
        {
            "matrix": "Draw a traffic matrix.",
            "loads": "Draw sorted link loads.",
            "history": "Draw the progress of a search over time.",
            "front": "Draw the largest load over the number of changed entries.",
            "run": "Draw a simulated run: every link by level, and over time.",
            "slowdown": "Draw how much of a job's slowdown comes from its neighbours.",
            "tail": "Draw the tail of message latency.",
            "noise": "Draw at which links a job waits, and behind whose bytes.",
            "engines": "Draw the gaps of engines to the bound, over many cases.",
            "cables": "Draw every cable between leaves and spines, before and after.",
            "load": "Draw latency and accepted throughput over offered load.",
            "congestion": "Draw where packets of a sampled run met congestion, link by link.",
            "coefficients": "Draw a traffic matrix in a basis.",
            "study": "Draw the errors of traffic inferred from counters.",
            "plan": "Draw designs of a machine's network: price against slowdown.",
            "sweep": "Draw a sweep: means and their intervals by group.",
        },
    ),
    "report": "Write a page that shows a fabric, routes, a run or a result.",
    "apply": (
        "Put new routes on a live fabric, safely.",
        {
            "plan": "Show what new routes would change; sends nothing.",
            "send": "Put new routes on a live fabric; a dry run unless --yes.",
            "rollback": "Return to the tables before an earlier change.",
            "guard": "Lead routes around cables and switches that fail, and back.",
            "recover": "Finish or undo a change that was killed.",
            "history": "List earlier changes.",
        },
    ),
    "study": (
        "Recompute tables of the papers, beside the published figures.",
        {
            "list": "List every table and figure of the papers, with its command, or why none makes it.",
            "page": "Write a page of the papers' figures beside those found here.",
            "table32": "Table 3.2 of the dissertation: routes by its integer models, from ftree's tables.",
            "chapter4": "Tables 4.1 to 4.3 of the dissertation: traffic from counters, by application.",
            "sampling": "Table 2.1 of the dissertation: errors of sampling beside the formulas.",
            "hashes": "Figure 2.10 of the dissertation: bits of the hash of a link, beside MD5's.",
            "bandwidth": "Figure 8 of Chen et al.: bandwidth divided among the levels of a network.",
            "afar": "AFAR's experiments on a fat tree: slowdowns, loads, routes, beside the paper's figures.",
            "steps": "Figures 7 and 8 of AFAR's paper: times of a job's steps told from counters.",
            "modes": "Routing modes by message on Aries: seven benchmarks, beside the paper's statements.",
            "training": "Eight training jobs: what order of ranks, routes and both buy.",
            "recorder": "Table II of AFAR's paper: what recording costs applications, measured here.",
        },
    ),
    "demo": "Optimise real jobs' routes on a real dump, and check the proof.",
    "examples": "Write the example files that help and documents name.",
    "completion": "Print a shell script that completes commands and options.",
}
"""Each with its help, and its commands with theirs."""

GROUPS = {
    "Look": ("fabric", "traffic", "check", "path", "loads", "plot", "report"),
    "Measure": (
        *("counters", "health", "watch", "record", "trace"),
        *("sample", "dataplane", "infer", "diagnose", "interference"),
    ),
    "Improve": ("route", "optimize", "lanes", "apply", "loop"),
    "Simulate and plan": ("simulate", "sweep", "noise", "plan", "study"),
    "Begin": ("demo", "examples", "completion"),
}
"""Verbs by what they are for, as `netloom --help` shows them."""

_PLACES = {
    "counters poll": "counters.poll:poll",
    "lanes read": "lanes.command:read",
    "lanes load": "lanes.command:load",
    "lanes write": "lanes.write:write",
    "demo": "demo.app:app",
    "diagnose": "diagnose.app:app",
    "sample decode": "sample.decode:decode",
    "dataplane up": "dataplane.ports:up",
    "dataplane down": "dataplane.ports:down",
    "dataplane status": "dataplane.ports:status",
    "dataplane collect": "dataplane.collect:collect",
    "loop live": "loop.live:live",
    "traffic pairs": "rounds:pairs",
    "study list": "study.listed:list_",
    "study page": "study.page:page",
    "study table32": "study.table32:table32",
    "study chapter4": "study.chapter4:chapter4",
    "study sampling": "study.sampling:sampling",
    "study hashes": "study.hashes:hashes",
    "study bandwidth": "study.bandwidth:bandwidth",
    "study recorder": "study.recorder:recorder",
    "study training": "study.training:training",
    "study afar": "study.afar:afar",
    "study steps": "study.steps:steps",
    "study modes": "study.modes:modes",
    "plot slowdown": "plot.neighbours:slowdown",
    "plot tail": "plot.neighbours:tail",
    "plot noise": "plot.neighbours:noise",
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

    from netloom.cli.parser.first_page import group_of_verbs
    from netloom.cli.parser.usage import told

    app = cyclopts.App(
        name="netloom",
        help="Routes, loads, proofs and simulation for InfiniBand fat trees.",
        version=_version,
        version_flags=("--version", "-V"),
        default_parameter=cyclopts.Parameter(negative=(), show_default=_default),
        help_format="markdown",
        suppress_keyboard_interrupt=False,  # `main` says "interrupted"
    )
    groups: dict[str, cyclopts.Group] = {}
    for position, (name, verbs) in enumerate(GROUPS.items()):
        group = cyclopts.Group(name, sort_key=position, help_formatter=group_of_verbs)
        groups |= dict.fromkeys(verbs, group)
    app["--version"].group = groups["demo"]
    app["--help"].show = False  # Who reads this has found it; one screen is 40 lines.
    for position, (verb, entry) in enumerate(VERBS.items()):
        if isinstance(entry, str):
            app.command(
                _place(verb),
                name=verb,
                help=entry,
                sort_key=position,
                group=groups[verb],
                **told(verb),
            )
            continue
        help_text, commands = entry
        app_of_verb = cyclopts.App(name=verb, help=help_text, sort_key=position, group=groups[verb])
        for name, text in commands.items():
            app_of_verb.command(_place(verb, name), name=name, help=text, **told(f"{verb} {name}"))
        app.command(app_of_verb)
    return app


def _default(value: object) -> str | None:
    """A default as help shows it; none of switches that are off and of lists without an entry."""
    return None if value is None or value is False or value == () else str(value) or '""'


def _version() -> str:
    from netloom import __version__

    return __version__
