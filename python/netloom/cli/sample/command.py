"""`netloom sample run`: a scenario simulated with paths sampled inside packets, by window and context."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from netloom import extras
from netloom.cli.sample import report
from netloom.cli.shared import options
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Searching
from netloom.cli.shared.run import Run
from netloom.cli.shared.unfit import named, need, refuse
from netloom.cli.simulate import command as simulate
from netloom.errors import ArgumentError
from netloom.runs import folder as runs
from netloom.sampling.runs import check_hops, of_routings, opened_for
from netloom.session.sources import is_stdin

_Method = Literal["whole", "one-bit"]
_Marking = Literal["queue", "probabilistic", "ecn"]
_UNFIT = (
    *need(("--packets", "--with-truth"), ("--output",), "{option} needs -o FOLDER"),
    *need(("--ecn-bytes",), ("--marking ecn",), "--ecn-bytes is of --marking ecn, of no other"),
    *need(("--hash",), ("--method one-bit",), "--hash is of --method one-bit, of no other"),
)


def run(
    scenario: str,
    /,
    *,
    method: _Method = "whole",
    rate: Annotated[float, options.within(1e-9, 1.0)] = 1.0,
    every_us: Annotated[float | None, options.within(0.1, 1e8)] = None,
    contexts: Literal["job", "tag"] = "job",
    marking: _Marking = "queue",
    ecn_bytes: Annotated[int | None, options.COUNT] = None,
    hop_bits: Annotated[int, options.within(1, 5)] = 3,
    hash_: Annotated[str | None, Parameter(name="--hash")] = None,
    sampling_seed: Annotated[int | None, options.COUNT] = None,
    packets: bool = False,
    with_truth: bool = False,
    routings: str | None = None,
    set_: Annotated[list[str] | None, Parameter(name="--set")] = None,
    allow_credit_loops: bool = False,
    options: Searching | None = None,
) -> int:
    """Simulate a scenario, packet by packet, and sample the paths of packets inside them.

    Every window and context gets its own estimates of packets and congested packets a link, with standard
    errors, and exact sums of what hosts have received.

    Parameters
    ----------
    scenario
        A scenario (.toml), as `netloom simulate` takes it.
    method
        What a packet carries: `whole`, a link of its way; `one-bit`, one bit of a hash of it.
    rate
        The share of packets that carry it.
    every_us
        Read and reset the sums every so many simulated microseconds. [default: at the end]
    contexts
        What has separate sums: every `job`, or every `tag` of its messages (all collectives count as one).
    marking
        When a link is congested for a packet: `queue`, its queue is longer than its credits; `probabilistic`,
        with the probability queue / (queue + credits); `ecn`, its queue is longer than a threshold.
    ecn_bytes
        The threshold of `ecn`. [default: what an output buffer holds]
    hop_bits
        Bits of the hop count: 3 hold 8 hops, 4 are for tori.
    hash_
        The hash of `one-bit`: `gf`, or `MODULUS,G`, in a Galois field (the modulus without x^32); `md5`;
        `siphash`, or `siphash:KEY`. [default: gf, which is 0x8d,0x127be738]
    sampling_seed
        Of draws and packets' ids. [default: the scenario's seed]
    packets
        Keep every sampled packet as it was received, as `packets.parquet` of `-o`.
    with_truth
        Also record what links really carried, as `truth.parquet` of `-o`.
    routings
        Simulate these routings instead of the scenario's, separated by commas.
    set_
        Give a key of the scenario another value, `hardware.lanes=2`; can be given several times.
    allow_credit_loops
        Simulate routes with credit loops too, until packets wait for each other.
    options
        Common options; `-o` writes the run as a folder, with samples beside what `netloom simulate` writes.
    """
    options = options or Searching()
    if is_stdin(scenario) or (options.output is not None and is_stdin(str(options.output))):
        raise UsageError("a scenario names files beside it and a run is a folder: neither can be -")
    asked = named(
        output=options.output,
        packets=packets,
        with_truth=with_truth,
        ecn_bytes=ecn_bytes,
        marking=marking,
        hash_=hash_,
        method=method,
    )
    refuse(_UNFIT, asked)
    extras.need("arrow")
    run = Run("sample", options, folder=True)
    if options.output is not None:
        runs.check_folder(options.output)
    overrides = simulate.overrides_of(set_ or [], None, routings, allow_credit_loops, options)
    function = report.hash_function(hash_)
    given = opened_for(run, scenario, overrides, every_us)
    try:
        check_hops(given.scenario.fabric, hop_bits)
    except ArgumentError as error:
        raise UsageError(f"--{error}") from None
    how: dict[str, Any] = {
        "method": method,
        "rate": rate,
        "every_us": every_us,
        "contexts": contexts,
        "marking": marking,
        "ecn_bytes": ecn_bytes,
        "hop_bits": hop_bits,
        "hash": function,
        "seed": sampling_seed,
        "packets": packets,
        "truth": with_truth,
    }
    result = of_routings(run, given, how, options.output)
    return run.finish(
        result,
        lambda: report.text(result),
        rows=report.rows(result["runs"]),
        findings=any(one["stopped"] == "deadlock" for one in result["runs"]),
    )
