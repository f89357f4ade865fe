"""What commands were called before: an old one is told its new form, and never does something else."""

from __future__ import annotations

from collections.abc import Sequence

_FORMS = {
    "infer": {
        "--study": "study chapter4",
        "--write-sl2vl": "lanes write FABRIC ROUTES --vl-scheme SCHEME -o FILE",
        "--write-qos": "lanes write FABRIC ROUTES --vl-scheme SCHEME --qos FOLDER",
    },
    "sample": {"--study": "study sampling", "--decode": "sample decode FABRIC PACKETS"},
    "loop": {"--live": "loop live", "--table": "loop table"},
    "apply": {
        "--rollback": "apply rollback [NUMBER]",
        "--recover": "apply recover",
        "--history": "apply history",
    },
    "diagnose": {"--self-test": "diagnose self-test"},
}
"""Options that were other commands, by verb."""

_COMMANDS = {
    "sample": (("run", "decode"), "sample run SCENARIO"),
    "loop": (("run", "live", "table"), "loop run SCENARIO"),
    "apply": (
        ("plan", "send", "rollback", "guard", "recover", "history"),
        "apply plan ROUTES, and apply send ROUTES --yes",
    ),
}
"""Verbs that have commands now, these, and what the verb alone did."""


_OPTIONS = {
    "counters": {"--busiest": "--hottest", "--lanes": "--by-lane"},
    "infer": {"--weight": "--unit", "--hose": "--write-hose", "--also": "--also-counted"},
    "loop": {"--counters": "--counters-from"},
    "optimize": {"--certificate": "--write-certificate", "--paths": "--write-paths"},
    "sample": {"--truth": "--with-truth", "--routes": "--routings"},
    "simulate": {"--routes": "--routings"},
    "study": {"--routings": "--routing-counts"},
    "watch": {"--busiest": "--hottest", "--counters": "--counters-from"},
}
"""Options that meant something else elsewhere."""


def told(tokens: Sequence[str]) -> str | None:
    """What to type instead of an old form; nothing if it is none."""
    verb = tokens[0] if tokens else ""
    for token in tokens[1:]:
        new = _FORMS.get(verb, {}).get(token.split("=")[0])
        if new is not None:
            return f"netloom {verb} {token.split('=')[0]} is now: netloom {new}"
        new = _OPTIONS.get(verb, {}).get(token.split("=")[0])
        if new is not None:
            return f"{token.split('=')[0]} of netloom {verb} is now: {new}"
    if verb in _COMMANDS and len(tokens) > 1:
        commands, new = _COMMANDS[verb]
        if tokens[1] not in (*commands, "--help", "-h"):
            return f"netloom {verb} has commands: {', '.join(commands)}; what it was is now: netloom {new}"
    return None
