"""Papers 001 to 004."""

from __future__ import annotations

from netloom.studies.listed.item import NOT_OURS, NOT_REPRODUCED, PARTLY, REPRODUCED, Item

_AFAR = "docs/methods/afar.md"
_SLIM = "docs/methods/slimming.md"
_CONTROL = "docs/methods/congestion.md"
_NOISE = "docs/methods/noise.md"
_PLAN = "docs/methods/planning.md"
_SIMULATED = "cab is simulated, a part of each step"
_CAB = "cab is simulated, a part of each step; at the paper's thresholds AFAR gains less"
_XC = "simulated: 64 hosts beside neighbours at a fixed load, not a production machine"
_NO_UMT = "no trace of UMT2K that says who sends to whom is public"
_RANKS_IN_ORDER = (
    "at 6.5 and 10.3 kB snooping gains nothing with ranks in order, at 26 kB 50 %, where the talk has 25 to "
    "45 %; random tables are better than d-mod-k, where the talk has them alike"
)


def _smith(what: str, about: str, state: str, why: str = "", *commands: str, page: str = _AFAR) -> Item:
    return Item("001", what, about, state, why, commands, page if commands else None)


def _afar(what: str, about: str, workloads: str, state: str = PARTLY, why: str = _CAB) -> Item:
    return _smith(what, about, state, why, f"netloom study afar --workloads {workloads}")


SMITH = (
    _afar(
        *("figure 1", "bis and NN beside other jobs and alone; MILC on Edison", "8", PARTLY),
        "the left half; what MILC sent on Edison is not published",
    ),
    _smith("figure 2", "a tree of three levels", NOT_OURS, "a drawing"),
    _smith("figure 3", "a Cascade of four groups", NOT_OURS, "a drawing"),
    _afar(
        *("table I", "the benchmarks, as they are run", "4,8,16", PARTLY),
        "what the program takes as its input; nothing is compared",
    ),
    _afar("figure 4", "slowdowns of 4, 8 and 16 jobs", "4,8,16", PARTLY, _SIMULATED),
    _afar("figure 5", "loads of all links under 16 jobs", "16", REPRODUCED, ""),
    _afar(
        *("figure 6", "times of processes against their hottest link", "4,8,16", PARTLY),
        f"{_SIMULATED}; the breakpoint is lower than the paper's",
    ),
    _smith(
        *("figure 7", "a job's time, step by step", PARTLY),
        "a stencil beside bursts, simulated, in place of MILC on Edison",
        "netloom study steps",
    ),
    _smith(
        *("figure 8", "times told from counters", PARTLY),
        "the same; here all features beat the sparse ones, which the paper finds best, and its 0.35 is of a "
        "variance that it does not tell",
        "netloom study steps",
    ),
    _smith(
        *("table II", "what recording costs", PARTLY),
        "the time of a call is chosen by row so that its formula gives the published figure (312, 110 and "
        "417 ns; the paper says 100 to 380), which tests nothing; netloom's recorder has no reduction at the "
        "end, for which the paper's figures have 250 ms",
        "netloom study recorder",
        page="docs/verbs/study.md",
    ),
    _afar(
        *("figure 9", "16 jobs with ftree and with AFAR", "16"),
        why=f"{_CAB}; the paper's is its second placement, the worst of three, with a table chosen from 15; "
        "ours is the first of three, with the table at the threshold",
    ),
    _afar("figure 10", "8 jobs in eight placements", "8"),
    _smith(
        *("table III", "Qbox, MILC and pF3D with AFAR", NOT_REPRODUCED),
        "what they send is not published; pF3D itself is confidential",
    ),
    _afar(
        *("table IV", "the applications' input sizes", "4,8,16", PARTLY),
        "two of five: what MILC, pF3D and Qbox send is not published",
    ),
    _smith("figure 11", "how MILC is compiled", NOT_OURS, "commands without data"),
    _smith("figure 12", "how Qbox is compiled", NOT_OURS, "commands without data"),
)


def _talk(what: str, about: str, state: str, why: str, *commands: str, page: str | None = None) -> Item:
    return Item("002", what, about, state, why, commands, page)


_NO_AXES = "the talk's curves have no numbers in our copy: its sentences are compared"
_CG = "netloom simulate examples/congestion/cg.toml"
_FT = "netloom simulate examples/congestion/ft.toml"

MINKENBERG = (
    _talk("slide oblivious routing", "s-mod-k and d-mod-k on a small tree", NOT_OURS, "a drawing"),
    _talk(
        *("slide WRF", "WRF on a tree with ever fewer spines", REPRODUCED, _NO_AXES),
        "netloom simulate examples/slimming/wrf.toml",
        *(
            f"netloom simulate examples/slimming/wrf.toml --set fabric=xgft:m=16x16,w=1x{spines}"
            for spines in (15, 8)
        ),
        page=_SLIM,
    ),
    _talk(
        *("slide CG slimming", "CG on a tree with ever fewer spines", PARTLY),
        "no figure of the talk's curve can be read in our copy",
        "netloom simulate examples/slimming/cg.toml",
        *(
            f"netloom simulate examples/slimming/cg.toml --set fabric=xgft:m=16x8,w=1x{spines}"
            for spines in (15, 8)
        ),
        "netloom simulate examples/slimming/cg.toml --set fabric=xgft:m=128,w=1 --routings d-mod-k",
        page=_SLIM,
    ),
    _talk(
        "slide congestion entry", "the fields of a congestion table", NOT_OURS, "a description of a format"
    ),
    _talk(
        *("slide CG linear", "CG in order: oblivious, coloured, QCN, snooping", PARTLY, _RANKS_IN_ORDER),
        f"{_CG} --set congestion.control=none --routings d-mod-k,random,coloured",
        f"{_CG} --routings d-mod-k,snooping",
        page=_CONTROL,
    ),
    _talk(
        *("slide CG random", "CG at random places: the same", PARTLY),
        'missed: the talk has switches that snoop "even better than offline optimization", here coloured '
        "routes are better",
        f"{_CG} --set job.cg.mapping=random --set congestion.control=none --routings d-mod-k,random,coloured",
        f"{_CG} --set job.cg.mapping=random --routings d-mod-k,snooping",
        page=_CONTROL,
    ),
    _talk(
        *("slide FT random", "FT at random places: d-mod-k, snooping", PARTLY),
        "0.71 to 0.75, at or below the talk's 0.75 to 0.90",
        f"{_FT} --set job.ft.mapping=random --routings d-mod-k,snooping",
        page=_CONTROL,
    ),
)


def _noise(what: str, about: str, state: str, why: str, *commands: str) -> Item:
    return Item("003", what, about, state, why, commands, _NOISE if commands else None)


def _noised(what: str, about: str, scenario: str, job: str, why: str, state: str = PARTLY) -> Item:
    return _noise(what, about, state, why, f"netloom noise examples/{scenario}.toml --job {job}")


_MANY = (
    "netloom study modes --benchmarks alltoall,broadcast,halo3d --sizes large --links 2 --rounds 2 --seeds 5"
)

DESENSI = (
    _noise("figure 1", "a dragonfly and an adapter", NOT_OURS, "a drawing"),
    _noise("figure 2", "a message and its adapter's counters", NOT_OURS, "a drawing"),
    _noised(
        *("equations 1, 2", "the time of a message from counters", "noise/transmission", "pingpong"),
        "the formulas hold; with detours five of twelve correlations are below 0.9",
    ),
    _noise(
        *("figure 3", "16 KiB ping-pong by distance", PARTLY),
        "other chassis take 1.9 times the blade's time (adaptive:3: 1.4), where the paper has barely more, "
        "and are nearer than other blades; no outliers: neighbours are steady, and hosts have no noise of "
        "their own",
        "netloom sweep run examples/sc19/distance.toml -o swept",
    ),
    _noise(
        *("table 1", "counters of a job that goes on", PARTLY),
        "neighbours' adapters in 1 and 2 ms, not a node's in 1 and 2 s. Flits grow 2.00 times (there 2.32), "
        "stalled cycles not at all (there 1.67 times)",
        "netloom simulate examples/sc19/idle.toml --format json",
        "netloom simulate examples/sc19/idle.toml --set max_time_ms=2 --format json",
    ),
    _noised(
        *("figure 4", "all-to-all of a host's own ranks", "sc19/one-host", "alltoall"),
        "missed: it does not spread here, as hosts are not simulated so far",
        NOT_REPRODUCED,
    ),
    _noised(
        *("figure 5", "spread of times and of latencies by size", "sc19/pingpong", "pingpong"),
        "missed, of one size: latencies spread more here, not less",
        NOT_REPRODUCED,
    ),
    _noise("figure 6", "how adaptive routing makes noise", NOT_OURS, "an example worked by hand"),
    _noised(
        "figure 7", "ping-pong in two modes", "noise/modes", "pingpong", "between groups the sign is missed"
    ),
    _noise(
        *("figure 8", "seven benchmarks by mode, 1,024 nodes of Piz Daint", PARTLY),
        "64 hosts: a round of its all-to-alls would be 268 million packets",
        "netloom study modes",
        _MANY,
    ),
    _noise(
        "figure 9", "seven benchmarks by mode, 64 nodes of Cori", PARTLY, _XC, "netloom study modes", _MANY
    ),
    _noise(
        *("figure 10", "applications by mode, 256 nodes of Piz Daint", NOT_REPRODUCED),
        "what they send and compute is not in the paper",
    ),
)


def _levels(what: str, about: str, state: str, why: str, *commands: str, page: str = _PLAN) -> Item:
    return Item("004", what, about, state, why, commands, page if commands else None)


CHEN = (
    _levels(
        *("figure 1", "LAMMPS on 128 nodes, in order and at random", NOT_REPRODUCED),
        "no trace of LAMMPS on 128 ranks that says who sends to whom is public",
    ),
    _levels(
        *("table I", "packet delay of UMT2K, three trees, two placements", NOT_REPRODUCED),
        f"{_NO_UMT}; of links crossed, not of delays, its order holds for recorded applications "
        "(docs/methods/planning.md)",
    ),
    _levels("figure 2", "a tree of three levels", NOT_OURS, "a drawing"),
    _levels(
        *("figure 3", "shares of traffic by highest level, three trees", PARTLY),
        f"of recorded applications: {_NO_UMT}",
        *(
            f"netloom traffic show examples/data/nekbone-256.mtx.gz --levels {tree}"
            for tree in ("4x4x4x4", "16x16")
        ),
    ),
    _levels("figure 4", "levels as a chain of servers", NOT_OURS, "a drawing"),
    _levels("figure 5", "probabilities of one server", NOT_OURS, "a drawing"),
    _levels("table II", "notation", NOT_OURS, "notation"),
    _levels("figure 6", "a direct network of three levels", NOT_OURS, "a drawing"),
    _levels(
        *("figure 7", "GUPS on the direct network: throughput, use of levels", PARTLY),
        "what a byte visits of each level; on balanced networks, as the paper's gateways are uneven",
        "netloom traffic show all-to-all:ranks=420,bytes=24 --levels direct:4x5x21",
        "netloom traffic show all-to-all:ranks=5256,bytes=24 --levels direct:8x9x73",
        "netloom study bandwidth",
    ),
    _levels(
        *("figure 8", "throughput under three divisions of bandwidth", PARTLY),
        "by the paper's formulas, without its simulator; how policy 3 divides is not published",
        "netloom study bandwidth",
        page="docs/verbs/study.md",
    ),
    _levels("figure 9", "packet delay of UMT2K on slimmed trees", NOT_REPRODUCED, _NO_UMT),
)
