"""`netloom loop` and its other form, `netloom loop --live`, in front of a running OpenSM."""

from __future__ import annotations

import cyclopts

from netloom.cli.loop.command import loop
from netloom.cli.parser.usage import example

app = cyclopts.App(
    help="The closed loop: counters in, better routes out, if that surely pays.",
    usage=(
        "Usage: netloom loop SCENARIO.toml [OPTIONS]\n"
        "       netloom loop --table [OPTIONS]\n"
        "       netloom loop --live [OPTIONS]"
    ),
    help_epilogue=example("loop"),
)
app.default(loop)
app.command(
    "netloom.cli.loop.live:live",
    name="--live",
    help="The closed loop on a live fabric, through OpenSM; a dry run unless --yes.",
)
