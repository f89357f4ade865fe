"""`netloom.sample_routings`: a scenario simulated, with paths sampled inside packets."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from netloom import extras
from netloom.errors import ArgumentError
from netloom.runs import folder as runs
from netloom.runs.folder import Recorded
from netloom.sampling.told import told as of_samples
from netloom.session.checked import checked
from netloom.session.session import Session
from netloom.session.side_by_side import side_by_side
from netloom.simulating.routings import Opened, opened, overrides, result_of, with_memory, written

if TYPE_CHECKING:
    from netloom._core import Fabric, Sampled, Scenario


@checked(
    hop_bits=(1, 5),
    ecn_bytes=(0, 2**63 - 1),
    sampling_seed=(0, 2**64 - 1),
    rate=(1e-9, 1.0),
    every_us=(0.1, 1e8),
)
def sample_routings(
    scenario: str | os.PathLike[str],
    *,
    method: Literal["whole", "one-bit"] = "whole",
    rate: float = 1.0,
    every_us: float | None = None,
    contexts: Literal["job", "tag"] = "job",
    marking: Literal["queue", "probabilistic", "ecn"] = "queue",
    ecn_bytes: int | None = None,
    hop_bits: int = 3,
    hash: str | None = None,
    sampling_seed: int | None = None,
    packets: bool = False,
    truth: bool = False,
    routings: Sequence[str] | None = None,
    set: Sequence[str] = (),
    allow_credit_loops: bool = False,
    output: str | os.PathLike[str] | None = None,
    seed: int | None = None,
    threads: int = 0,
    work: int | None = None,
    time_limit: float | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Any]:
    """Simulates a scenario and samples the paths of packets inside them, as `netloom sample run` does.

    Parameters
    ----------
    scenario : path
        A scenario (.toml).
    method : {"whole", "one-bit"}, default "whole"
        What a packet carries: a link of its way, or one bit of a hash of it.
    rate : float, default 1.0
        The share of packets that carry it, 1e-9 to 1.
    every_us : float, optional
        Read and reset the sums every so many simulated microseconds. [default: at the end]
    contexts : {"job", "tag"}, default "job"
        What has separate sums.
    marking : str, default "queue"
        When a link is congested for a packet: `queue`, `probabilistic` or `ecn`.
    ecn_bytes : int, optional
        The threshold of `ecn`. [default: what an output buffer holds]
    hop_bits : int, default 3
        Bits of the hop count, 1 to 5.
    hash : str, optional
        The hash of `one-bit`: `gf`, `MODULUS,G`, `md5`, `siphash` or `siphash:KEY`. [default: gf]
    sampling_seed : int, optional
        Of draws and packets' ids. [default: the scenario's]
    packets : bool, default False
        Keep every sampled packet, as `packets` of `output`.
    truth : bool, default False
        Also record what links really carried, as `truth` of `output`.
    routings : sequence of str, optional
        Simulate these instead of the scenario's.
    set : sequence of str, optional
        Keys of the scenario with other values, `hardware.lanes=2`.
    allow_credit_loops : bool, default False
        Simulate routes with credit loops too, until packets wait for each other.
    output : path, optional
        Write the run as a folder; `read_run` and `diagnose_run` read it.
    seed : int, optional
        Of all that is random. [default: the scenario's]
    threads : int, default 0
        Threads, one a routing; 0 is one a core.
    work : int, optional
        Path searches of routings that are optimised.
    time_limit : float, optional
        End after so many seconds with what is known.
    progress : callable, optional
        Hears of simulated ps, and of all where that is known; called from several threads.

    Returns
    -------
    dict
        As `result` of `netloom sample run --format json`: `runs` has a row a routing, with its `contexts`.

    Raises
    ------
    ArgumentError
        If the hop count tells fewer hops apart than ways have.
    FormatError
        If the scenario is wrong, with file and line.
    OSError
        If a file cannot be read, or the folder cannot be written.

    Examples
    --------
    >>> import netloom as nl
    >>> from netloom import examples
    >>> told = nl.sample_routings(examples.path("scenarios/shuffle.toml"), rate=0.1, routings=["ftree"])
    >>> [context["job_name"] for context in told["runs"][0]["contexts"]]
    ['shuffle']
    """
    from netloom import _core

    extras.need("arrow")
    session = Session(seed=seed, threads=threads, work=work, time_limit=time_limit, progress=progress)
    place = None if output is None else Path(output)
    if place is not None:
        runs.check_folder(place)
    words = overrides(set, None, routings, allow_credit_loops, seed, work)
    given = opened_for(session, os.fspath(scenario), words, every_us)
    check_hops(given.scenario.fabric, hop_bits)
    how: dict[str, Any] = {
        "method": method,
        "rate": rate,
        "every_us": every_us,
        "contexts": contexts,
        "marking": marking,
        "ecn_bytes": ecn_bytes,
        "hop_bits": hop_bits,
        "hash": None if hash is None else _core.sampling_hash(hash),
        "seed": sampling_seed,
        "packets": packets,
        "truth": truth,
    }
    return of_routings(session, given, how, place)


def opened_for(session: Session, source: str, overrides: Sequence[str], every_us: float | None) -> Opened:
    """Reads a scenario; ports count in the same windows, as diagnosis looks at both."""

    def more(text: str) -> list[str]:
        asked = any("counters_every_us" in words for words in (text, *overrides))
        return [] if every_us is None or asked else [f"measure.counters_every_us={every_us}"]

    return opened(session, source, overrides, more=more)


def check_hops(fabric: Fabric, hop_bits: int) -> None:
    """Refuses a hop count that tells fewer hops apart than ways have: packets would count too little."""
    longest = 2 * fabric.levels
    if longest > 2**hop_bits:
        raise ArgumentError(
            f"hop-bits {hop_bits} tell {2**hop_bits} hops apart, ways here have up to {longest}: expected "
            f"{(longest - 1).bit_length()} bits at least, as longer ways would count too little"
        )


def of_routings(session: Session, opened: Opened, how: dict[str, Any], output: Path | None) -> dict[str, Any]:
    """Samples under every routing of a scenario; the result."""
    given = opened.scenario
    found, told = _sampled(session, given, how, keeps=output is not None)
    result = result_of(given, found)
    session.note_fallbacks([one.routing for one in found], given.fabric)
    for word, of_routing in told.items():
        for one in result["runs"]:
            if one["routing"] == word:
                one.update(of_routing)
        for one in of_routing["findings"]:
            session.note(f"{word}: {one['text']}", kind="warning")
    written(session, opened, output, found, result)
    return result


def _sampled(
    session: Session, given: Scenario, how: dict[str, Any], *, keeps: bool
) -> tuple[list[Recorded], dict[str, dict[str, Any]]]:
    """Every routing that ended or was cut, in the scenario's order, and what is told of its samples."""
    from netloom import _core

    done: dict[str, Recorded] = {}
    told: dict[str, dict[str, Any]] = {}
    # Tables that can't be used are refused before the first routing runs.
    made = {word: given.routes(word) for word in given.routings if not word.startswith("optimized")}

    def work(word: str, threads: int, left: float | None, progress: Any) -> Recorded:
        if word in made:
            tables = made[word]
        else:
            tables = given.routes(word, threads=threads, progress=progress)
        found = _core.sample(
            given, word, routes=tables, threads=threads, time_limit=left, progress=progress, **how
        )
        files = {}
        if keeps:
            files = {**runs.files_of(found.simulation, given.fabric, "parquet"), **_files(found, given)}
            if tables is not None and word.startswith("optimized"):
                files["routes.lfts.gz"] = runs.packed(tables.to_bytes())
        told[word] = of_samples(found, given)
        result = with_memory(found.simulation.result())
        result["sampling"] = {**found.settings(), "fabric": given.fabric_source}
        return Recorded(result, files)

    with session.timed("simulate"):
        side_by_side(session, given.routings, work, done.__setitem__)
    return [done[word] for word in given.routings if word in done], told


def _files(found: Sampled, given: Scenario) -> dict[str, bytes]:
    """The tables of samples."""
    import pyarrow as pa

    from netloom import hashes, interop, sampling

    how = {"packets": hashes.metadata(found.settings())}
    return {
        f"{name}.parquet": interop.table_bytes(pa.table(columns, metadata=how.get(name)), ".parquet")
        for name, columns in sampling.columns_of(found, given).items()
    }
