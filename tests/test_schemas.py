"""The schemas in docs/schemas: one a verb, and every verb's real output is valid.

Every other test validates too: `netloom.json` does it each time.
"""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator, ValidationError

TREE = "two-level:leaves=8,hosts=16,spines=8"

RUNS: dict[str, list[str]] = {
    "fabric-new": ["fabric", "new", "SMALL", "-o", "x.net"],
    "fabric-show": ["fabric", "show", "FT2"],
    "fabric-diff": ["fabric", "diff", "FT2", "FT2"],
    "fabric-convert": ["fabric", "convert", "FT2", "-o", "x.dot"],
    "fabric-damage": ["fabric", "damage", "FT2", "--random-links", "1"],
    "traffic-new": ["traffic", "new", "bisection", "FT2", "-o", "x.mtx"],
    "traffic-show": ["traffic", "show", "bisection", "FT2"],
    "traffic-place": ["traffic", "place", "FT2", "JOBS", "-o", "x.mtx"],
    "traffic-convert": ["traffic", "convert", "JOBS", "FT2", "-o", "x.npz"],
    "route": ["route", "ftree", "FT2", "bisection", "-o", "x.lfts"],
    "check": ["check", "FT2", "ftree"],
    "loads": ["loads", "FT2", "ftree", "bisection", "-o", "x.csv"],
    "optimize": [
        "optimize",
        "FT2",
        "bisection",
        "-o",
        "x.lfts",
        "--write-certificate",
        "c.json",
        "--background",
        "ftree",
    ],
    "counters-synth": [
        "counters",
        "synth",
        "FT2",
        "ftree",
        "bisection",
        "--vl-scheme",
        "2sl2vl",
        "-o",
        "c.csv",
    ],
    "counters-show": ["counters", "show", "FT2", "COUNTERS"],
    "counters-diff": ["counters", "diff", "FT2", "BEFORE", "COUNTERS", "-o", "c.parquet"],
    "counters-check": ["counters", "check", "FT2", "COUNTERS"],
    "infer": [
        "infer",
        "FT2",
        "ftree",
        "C",
        "--jobs",
        "JOBS",
        "--truth",
        "JOBS",
        "-o",
        "x.mtx",
        "--write-hose",
        "h.csv",
    ],
    "infer-study": ["study", "chapter4", "boxlibmg-64", "--fabric", "TREE", "--lanes", "1", "--each", "1"],
    "plot-coefficients": ["plot", "coefficients", "bisection", "FT2", "--basis", "symmetric", "-o", "x.svg"],
    "plot-study": ["plot", "study", "STUDY", "-o", "x.svg"],
    "plot-load": ["plot", "load", "LOADED", "-o", "x.svg"],
    "simulate-table": ["simulate", "SCENARIO", "--mappings", "block", "--routings", "ftree", "--alone"],
    "infer-lanes": ["lanes", "write", "FT2", "ftree", "--vl-scheme", "2sl2vl:sources", "--qos", "qos"],
    "plot-matrix": ["plot", "matrix", "bisection", "FT2", "-o", "x.svg"],
    "plot-loads": ["plot", "loads", "FT2", "bisection", "ftree", "-o", "x.svg"],
    "plot-history": ["plot", "history", "RESULT", "-o", "x.svg"],
    "plot-front": ["plot", "front", "RESULT", "-o", "x.svg"],
    "simulate": ["simulate", "SCENARIO", "-o", "run"],
    "sweep": ["sweep", "run", "SWEEP", "-o", "swept", "--workers", "1"],
    "path": ["path", "FT2", "ftree", "host0000", "host0012", "--traffic", "JOBS"],
    "health": ["health", "FT2", "BEFORE", "COUNTERS", "--seconds", "60", "--expect", "SMALL"],
    "noise": ["noise", "NEIGHBOUR", "--routings", "ftree,adaptive", "--job", "solver"],
    "dataplane-plan": ["dataplane", "plan", "two-level:leaves=2,hosts=2,spines=1"],
    "sample": ["sample", "run", "SCENARIO", "-o", "sampled"],
    "diagnose": ["diagnose", "FT2", "--counters", "C"],
    "traffic-pairs": ["traffic", "pairs", "FT2", "d-mod-k", "-o", "pairs.csv"],
    "diagnose-self-test": ["diagnose", "self-test", "--cases", "1"],
    "loop": ["loop", "run", "LOOP", "-o", "journal"],
    "plan": ["plan", "PLAN"],
    "study-list": ["study", "list"],
    "bandwidth-study": ["study", "bandwidth"],
    "hashes-study": ["study", "hashes"],
    "training-study": ["study", "training", "--fabric", "two-level:leaves=8,hosts=4,spines=4"],
    "study-page": ["study", "page", "FIGURES", "-o", "x.md"],
    "static-study": ["study", "table32", "bisection", "--fabric", "SMALL", "--each", "10"],
    "examples": ["examples", "first"],
    "plot-sweep": ["plot", "sweep", "SWEPT", "-o", "x.svg"],
    "plot-plan": ["plot", "plan", "PLANNED", "-o", "x.svg"],
    "plot-run": ["plot", "run", "RUN", "-o", "x.svg"],
    "plot-cables": ["plot", "cables", "FT2", "bisection", "ftree", "optimize", "-o", "x.svg"],
    "plot-engines": ["plot", "engines", "COMPARED", "-o", "x.svg"],
    "plot-slowdown": ["plot", "slowdown", "ALONE", "-o", "x.svg"],
    "plot-tail": ["plot", "tail", "RUN", "-o", "x.svg"],
    "plot-noise": ["plot", "noise", "NOISE", "-o", "x.svg"],
    "report": ["report", "FT2", "bisection", "ftree", "-o", "x.html"],
    "plot-congestion": ["plot", "congestion", "SAMPLED", "--by", "context", "-o", "x.html"],
}

ELSEWHERE = {
    "sample-study",
    "recorder-study",
    "afar-study",
    "steps-study",
    "modes-study",
    "interference",
    "diagnose-pairs",
    "sample-decode",
    "sweep-part",
    "record",
    "trace-show",
    "trace-check",
    "trace-convert",
    "trace-scale",
}
"""Forms of verbs that tests of their own validate."""

PORTS = {
    "dataplane-up",
    "dataplane-down",
    "dataplane-status",
    "dataplane-collect",
    "demo-dataplane",
}
"""Of verbs that need root and BPF: test_dataplane_ports.py and test_demo_dataplane.py validate these."""

LIVE = {"counters-poll", "lanes-read", "lanes-load", "watch", "demo-live", "loop-live"}
"""Of verbs that need a live fabric: their own tests validate these."""


def test_there_is_one_schema_a_verb(paths):
    names = {path.stem for path in paths.schemas.glob("*.json")}
    assert names == {*RUNS, *LIVE, *PORTS, *ELSEWHERE, "apply", "demo", "common", "run", "loop-table"}


@pytest.mark.parametrize("verb", RUNS)
def test_real_output_is_valid(netloom, paths, verb):
    if "RESULT" in RUNS[verb]:
        made = netloom.json("optimize", paths.ft2, "permutation:seed=1", "--background", "minhop")
        if verb == "plot-front":
            made["result"]["front"] = [
                {"changed_entries": n, "max_load": load, "lower_bound_gap_percent": gap}
                for n, load, gap in ((0, 2.0, 100.0), (3, 1.0, 0.0))
            ]
        (netloom.folder / "RESULT").write_text(json.dumps(made))
    scenario = str(paths.examples / "scenarios" / "shuffle.toml")
    if "RUN" in RUNS[verb]:
        netloom.ok("simulate", scenario, "--routings", "ftree", "-o", "RUN")
    if "SWEPT" in RUNS[verb]:
        netloom.ok("sweep", "run", paths.examples / "sweeps" / "shuffle.toml", "-o", "SWEPT")
    if "PLANNED" in RUNS[verb]:
        netloom.ok("plan", paths.examples / "plan" / "quartz.toml", "-o", "PLANNED.json")
    if "COMPARED" in RUNS[verb]:
        compared = netloom.ok("optimize", paths.ft2, "bisection", "--compare", "--format", "json")
        (netloom.folder / "COMPARED.json").write_text(compared)
    if "ALONE" in RUNS[verb]:
        neighbour = paths.examples / "scenarios" / "neighbour.toml"
        alone = ("simulate", neighbour, "--mappings", "block", "--routings", "ftree", "--alone")
        (netloom.folder / "ALONE.json").write_text(netloom.ok(*alone, "--format", "json"))
    if "NOISE" in RUNS[verb]:
        neighbour = paths.examples / "scenarios" / "neighbour.toml"
        netloom.ok("noise", neighbour, "--routings", "ftree", "-o", "NOISE.json")
    if "LOADED" in RUNS[verb]:
        load = str(paths.examples / "scenarios" / "load.toml")
        netloom.ok("simulate", load, "--routings", "ftree", "--loads", "0.1,0.9", "-o", "LOADED.json")
    if "SAMPLED" in RUNS[verb]:
        netloom.ok("sample", "run", scenario, "--routings", "ftree", "-o", "SAMPLED")
    if "C" in RUNS[verb]:
        jobs = paths.examples / "jobs" / "small.toml"
        netloom.ok("counters", "synth", paths.ft2, "ftree", jobs, "--seconds", "100", "-o", "C.csv")
    if "STUDY" in RUNS[verb]:
        study = ("study", "chapter4", "boxlibmg-64", "--fabric", TREE, "--lanes", "5", "--bases", "none")
        netloom.ok(*study, "-o", "STUDY.json")
    words = {
        "STUDY": "STUDY.json",
        "LOADED": "LOADED.json",
        "COMPARED": "COMPARED.json",
        "ALONE": "ALONE.json",
        "NOISE": "NOISE.json",
        "PLANNED": "PLANNED.json",
        "TREE": TREE,
        "C": "C.csv",
        "SMALL": paths.small,
        "FT2": str(paths.ft2),
        "JOBS": str(paths.examples / "jobs" / "small.toml"),
        "FIGURES": str(paths.root / "docs" / "papers.csv"),
        "SCENARIO": scenario,
        "SWEEP": str(paths.examples / "sweeps" / "shuffle.toml"),
        "NEIGHBOUR": str(paths.examples / "scenarios" / "neighbour.toml"),
        "PLAN": str(paths.examples / "plan" / "quartz.toml"),
        "LOOP": str(paths.examples / "loop" / "small.toml"),
        "BEFORE": str(paths.opensm / "ft2_32" / "perfquery_x_before.txt.gz"),
        "COUNTERS": str(paths.opensm / "ft2_32" / "perfquery_x_after.txt.gz"),
    }
    document = netloom.json(*[words.get(word, word) for word in RUNS[verb]])
    assert document["schema"] == f"netloom.{verb}/1"


def test_schemas_are_schemas_and_describe_every_key(paths):
    for path in paths.schemas.glob("*.json"):
        schema = json.loads(path.read_text())
        Draft202012Validator.check_schema(schema)
        for key, value in schema.get("properties", {}).get("result", {}).get("properties", {}).items():
            assert "description" in value or "$ref" in value, f"{path.name}: {key}"


def test_a_key_too_many_or_too_few_is_noticed(netloom, paths, validate):
    document = netloom.json("fabric", "show", paths.ft2)
    validate(document)
    document["result"]["extra"] = 1
    with pytest.raises(ValidationError, match="extra"):
        validate(document)
    del document["result"]["extra"], document["result"]["hosts"]
    with pytest.raises(ValidationError, match="hosts"):
        validate(document)
