"""`netloom diagnose RUN`, and `netloom diagnose self-test`, which makes its own runs."""

from __future__ import annotations

import cyclopts

from netloom.cli.diagnose.command import diagnose
from netloom.cli.parser.usage import example

app = cyclopts.App(
    help="Find what is congested, which job causes it, and what would help.",
    usage="Usage: netloom diagnose RUN [OPTIONS]\n"
    "       netloom diagnose FABRIC --counters FILE [OPTIONS]\n"
    "       netloom diagnose self-test [OPTIONS]",
    help_epilogue=example("diagnose"),
)
app.default(diagnose)
app.command(
    "netloom.cli.diagnose.command:self_test",
    name="self-test",
    help="Diagnose generated runs of known cause, and count correct answers.",
)
