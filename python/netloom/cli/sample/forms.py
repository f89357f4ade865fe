"""`netloom sample` and its forms: `--decode`, of packets from elsewhere, and `--study`, of its errors."""

from __future__ import annotations

import cyclopts

from netloom.cli.parser.usage import example
from netloom.cli.sample.command import sample

app = cyclopts.App(
    help="Simulate with paths sampled inside packets: congestion by link, job and phase.",
    usage=(
        "Usage: netloom sample SCENARIO [OPTIONS]\n"
        "       netloom sample --decode PACKETS --fabric FABRIC [OPTIONS]\n"
        "       netloom sample --study [SCENARIO] [OPTIONS]"
    ),
    help_epilogue=example("sample"),
)
app.default(sample)
app.command(
    "netloom.cli.sample.decode:decode",
    name="--decode",
    help="Estimates from packets that receivers have kept, wherever they were sampled.",
)
app.command(
    "netloom.cli.study.sampling:study",
    name="--study",
    help="Table 2.1 of the dissertation, run here: errors beside the formulas, by share of packets.",
)
