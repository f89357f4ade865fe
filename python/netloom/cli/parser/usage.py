"""How each verb is called, and an example of it: what `--help` says beside the options.

Usage lines stand here where the parser's own would hide an argument behind `[ARGS]`, or not say that `-o` is
needed. Nothing heavy is imported: every start reads this.
"""

from __future__ import annotations

from netloom.cli.parser import brief

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

USAGE: dict[str, str] = {
    "examples": "DIR [OPTIONS]",
    "fabric new": "SPEC [OPTIONS]",
    "fabric convert": "FABRIC -o FILE [OPTIONS]",
    "traffic new": "PATTERN [FABRIC] [OPTIONS]",
    "traffic show": "TRAFFIC [FABRIC] [OPTIONS]",
    "traffic convert": "TRAFFIC [FABRIC] -o FILE [OPTIONS]",
    "counters poll": "[FABRIC] [OPTIONS]",
    "health": "FABRIC [COUNTERS [AFTER]] [OPTIONS]",
    "interference": "RUNS FABRIC ROUTES COUNTERS [OPTIONS]",
    "record": "--matrix | --events | --recover DIR [OPTIONS] [-- COMMAND ...]",
    "trace convert": "TRACE -o FILE [OPTIONS]",
    "trace scale": "TRACE RANKS -o FILE [OPTIONS]",
    "route": "ENGINE FABRIC [TRAFFIC] [OPTIONS]",
    "path": "FABRIC ROUTES FROM TO [OPTIONS]",
    "watch": "[FABRIC] [OPTIONS]",
    "dataplane up": "FABRIC [PORTS] [OPTIONS]",
    "dataplane collect": "-o FILE [OPTIONS]",
    "optimize": "FABRIC TRAFFIC [OPTIONS]",
    "simulate": "SCENARIO [OPTIONS]",
    "sample run": "SCENARIO [OPTIONS]",
    "infer": "FABRIC ROUTES COUNTERS [AFTER] [OPTIONS]",
    "study list": "[WHAT] [OPTIONS]",
    "study chapter4": "[APPLICATION ...] [OPTIONS]",
    "study table32": "[TRAFFIC ...] [OPTIONS]",
    "study page": "RESULT [RESULT ...] -o FILE [OPTIONS]",
    "study sampling": "[SCENARIO] [OPTIONS]",
    "study hashes": "[HASH ...] [OPTIONS]",
    "study bandwidth": "[VISITS ...] [OPTIONS]",
    "study recorder": "[OPTIONS]",
    "study training": "[OPTIONS]",
    "study afar": "[OPTIONS]",
    "study steps": "[OPTIONS]",
    "study modes": "[OPTIONS]",
    "sweep run": "SWEEP -o FOLDER [OPTIONS]",
    "apply rollback": "[NUMBER] [OPTIONS]",
    "lanes read": "[FABRIC] [OPTIONS]",
    "lanes load": "TABLES [FABRIC] [OPTIONS]",
    "plot matrix": "TRAFFIC [FABRIC] -o PICTURE [OPTIONS]",
    "plot loads": "FABRIC TRAFFIC [ROUTES ...] -o PICTURE [OPTIONS]",
    "plot front": "SOURCE -o PICTURE [OPTIONS]",
    "plot run": "FOLDER -o PICTURE [OPTIONS]",
    "plot slowdown": "RESULT -o PICTURE [OPTIONS]",
    "plot tail": "FOLDER -o PICTURE [OPTIONS]",
    "plot engines": "RESULT [RESULT ...] -o PICTURE [OPTIONS]",
    "plot cables": "FABRIC [TRAFFIC ROUTES ...] -o PICTURE [OPTIONS]",
    "plot plan": "SOURCE -o PICTURE [OPTIONS]",
    "report": "WHAT ... -o PAGE [OPTIONS]",
    "plot sweep": "FOLDER -o PICTURE [OPTIONS]",
    "plot history": "RESULT [RESULT ...] -o PICTURE [OPTIONS]",
    "plot congestion": "RUN [RUN ...] -o PICTURE [OPTIONS]",
    "plot coefficients": "TRAFFIC [BASIS] -o PICTURE [OPTIONS]",
    "plot study": "RESULT [RESULT ...] -o PICTURE [OPTIONS]",
    "plot load": "RESULT [RESULT ...] -o PICTURE [OPTIONS]",
}
"""What follows `netloom VERB`, where the parser's own line says less."""

EXAMPLES: dict[str, str] = {
    "examples": "netloom examples first && cd first",
    "fabric new": "netloom fabric new two-level:leaves=24,hosts=16,spines=8 -o tree.txt",
    "fabric show": "netloom fabric show net.txt",
    "fabric damage": "netloom fabric damage net.txt --random-links 2 -o damaged.txt",
    "fabric diff": "netloom fabric diff net.txt damaged.txt",
    "fabric convert": "netloom fabric convert net.txt -o fabric.net",
    "traffic new": "netloom traffic new stencil:8x8x8 -o stencil.mtx.gz",
    "traffic show": "netloom traffic show examples/jobs/boxlib.toml net.txt",
    "traffic place": "netloom traffic place net.txt examples/jobs/boxlib.toml -o traffic.mtx.gz",
    "traffic pairs": "netloom traffic pairs net.txt ftree -o pairs.csv",
    "traffic convert": "netloom traffic convert traffic.mtx.gz -o traffic.csv",
    "counters synth": "netloom counters synth net.txt ftree traffic.mtx.gz -o counters.csv",
    "counters show": "netloom counters show net.txt counters.csv",
    "counters diff": "netloom counters diff net.txt before.txt.gz after.txt.gz -o interval.csv",
    "counters check": "netloom counters check net.txt counters.csv",
    "counters poll": "netloom counters poll net.txt -o now.csv",
    "health": "netloom health net.txt before.txt.gz after.txt.gz --seconds 3600",
    "interference": "netloom interference examples/interference/runs.csv "
    "two-level:leaves=4,hosts=4,spines=2 ftree examples/interference/counters.csv.gz",
    "record": "netloom record --events -o recorded -- mpirun -n 8 ./program",
    "trace show": "netloom trace show recorded",
    "trace check": "netloom trace check recorded",
    "trace convert": "netloom trace convert recorded -o recorded.ti.gz",
    "trace scale": "netloom trace scale recorded 2x8 -o larger.ti.gz",
    "route": "netloom route ftree net.txt -o routes.lfts",
    "check": "netloom check net.txt routes.lfts",
    "path": "netloom path net.txt ftree host0000 host0012 --traffic examples/jobs/boxlib.toml",
    "loads": "netloom loads net.txt routes.lfts traffic.mtx.gz",
    "optimize": "netloom optimize net.txt examples/jobs/boxlib.toml -o best.lfts --write-certificate p.json",
    "infer": "netloom infer net.txt ftree counters.csv --jobs examples/jobs/boxlib.toml -o inferred.mtx.gz",
    "watch": "netloom watch net.txt --once",
    "simulate": "netloom simulate examples/scenarios/shuffle.toml",
    "sweep run": "netloom sweep run examples/sweeps/shuffle.toml -o swept",
    "sweep part": "netloom sweep part examples/sweeps/shuffle.toml arrays 0 1",
    "sweep merge": "netloom sweep merge examples/sweeps/shuffle.toml arrays",
    "noise": "netloom noise examples/scenarios/neighbour.toml --job solver",
    "sample run": "netloom sample run examples/scenarios/neighbour.toml -o run",
    "diagnose": "netloom diagnose run --try",
    "diagnose pairs": "netloom diagnose pairs two-level:leaves=8,hosts=4,spines=4 ftree "
    "examples/pairs/alone.csv",
    "loop run": "netloom loop run examples/loop/small.toml",
    "loop live": "netloom loop live --jobs jobs.toml --rounds 3",
    "loop table": "netloom loop table --only 5.1",
    "sample decode": "netloom sample decode two-level:leaves=8,hosts=4,spines=4 "
    "kept/0-ftree/packets.parquet -o samples.csv",
    "dataplane plan": "netloom dataplane plan net.txt --queue-bytes 30000 -o ports.json",
    "dataplane up": "netloom dataplane up net.txt ports.csv --queue-bytes 30000 --yes",
    "dataplane status": "netloom dataplane status --format json",
    "dataplane collect": "netloom dataplane collect --seconds 10 -o packets.parquet",
    "dataplane down": "netloom dataplane down --yes",
    "lanes read": "netloom lanes read -o sl2vl.dump",
    "lanes load": "netloom lanes load sl2vl.dump",
    "lanes write": "netloom lanes write net.txt ftree --vl-scheme 5sl5vl:groups -o lanes.dump",
    "plan": "netloom plan examples/plan/quartz.toml",
    "plot matrix": "netloom plot matrix traffic.mtx.gz -o traffic.svg",
    "plot loads": "netloom plot loads net.txt traffic.mtx.gz ftree optimize -o loads.svg",
    "plot history": "netloom plot history optimize.json -o history.svg",
    "plot front": "netloom plot front front.json -o front.svg",
    "plot run": "netloom plot run run -o run.svg",
    "plot slowdown": "netloom plot slowdown alone.json -o slowdown.svg",
    "plot tail": "netloom plot tail run -o tail.svg",
    "plot noise": "netloom plot noise noise.json -o noise.svg",
    "plot engines": "netloom plot engines compare-*.json -o engines.svg",
    "plot cables": "netloom plot cables net.txt traffic.mtx.gz ftree optimize -o cables.png",
    "plot congestion": "netloom plot congestion run -o congestion.html",
    "plot coefficients": "netloom plot coefficients traffic.mtx.gz -o coefficients.png",
    "plot study": "netloom plot study study.json -o study.png",
    "plot load": "netloom plot load load.json -o load.pdf --size 6.5x3",
    "plot sweep": "netloom plot sweep swept -o swept.svg",
    "plot plan": "netloom plot plan plan.json -o plan.svg",
    "report": "netloom report net.txt examples/jobs/boxlib.toml ftree optimize -o report.html",
    "apply plan": "netloom apply plan routes.lfts",
    "apply send": "netloom apply send routes.lfts --yes",
    "apply rollback": "netloom apply rollback 3 --yes",
    "apply guard": "netloom apply guard --yes",
    "apply recover": "netloom apply recover --yes",
    "apply history": "netloom apply history --journal routes.lfts.journal",
    "study list": "netloom study list --paper 000",
    "study chapter4": "netloom study chapter4 lulesh-512 --lanes 5 --bases none",
    "study table32": "netloom study table32 bisection --models basic,partitioned --each 30 -o static.json",
    "study page": "netloom study page static.json --measured '2026-11-28, two cores' -o papers.md",
    "study sampling": "netloom study sampling --repeats 2 -o sampled.json",
    "study hashes": "netloom study hashes gf md5",
    "study bandwidth": "netloom study bandwidth 2.0 0.81 0.2",
    "study recorder": "netloom study recorder --rounds 7",
    "study training": "netloom study training --fabric two-level:leaves=8,hosts=8,spines=8 --model fluid",
    "study afar": "netloom study afar --workloads 16 --placements 1 -o afar.json",
    "study steps": "netloom study steps --fabric dragonfly:p=2,a=4,h=2 -o steps.json",
    "study modes": "netloom study modes --benchmarks alltoall -o modes.json",
}
"""One call of each verb, in an order that runs in the folder that `netloom examples` writes."""

MADE_BY: dict[str, str] = {
    "record": "mpicc examples/mpi/halo.c -o program",
    "sweep part": "netloom sweep run examples/sweeps/shuffle.toml -o arrays --slurm job.sh --workers 1",
    "sample decode": "netloom sample run examples/scenarios/neighbour.toml --packets "
    "--routings ftree -o kept",
    "plot history": "netloom optimize net.txt examples/jobs/boxlib.toml --format json > optimize.json",
    "plot front": "netloom optimize net.txt examples/jobs/boxlib.toml --from ftree --front "
    "--format json > front.json",
    "plot slowdown": "netloom simulate examples/scenarios/neighbour.toml --mappings block --alone "
    "--format json > alone.json",
    "plot noise": "netloom noise examples/scenarios/neighbour.toml --job solver --format json > noise.json",
    "plot engines": "netloom optimize net.txt examples/jobs/boxlib.toml --compare "
    "--format json > compare-boxlib.json",
    "plot study": "netloom study chapter4 boxlibmg-64 --fabric two-level:leaves=8,hosts=16,spines=8 "
    "--lanes 1,2 --bases none -o study.json",
    "plot load": "netloom simulate examples/scenarios/load.toml --loads 0.1,0.5,0.9 -o load.json",
    "plot plan": "netloom plan examples/plan/quartz.toml --format json > plan.json",
}
"""What makes the files of an example that no other example before it makes."""

TRACE = ("trace show", "trace check", "trace convert", "trace scale")
NEEDS: dict[str, str] = {
    **dict.fromkeys(("record", *TRACE, "study recorder"), "an MPI"),
    **dict.fromkeys(
        ("dataplane up", "dataplane status", "dataplane collect", "dataplane down"), "BPF, as root"
    ),
    **dict.fromkeys(
        (
            *("counters poll", "watch", "loop live", "lanes read", "lanes load"),
            *("apply plan", "apply send", "apply rollback", "apply guard", "apply recover"),
            "apply history",
        ),
        "a live fabric, with its own files",
    ),
}
"""Verbs whose examples need more than the files of `netloom examples`."""


GROUPS = ("diagnose", "demo")
"""Verbs with commands of their own, which say all this where they are made."""


def told(verb: str) -> dict[str, Any]:
    """The parser's keywords for a verb: its usage line, its example, how its help is printed."""
    keywords: dict[str, Any] = brief.options(verb)
    if verb in GROUPS:
        return keywords
    if verb in USAGE:
        keywords["usage"] = f"Usage: netloom {verb} {USAGE[verb]}"
    if verb in EXAMPLES:
        keywords["help_epilogue"] = example(verb) + brief.more(verb)
    return keywords


def example(verb: str) -> str:
    """The last line of a verb's help."""
    return f"Example: `{EXAMPLES[verb]}`"


def script() -> str:
    """All examples as a shell script; those that need more than files are comments."""
    lines = [
        "# Every example that `netloom VERB --help` names, in an order that runs in this folder.",
        "# The last ones, `netloom study`, take minutes.",
        "",
    ]
    for verb, example in EXAMPLES.items():
        if verb != "examples":
            mark = f"# needs {NEEDS[verb]}: " if verb in NEEDS else ""
            lines += [f"{mark}{line}" for line in (MADE_BY.get(verb), example) if line is not None]
    return "\n".join(lines) + "\n"
