"""How each verb is called, and an example of it: what `--help` says beside the options.

Usage lines stand here where the parser's own would hide an argument behind `[ARGS]`, or not say that `-o` is
needed. Nothing heavy is imported: every start reads this.
"""

from __future__ import annotations

USAGE: dict[str, str] = {
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
    "route": "ENGINE FABRIC [TRAFFIC] [OPTIONS]",
    "path": "FABRIC ROUTES FROM TO [OPTIONS]",
    "watch": "[FABRIC] [OPTIONS]",
    "dataplane up": "FABRIC [PORTS] [OPTIONS]",
    "dataplane collect": "-o FILE [OPTIONS]",
    "infer": "FABRIC ROUTES COUNTERS [AFTER] [OPTIONS]",
    "study list": "[WHAT] [OPTIONS]",
    "study chapter4": "[APPLICATION ...] [OPTIONS]",
    "study table32": "[TRAFFIC ...] [OPTIONS]",
    "study page": "RESULT [RESULT ...] -o FILE [OPTIONS]",
    "study sampling": "[SCENARIO] [OPTIONS]",
    "study hashes": "[HASH ...] [OPTIONS]",
    "study bandwidth": "[VISITS ...] [OPTIONS]",
    "study recorder": "[OPTIONS]",
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
    "fabric new": "netloom fabric new two-level:leaves=24,hosts=16,spines=8 -o net.txt",
    "fabric show": "netloom fabric show net.txt",
    "fabric diff": "netloom fabric diff yesterday.txt today.txt",
    "fabric convert": "netloom fabric convert net.txt -o fabric.net",
    "fabric damage": "netloom fabric damage quartz1 --random-links 10 -o damaged.txt",
    "traffic new": "netloom traffic new stencil:8x8x8 -o stencil.mtx.gz",
    "traffic show": "netloom traffic show jobs.toml net.txt",
    "traffic place": "netloom traffic place net.txt jobs.toml -o traffic.mtx.gz",
    "traffic pairs": "netloom traffic pairs net.txt routes.lfts -o pairs.csv",
    "traffic convert": "netloom traffic convert traffic.mtx.gz -o traffic.csv",
    "counters synth": "netloom counters synth net.txt ftree traffic.mtx.gz -o counters.csv",
    "counters show": "netloom counters show net.txt counters.csv",
    "counters diff": "netloom counters diff net.txt before.txt after.txt -o counters.csv",
    "counters check": "netloom counters check net.txt counters.csv",
    "counters poll": "netloom counters poll net.txt -o now.csv",
    "health": "netloom health net.txt before.txt after.txt --seconds 3600",
    "interference": "netloom interference sacct.txt net.txt opensm-lfts.dump counters.csv",
    "record": "netloom record --matrix -o run -- mpirun -n 8 ./program",
    "trace show": "netloom trace show run",
    "trace check": "netloom trace check run",
    "trace convert": "netloom trace convert run -o run.ti.gz",
    "route": "netloom route ftree net.txt -o routes.lfts",
    "check": "netloom check net.txt routes.lfts",
    "path": "netloom path net.txt ftree host0000 host0012 --traffic jobs.toml",
    "loads": "netloom loads net.txt routes.lfts traffic.mtx.gz",
    "optimize": "netloom optimize net.txt jobs.toml -o routes.lfts --write-certificate proof.json",
    "infer": "netloom infer net.txt routes.lfts before.txt after.txt --jobs jobs.toml -o traffic.mtx.gz",
    "watch": "netloom watch net.txt --once",
    "simulate": "netloom simulate examples/scenarios/shuffle.toml",
    "sweep part": "netloom sweep part examples/sweeps/shuffle.toml swept 3 16",
    "sweep merge": "netloom sweep merge examples/sweeps/shuffle.toml swept",
    "sweep run": "netloom sweep run examples/sweeps/shuffle.toml -o swept",
    "noise": "netloom noise examples/scenarios/neighbour.toml --job solver",
    "sample run": "netloom sample run examples/scenarios/neighbour.toml -o run",
    "diagnose": "netloom diagnose run --try",
    "diagnose pairs": "netloom diagnose pairs net.txt routes.lfts pairs.csv",
    "loop run": "netloom loop run examples/loop/table-5.1-shuffle.toml",
    "loop live": "netloom loop live --jobs jobs.toml --rounds 3",
    "loop table": "netloom loop table --only 5.1",
    "sample decode": "netloom sample decode net.txt packets.parquet -o samples.csv",
    "dataplane plan": "netloom dataplane plan net.txt --queue-bytes 30000 -o plan.json",
    "dataplane up": "netloom dataplane up net.txt ports.csv --queue-bytes 30000 --yes",
    "dataplane status": "netloom dataplane status --format json",
    "dataplane collect": "netloom dataplane collect --seconds 10 -o packets.parquet",
    "dataplane down": "netloom dataplane down --yes",
    "lanes read": "netloom lanes read -o sl2vl.dump",
    "lanes load": "netloom lanes load sl2vl.dump",
    "lanes write": "netloom lanes write net.txt ftree --vl-scheme 5sl5vl:groups -o sl2vl.dump",
    "plan": "netloom plan examples/plan/quartz.toml",
    "plot matrix": "netloom plot matrix traffic.mtx.gz -o traffic.svg",
    "plot loads": "netloom plot loads net.txt traffic.mtx.gz ftree optimize -o loads.svg",
    "plot history": "netloom plot history optimize.json -o history.svg",
    "plot front": "netloom plot front optimize.json -o front.svg",
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
    "report": "netloom report net.txt jobs.toml ftree optimize -o report.html",
    "apply plan": "netloom apply plan routes.lfts",
    "apply send": "netloom apply send routes.lfts --yes",
    "apply rollback": "netloom apply rollback 3 --yes",
    "apply recover": "netloom apply recover --yes",
    "apply history": "netloom apply history --journal routes.lfts.journal",
    "study list": "netloom study list --paper 000",
    "study chapter4": "netloom study chapter4 lulesh-512 --lanes 5 --bases none",
    "study table32": "netloom study table32 bisection --models basic,partitioned --each 30",
    "study page": "netloom study page docs/papers.csv -o papers.md",
    "study sampling": "netloom study sampling --repeats 2 -o study.json",
    "study hashes": "netloom study hashes gf md5",
    "study bandwidth": "netloom study bandwidth 2.0 0.81 0.2",
    "study recorder": "netloom study recorder --rounds 7",
    "study afar": "netloom study afar --workloads 16 --placements 1 -o afar.json",
    "study steps": "netloom study steps --fabric dragonfly:p=2,a=4,h=2 -o steps.json",
    "study modes": "netloom study modes --benchmarks alltoall -o modes.json",
}
"""One call of each verb, as somebody with a fabric would type it."""


GROUPS = ("diagnose", "demo")
"""Verbs with commands of their own, which say all this where they are made."""


def told(verb: str) -> dict[str, str]:
    """The parser's keywords for a verb: its usage line and its example, where there are any."""
    keywords: dict[str, str] = {}
    if verb in GROUPS:
        return keywords
    if verb in USAGE:
        keywords["usage"] = f"Usage: netloom {verb} {USAGE[verb]}"
    if verb in EXAMPLES:
        keywords["help_epilogue"] = example(verb)
    return keywords


def example(verb: str) -> str:
    """The last line of a verb's help."""
    return f"Example: `{EXAMPLES[verb]}`"
