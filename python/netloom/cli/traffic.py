"""`netloom traffic`: make, inspect, place and convert traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from netloom.cli.shared import options, outputs, render
from netloom.cli.shared.exits import UsageError
from netloom.cli.shared.options import Seeded, SeededProduct
from netloom.cli.shared.run import Run
from netloom.findings import bad, finding
from netloom.optimizing import told_error
from netloom.session import jobs_file
from netloom.session.sources import is_stdin
from netloom.training import collective, models
from netloom.training import placed as of_jobs

if TYPE_CHECKING:
    from netloom._core import Fabric, Job, Traffic
    from netloom.hierarchy import Hierarchy
    from netloom.training.placed import Ranked

ENDINGS = (".mtx", ".mtx.gz", ".csv", ".csv.gz", ".npz", ".parquet")
_SCHEDULES = (".goal", ".goal.gz")
"""What only collectives are written as: they know which message waits for which."""


def new(
    pattern: str,
    fabric: str | None = None,
    /,
    *,
    endpoints: Annotated[int | None, options.within(1, 2**31 - 1)] = None,
    options: Seeded | None = None,
) -> int:
    """Make traffic from a pattern spec.

    Parameters
    ----------
    pattern
        `bisection`, `bisection-shuffle:seed=1,noise=0.05`, `stencil:16x16x12,periodic`, `all-to-all`,
        `permutation:seed=1`, …; a collective as NCCL does it: `nccl-ring:machines=8,gpus=8,bytes=1GiB`; or a
        step of training: `llm:llama3-70b,tp=8,pp=4,dp=32,seq=8192,batch=1024`.
    fabric
        The fabric whose hosts are the endpoints.
    endpoints
        The number of endpoints instead of a fabric.
    options
        Common options; the ending after `-o` names the format: .mtx, .csv (also .gz), .npz, .parquet; of
        NCCL's collectives also .goal (also .gz), a schedule that `netloom simulate` runs as a trace.
    """
    from netloom import _core
    from netloom.errors import TrafficError

    if fabric is not None and endpoints is not None:
        raise UsageError("traffic new takes a FABRIC or --endpoints, not both")
    nccl = collective.named(pattern)
    run = Run("traffic-new", options or Seeded(), endings=ENDINGS + (_SCHEDULES if nccl else ()))
    net = None if fabric is None else run.fabric(fabric)
    if nccl:
        return _nccl(run, pattern, net, endpoints)
    if models.named(pattern):
        return _step(run, pattern, net, endpoints)
    if net is not None and _core.is_pattern(pattern):
        demand = run.traffic(pattern, net)
    else:
        run.note_input("traffic", pattern, None)
        demand = _core.Traffic.pattern(pattern, endpoints)
    if net is not None and demand.endpoints != net.hosts:
        raise TrafficError(f"{pattern} has {demand.endpoints} endpoints, the fabric {net.hosts} hosts")
    result = {**summary(demand), "output": write(run, demand)}
    return run.finish(result, lambda: text(result))


def _nccl(run: Run, spec: str, net: Fabric | None, endpoints: int | None) -> int:
    """A collective of NCCL: what it sends between machines, or its schedule."""
    from netloom.errors import SpecError
    from netloom.training.schedule import goal

    what = collective.Collective.parse(spec, net)
    if endpoints not in (None, what.ranks):
        raise SpecError(f"{spec}: expected --endpoints {what.ranks}, its ranks, found {endpoints}")
    demand = run.traffic(spec, net)
    if run.has_product and not run.product_to_stdout and outputs.ending(run.options.output) == ".goal":
        with run.timed("write"):
            data = goal(what).encode()
        written = run.write(data)
    else:
        written = write(run, demand)
    result = {**summary(demand), "inside_machines": what.inside, "output": written}
    return run.finish(result, lambda: text(result))


def _step(run: Run, spec: str, net: Fabric | None, endpoints: int | None) -> int:
    """A step of training: what its ranks send to other machines, and by kind of parallelism."""
    from netloom.errors import SpecError

    step = models.Step.parse(spec, net)
    if endpoints not in (None, step.ranks):
        raise SpecError(f"{spec}: expected --endpoints {step.ranks}, its ranks, found {endpoints}")
    demand, sent = run.traffic(spec, net), step.sent()
    model = {
        "parameters": step.model.parameters,
        "parameters_of_rank": step.parameters_of_rank,
        "micro_batches": step.micro_batches,
        "sent": sent,
    }
    inside = round(sum(kind["inside"] for kind in sent.values()))
    result = {**summary(demand), "inside_machines": inside, "model": model, "output": write(run, demand)}
    return run.finish(result, lambda: text(result))


Collectives = Literal["all", "none"]


def show(
    traffic: str,
    fabric: str | None = None,
    /,
    *,
    collectives: Collectives = "all",
    levels: str | None = None,
    options: Seeded | None = None,
) -> int:
    """Show what is in a traffic.

    Parameters
    ----------
    traffic
        A file (.mtx, .csv, .txt, .npz, .npy, .parquet), a recorded run (SimGrid's .ti, its index or folder;
        GOAL; DUMPI, OTF2 or Chakra, a file or the folder; the folder of `netloom record` or of Open MPI's
        .prof files), a jobs file (.toml; needs a fabric), or a pattern spec.
    fabric
        The fabric on whose hosts it is.
    collectives
        Whether collectives of traces count, as the messages that `netloom simulate` makes of them.
    levels
        What it uses of every level of a tree of these sizes, from the leaves up (`4x4x4x4`), or of a network
        without switches above its nodes (`direct:4x5x21`); endpoints in order.
    options
        Common options; `-o` writes the result (.json, .csv).
    """
    hierarchy = None if levels is None else _hierarchy(levels)
    run = Run("traffic-show", options or Seeded(), product=False)
    net = None if fabric is None else run.fabric(fabric)
    demand = run.traffic(traffic, net, collectives=collectives, tell=False)
    result = summary(demand)
    result["phase_list"] = _phases(demand)
    if net is not None:
        why = misfit(demand, net)
        result["fits"], result["misfit"] = why is None, why
        result["mean_hops"] = demand.mean_hops(net) if why is None else None
    if hierarchy is not None:
        result["levels"] = _used(demand, hierarchy)
    misfits = result.get("fits") is False or bad(result["findings"])
    return run.finish(result, lambda: text(result), findings=misfits)


def place(
    fabric: str,
    jobs: Path,
    /,
    *,
    collectives: Collectives = "all",
    local: bool = False,
    order: Literal["leaf"] | None = None,
    write_rankfile: Annotated[Path | None, options.OUTPUT_PATH] = None,
    write_hostfile: Annotated[Path | None, options.OUTPUT_PATH] = None,
    write_torchrun: Annotated[Path | None, options.OUTPUT_PATH] = None,
    options: Seeded | None = None,
) -> int:
    """Place the jobs of a jobs file on a fabric's hosts.

    Parameters
    ----------
    fabric
        A dump of InfiniBand's tools, a table of cables, an ibsim net file, or a generator spec.
    jobs
        A jobs file (.toml).
    collectives
        Whether collectives of traces count; `none` overrides the file.
    local
        Ranks of one machine talk inside it, whatever adapters they have: these bytes are left out and told.
    order
        `leaf`: every job keeps its hosts, and its machines change places so that ranks follow the leaves.
    write_rankfile
        Write the machine of every rank for `mpirun --rankfile` of Open MPI; of one job.
    write_hostfile
        Write the machine of every rank for `SLURM_HOSTFILE=FILE srun --distribution=arbitrary`; of one job.
    write_torchrun
        Write what torchrun is given on every machine: its node rank, ranks a machine; of one job.
    options
        Common options; `--seed` overrides the file's.
    """
    from netloom import _core

    if is_stdin(str(jobs)):
        raise UsageError("a jobs file cannot come from standard input: its paths are relative to it")
    run = Run("traffic-place", options or Seeded(), endings=ENDINGS)
    launchers = {"rankfile": write_rankfile, "hostfile": write_hostfile, "torchrun": write_torchrun}
    for name, path in launchers.items():
        if path is not None:
            run.also_writes(path, f"--write-{name}")
    net = run.fabric(fabric)
    run.read("jobs", str(jobs))
    with run.timed("place"):
        try:
            read, placed = _core.place_jobs(net, jobs, seed=run.given_seed, collectives=collectives)
        except OSError as error:
            jobs_file.raise_in_jobs(jobs, error)
    run.note_jobs(jobs)
    demand, stays, ranked = read, None, list["Job | Ranked"](placed)
    with run.timed("place"):
        if order:
            demand, moved = of_jobs.by_leaf(demand, placed, net)
            ranked = [*moved]
        if local:
            demand, stays = of_jobs.outside(demand, net)
    table = net.host_table()
    rows = [
        {
            "name": job.name,
            "ranks": len(job.host_of_rank),
            "machines": len({table["machine"][host] for host in job.hosts}),
            "hosts": len(job.hosts),
            "leaves": len(set(table["leaf"][job.hosts].tolist())),
            "first_host": net.host_names[int(job.hosts[0])] if len(job.hosts) else None,
        }
        for job in ranked
    ]
    jobs_of = [{**row, "placement": where(job, table)} for row, job in zip(rows, ranked, strict=True)]
    made = {name: _for_launcher(name, jobs_of, str(jobs)) for name, path in launchers.items() if path}
    # What was read, and the pairs that are left of it.
    told = summary(read)
    kept = {key: told[key] for key in ("bytes", "phases", "findings")}
    result = {
        **summary(demand),
        **kept,
        "inside_machines": stays,
        "jobs": jobs_of,
        "output": write(run, demand),
    }
    result |= {name: run.write(made[name], path) if path else None for name, path in launchers.items()}
    return run.finish(result, lambda: text(result), rows=rows)


def _for_launcher(name: str, jobs: Sequence[Mapping[str, Any]], label: str) -> bytes:
    """What a launcher takes, of the only job."""
    from netloom import rankfile
    from netloom.errors import PlaceError

    if len(jobs) != 1:
        raise UsageError(f"--write-{name} is about one job, {label} has {len(jobs)} (copies count)")
    machines = [row["machine"] for row in jobs[0]["placement"]]
    try:
        data: bytes = getattr(rankfile, name)(machines)
        return data
    except PlaceError as error:
        raise PlaceError(f"{label}: --write-{name}: {error}") from None


def where(job: Job | Ranked, table: dict[str, Any]) -> list[dict[str, Any]]:
    """Machine, adapter and host of every rank of a job; `table` is the fabric's host table."""
    keys = {"machine": table["machine"], "adapter": table["adapter"], "host": table["name"]}
    return [
        {"rank": rank, **{key: column[host] for key, column in keys.items()}}
        for rank, host in enumerate(job.host_of_rank.tolist())
    ]


def convert(
    traffic: str,
    fabric: str | None = None,
    /,
    *,
    collectives: Collectives = "all",
    options: SeededProduct | None = None,
) -> int:
    """Write traffic in another format.

    Parameters
    ----------
    traffic
        A file (.npz, .parquet, or .mtx, .csv, these also with .gz), a recorded run (SimGrid's .ti, its index
        or folder; GOAL; DUMPI, OTF2 or Chakra, a file or the folder; the folder of `netloom record` or of
        Open MPI's .prof files), a jobs file, or a pattern spec.
    fabric
        The fabric on whose hosts it is; what is written is then bound to them.
    collectives
        Whether collectives of traces count.
    options
        Common options; the ending after `-o` names the format.
    """
    options = options or SeededProduct()
    outputs.need_output("traffic convert", options)
    run = Run("traffic-convert", options, endings=ENDINGS)
    net = None if fabric is None else run.fabric(fabric)
    demand = run.traffic(traffic, net, collectives=collectives, tell=False)
    result = {**summary(demand), "output": write(run, demand, told_error.told(traffic))}
    return run.finish(result, lambda: text(result))


def summary(demand: Traffic) -> dict[str, Any]:
    """What every traffic verb says of a traffic."""
    import numpy as np

    partners = np.diff(demand.indptr)
    received = np.bincount(demand.indices, minlength=demand.endpoints)
    sources = int(np.count_nonzero(partners))
    return {
        "endpoints": demand.endpoints,
        "pairs": demand.pairs,
        "total_bytes": demand.total_bytes,
        "bytes": demand.made_of,
        "sources": sources,
        "destinations": int(np.count_nonzero(received)),
        "mean_partners": demand.pairs / sources if sources else 0.0,
        "max_partners": int(partners.max(initial=0)),
        "min_bytes": float(demand.data.min()) if demand.pairs else 0.0,
        "max_bytes": float(demand.data.max()) if demand.pairs else 0.0,
        "phases": len(demand.phase_names),
        "hosts_hash": demand.hosts_hash,
        "findings": [finding(kind, text) for kind, text in demand.notes],
    }


def _phases(demand: Traffic) -> list[dict[str, Any]]:
    """The phases in order; none where all happens at once."""
    names, repeats = demand.phase_names, demand.phase_repeats
    if len(names) < 2:
        return []
    each = [demand.phase(i) for i in range(len(names))]
    return [
        {"name": name, "repeats": times, "pairs": phase.pairs, "total_bytes": phase.total_bytes}
        for name, times, phase in zip(names, repeats, each, strict=True)
    ]


def _hierarchy(text: str) -> Hierarchy:
    from netloom.hierarchy import Hierarchy

    try:
        return Hierarchy.parse(text)
    except ValueError as error:
        raise UsageError(f"--levels: {error}") from None


def _used(demand: Traffic, hierarchy: Hierarchy) -> dict[str, Any]:
    """What a traffic uses of every level, by the chain of the levels."""
    from netloom.errors import TrafficError
    from netloom.hierarchy import use

    try:
        found = use(demand, hierarchy)
    except ValueError as error:
        raise TrafficError(f"--levels: {error}") from None
    return {
        "sizes": str(hierarchy),
        "even": hierarchy.is_even,
        "beyond": found.beyond.tolist(),
        "visits": found.visits.tolist(),
        "links": float(found.visits.sum()),
        "first": found.first.tolist(),
        "onward": found.onward.tolist(),
    }


def misfit(demand: Traffic, net: Fabric) -> str | None:
    """Why a traffic does not belong on a fabric: by the hosts' names where it says, else by their number."""
    if demand.endpoints != net.hosts:
        return f"the fabric has {render.count(net.hosts)} hosts"
    if demand.hosts_hash not in (None, net.hosts_hash):
        return "it was made for hosts of other names, or in another order"
    return None


def text(result: dict[str, Any]) -> str:
    """The report of a traffic."""
    count, size = render.count, render.size
    what = "hosts" if result["hosts_hash"] else "ranks, or hosts by number"
    per_pair = size(result["min_bytes"])
    if result["max_bytes"] != result["min_bytes"]:
        per_pair += f" to {size(result['max_bytes'])}"
    partners = f"{result['mean_partners']:.2f} partners each, at most {count(result['max_partners'])}"
    rows = [
        ("endpoints", f"{count(result['endpoints'])} ({what})"),
        ("pairs", f"{count(result['pairs'])} ({per_pair} each)"),
        ("bytes", size(result["total_bytes"]) + _made_of(result["bytes"])),
        *_inside(result.get("inside_machines")),
        ("senders", f"{count(result['sources'])} ({partners})"),
        ("receivers", count(result["destinations"])),
    ]
    if result.get("mean_hops") is not None:
        rows.append(("mean hops", f"{result['mean_hops']:.2f} links from host to host"))
    if result["phases"] > 1:
        rows.append(("phases", count(result["phases"])))
    if "fits" in result:
        rows.append(("fits the fabric", "yes" if result["fits"] else f"no: {result['misfit']}"))
    if result.get("output"):
        rows.append(("written", result["output"]))
    rows += [(name, result[name]) for name in ("rankfile", "hostfile", "torchrun") if result.get(name)]
    out = render.pairs(rows)
    if result.get("model"):
        out += "\n\n" + _model_text(result["model"])
    if result.get("phase_list"):
        cells = [
            [row["name"], f"{row['repeats']:,g}", count(row["pairs"]), size(row["total_bytes"])]
            for row in result["phase_list"]
        ]
        out += "\n\n" + render.table(["phase", "times", "pairs", "bytes"], cells, right=[1, 2, 3])
    if "levels" in result:
        out += "\n\n" + _levels_text(result["levels"])
    if result.get("jobs"):
        numbers = ["ranks", "machines", "hosts", "leaves"]
        if all(job["machines"] == job["hosts"] for job in result["jobs"]):
            numbers.remove("machines")
        cells = [
            [job["name"], *(count(job[key]) for key in numbers), job["first_host"] or ""]
            for job in result["jobs"]
        ]
        header = ["job", *numbers, "first host"]
        out += "\n\n" + render.table(header, cells, right=[*range(1, len(numbers) + 1)])
    return out + render.findings(result.get("findings", ()))


_KINDS = {"tp": "tensor", "pp": "pipeline", "dp": "data", "ep": "expert"}


def _model_text(model: Mapping[str, Any]) -> str:
    """What a step sends by kind of parallelism."""
    cells = [
        [_KINDS[kind], *(render.size(sent[key]) for key in ("of_rank", "of_rank_outside", "outside"))]
        for kind, sent in model["sent"].items()
    ]
    whole, mine = model["parameters"], model["parameters_of_rank"]
    head = f"parameters  {_parameters(whole)}, {_parameters(mine)} of a rank"
    header = ["parallel", "sent by a rank", "to other machines", "by all to others"]
    return head + "\n\n" + render.table(header, cells, right=[1, 2, 3])


def _parameters(count: float) -> str:
    """A number of parameters in billions or millions, or whole."""
    for unit, word in ((1e9, "billion"), (1e6, "million")):
        if count >= unit:
            return f"{count / unit:,.2f} {word}"
    return f"{count:,.0f}"


def _inside(stays: float | None) -> list[tuple[str, str]]:
    """What no link of the fabric sees, where ranks of a machine talk inside it."""
    return [] if stays is None else [("inside", f"{render.size(stays)} more between adapters of one machine")]


def _levels_text(used: Mapping[str, Any]) -> str:
    """A row a level: how far packets go, what they cross, where they go on."""
    numbers = range(1, len(used["beyond"]) + 1)
    cells = [
        [str(level), f"{beyond:.4f}", f"{visits:.4f}", f"{first:.4f}", *(f"{share:.4f}" for share in onward)]
        for level, beyond, visits, first, onward in zip(
            numbers, used["beyond"], used["visits"], used["first"], used["onward"], strict=True
        )
    ]
    header = ["level", "P(H >= level)", "visits", "first", *(f"then {level}" for level in numbers)]
    title = f"levels of {used['sizes']}: {used['links']:.4f} links a byte"
    if not used["even"]:
        title += "; links of a level are not alike, and sums over it hide the busiest"
    return title + "\n" + render.table(header, cells, right=[*range(len(header))])


def _made_of(made: dict[str, float]) -> str:
    """What of the bytes are not messages that one sends another, in brackets."""
    words = {
        "collective": "of collectives",
        "within_endpoints": "more stay within an endpoint",
        "left_out": "of collectives left out",
    }
    parts = [f"{render.size(made[key])} {word}" for key, word in words.items() if made[key]]
    return f" ({', '.join(parts)})" if parts else ""


def write(run: Run, demand: Traffic, inferred: told_error.Told | None = None) -> str | None:
    """Writes traffic; the file says how far it can be trusted if it was `inferred`."""
    if not run.has_product:
        return None
    ending = ".mtx" if run.product_to_stdout else outputs.ending(run.options.output)
    with run.timed("write"):
        if ending in (".mtx", ".csv"):
            data = demand.to_bytes("mtx" if ending == ".mtx" else "csv")
            data = data if inferred is None else told_error.marked(data, inferred)
        else:
            from netloom import interop

            remark = None if inferred is None else inferred.remark
            data = interop.traffic_bytes(demand, "npz" if ending == ".npz" else "parquet", remark)
    return run.write(data)
