"""`netloom demo`, and its commands: `live` needs ibsim and OpenSM, `dataplane` root and clang."""

from __future__ import annotations

import cyclopts

from netloom.cli.demo.command import demo

app = cyclopts.App(help="Optimise routes for real applications on a real fabric's dump, and check the proof.")
app.default(demo)
app.command(
    "netloom.cli.demo.dataplane:dataplane",
    name="dataplane",
    help="Section 2.7 of the dissertation with real packets, in network namespaces; needs root.",
)
app.command(
    "netloom.cli.demo.live:live",
    name="live",
    help="The closed loop in front of a real OpenSM, on a simulated fabric: three rounds, before and after.",
)
