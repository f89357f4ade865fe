"""`netloom infer` and its other form, `netloom infer --study`, which needs no counters."""

from __future__ import annotations

import cyclopts

from netloom.cli.infer.command import infer
from netloom.cli.parser.usage import example

app = cyclopts.App(
    help="Who talks to whom, from switch counters.",
    usage=(
        "Usage: netloom infer FABRIC ROUTES COUNTERS [AFTER] [OPTIONS]\n"
        "       netloom infer --study [APPLICATION…] [OPTIONS]"
    ),
    help_epilogue=example("infer"),
)
app.default(infer)
app.command(
    "netloom.cli.study.chapter4:study",
    name="--study",
    help="Tables 4.1 to 4.3 of the dissertation, run here over recorded applications.",
)
