"""`netloom diagnose RUN`, `diagnose pairs` of measured pairs, `diagnose self-test` of its own runs."""

from __future__ import annotations

import cyclopts

from netloom.cli.diagnose.command import diagnose
from netloom.cli.parser.usage import example

app = cyclopts.App(
    help="Find what is congested, which job causes it, and what would help.",
    usage="Usage: netloom diagnose RUN [OPTIONS]\n"
    "       netloom diagnose FABRIC --counters FILE [OPTIONS]\n"
    "       netloom diagnose pairs FABRIC ROUTES TESTS [OPTIONS]\n"
    "       netloom diagnose self-test [OPTIONS]",
    help_epilogue=example("diagnose"),
)
app.default(diagnose)
app.command(
    "netloom.cli.diagnose.pairs:pairs",
    name="pairs",
    help="Explain slow pairs of hosts: a cable, a host, or a collision.",
    help_epilogue=example("diagnose pairs"),
    usage="Usage: netloom diagnose pairs FABRIC ROUTES TESTS [OPTIONS]",
)
app.command(
    "netloom.cli.diagnose.command:self_test",
    name="self-test",
    help="Diagnose generated runs of known cause, and count correct answers.",
)
