"""A smaller install: every verb works without what extras bring, or names the extra in one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netloom as nl
from netloom import extras, interop
from netloom.cli.parser.verbs import VERBS
from netloom.extras import commas
from test_record_trace import BARRIER, NONE, RECV, SEND, call, trace_of, write

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

BED = Path(__file__).with_name("extras_bed.py")
SMALL = "two-level:leaves=4,hosts=2,spines=2"

COMMANDS: dict[str, tuple[str, ...]] = {
    # A command, and the extras that it cannot do without.
    f"fabric new {SMALL} -o x.txt": (),
    "fabric show net.txt": (),
    "fabric diff net.txt net.txt": (),
    "fabric convert net.txt -o x.net": (),
    "fabric convert net.txt -o topology.conf": (),
    "fabric damage net.txt --random-links 1 -o damaged.txt": (),
    "traffic new stencil:2x2x2 -o x.mtx.gz": (),
    "traffic new stencil:2x2x2 -o x.npz": (),
    "traffic new stencil:2x2x2 -o x.parquet": ("arrow",),
    "traffic show traffic.mtx net.txt": (),
    "traffic show traffic.npz": ("scipy",),
    "traffic show traffic.parquet": ("arrow",),
    "traffic place NET JOBS -o x.mtx": (),
    "traffic convert traffic.mtx -o x.csv": (),
    "counters synth net.txt ftree traffic.mtx -o x.csv": (),
    "counters synth net.txt ftree traffic.mtx -o x.parquet": ("arrow",),
    "counters show net.txt counters.csv": (),
    "counters show net.txt counters.parquet": ("arrow",),
    "counters diff NET BEFORE AFTER -o x.csv": (),
    "counters check net.txt counters.csv": (),
    "counters poll net.txt -o poll.txt": (),
    "health NET BEFORE AFTER --seconds 60": (),
    "record --matrix -o recorded -- true": (),
    "record --events -o recorded -- true": ("arrow",),
    "trace show trace": ("arrow",),
    "trace check trace": ("arrow",),
    "trace convert trace -o x.ti": ("arrow",),
    "trace scale trace 8 -o x.ti": ("arrow",),
    "route ftree net.txt -o x.lfts": (),
    "check net.txt routes.lfts": (),
    "path net.txt ftree host0000 host0007 --traffic traffic.mtx": (),
    "loads net.txt routes.lfts traffic.mtx": (),
    "loads net.txt routes.lfts traffic.mtx -o x.csv": (),
    "loads net.txt routes.lfts traffic.mtx -o x.parquet": ("arrow",),
    "optimize net.txt traffic.mtx -o x.lfts --write-certificate x.json": (),
    "optimize net.txt traffic.mtx --exact product": ("exact",),
    "infer net.txt ftree counters.csv -o x.mtx": (),
    "watch net.txt --once": (),
    "plan PLAN": (),
    "simulate SHUFFLE --routings ftree": (),
    "simulate SHUFFLE --routings ftree -o kept": ("arrow",),
    "simulate SHUFFLE --routings ftree -o kept --tables csv": ("arrow",),
    "simulate SHUFFLE --mappings block --routings ftree": (),
    "noise NEIGHBOUR --routings ftree --job solver": (),
    "sample run SHUFFLE --routings ftree": ("arrow",),
    "sweep run nothing.toml -o swept": ("arrow",),
    "sweep part nothing nothing 0 1": ("arrow",),
    "sweep merge nothing nothing": ("arrow",),
    f"sample decode {SMALL} packets.parquet": ("arrow",),
    "study list": (),
    "study page FIGURES -o x.md": (),
    "study table32 bisection --fabric two-level:leaves=2,hosts=2,spines=2": ("exact",),
    "study sampling --repeats 1": ("arrow",),
    "study recorder --rounds 1": (),
    "study hashes": (),
    "study training --fabric two-level:leaves=8,hosts=4,spines=4": ("scipy",),
    "study bandwidth": (),
    "study afar --time-limit 0": (),
    "study steps --time-limit 0": ("learn",),
    "study modes --benchmarks barrier --time-limit 0": (),
    "interference RUNS two-level:leaves=4,hosts=4,spines=2 ftree LINKS": (),
    "study chapter4 boxlibmg-64 --fabric TREE --lanes 1 --each 1": (),
    "diagnose net.txt --counters counters.csv": ("scipy",),
    "diagnose pairs two-level:leaves=8,hosts=4,spines=4 d-mod-k PAIRS": (),
    "traffic pairs net.txt ftree": (),
    "diagnose run": ("arrow", "scipy"),
    "diagnose self-test --cases 1": ("arrow", "scipy"),
    "loop run LOOP": ("scipy",),
    "loop run LOOP -o x": ("arrow", "scipy"),
    "loop table --only 5.1": ("scipy",),
    "loop live": ("scipy",),
    "dataplane plan net.txt": (),
    "dataplane up net.txt --queue-bytes 30000": (),
    "dataplane status --journal x": (),
    "dataplane collect --seconds 0.1 -o x.csv": ("arrow",),
    "dataplane down": (),
    "lanes read -o x.dump": (),
    "lanes load nothing.dump": (),
    "lanes write net.txt ftree --vl-scheme 2sl2vl:sources -o x.dump": (),
    "plot matrix traffic.mtx -o x.svg": ("plot",),
    "plot loads net.txt traffic.mtx ftree -o x.svg": ("plot",),
    "plot history optimize.json -o x.svg": ("plot",),
    "plot front optimize.json -o x.svg": ("plot",),
    "plot run run -o x.svg": ("plot", "arrow"),
    "plot congestion sampled -o x.html": ("plot", "arrow"),
    "plot coefficients traffic.mtx -o x.png": ("plot",),
    "plot study study.json -o x.png": ("plot",),
    "plot load load.json -o x.pdf": ("plot",),
    "plot plan plan.json -o x.svg": ("plot",),
    "plot cables net.txt traffic.mtx ftree minhop -o x.svg": ("plot",),
    "plot engines optimize.json -o x.svg": ("plot",),
    "plot slowdown optimize.json -o x.svg": ("plot",),
    "plot tail run -o x.svg": ("plot", "arrow"),
    "plot noise optimize.json -o x.svg": ("plot",),
    f"report {SMALL} bisection ftree -o x.html": (),
    "plot sweep nothing -o x.svg": ("plot", "arrow"),
    "apply plan routes.lfts": (),
    "apply send routes.lfts": (),
    "apply guard --journal x": (),
    "apply rollback --journal x": (),
    "apply recover --journal x": (),
    "apply history --journal x": (),
    "demo -o demo": (),
    "demo live -o x": ("arrow", "scipy"),
    "demo dataplane -o x": ("arrow", "plot"),
    "examples first": (),
    "completion bash": (),
}

OUTSIDE = (
    *("counters poll", "watch", "lanes read", "lanes load", "apply", "record --matrix"),
    *("dataplane up", "dataplane down", "dataplane status"),
)
"""Those that cannot go on here for want of a live fabric, an MPI program or a device: they say so."""


@pytest.fixture(scope="module")
def made(tmp_path_factory, paths) -> Path:
    """A folder with what the commands read."""
    folder = tmp_path_factory.mktemp("extras")
    shuffle = str(paths.examples / "scenarios" / "shuffle.toml")
    words = f"""
        fabric new {SMALL} -o net.txt
        traffic new stencil:2x2x2 -o traffic.mtx
        traffic new stencil:2x2x2 -o traffic.npz
        traffic new stencil:2x2x2 -o traffic.parquet
        route ftree net.txt -o routes.lfts
        counters synth net.txt ftree traffic.mtx -o counters.csv
        counters synth net.txt ftree traffic.mtx -o counters.parquet
        simulate {shuffle} --routings ftree -o run
        sample run {shuffle} --routings ftree --packets -o sampled
    """
    done = bed(folder, (), [line.split() for line in words.strip().splitlines()])
    assert [one["code"] for one in done] == [0] * len(done), done
    (folder / "packets.parquet").write_bytes(next(folder.glob("sampled/*/packets.parquet")).read_bytes())
    found = trace_of(
        folder / "records",
        call(SEND, 1, 1000, tag=3, at=10) + call(BARRIER, NONE, at=20),
        call(RECV, 0, tag=3, at=15) + call(BARRIER, NONE, at=25),
    )
    (folder / "trace").mkdir()
    write(found, folder / "trace")
    for name in ("optimize", "study", "load", "plan"):
        # What is in them is read only after the extra has been asked for.
        (folder / f"{name}.json").write_text("{}")
    return folder


@pytest.fixture(scope="module")
def names(paths) -> dict[str, str]:
    """What words of the commands stand for."""
    counted = paths.opensm / "ft2_32"
    return {
        "NET": str(paths.ft2),
        "TREE": "two-level:leaves=8,hosts=16,spines=8",
        "JOBS": str(paths.examples / "jobs" / "small.toml"),
        "RUNS": str(paths.examples / "interference" / "runs.csv"),
        "PAIRS": str(paths.examples / "pairs" / "rounds.csv"),
        "LINKS": str(paths.examples / "interference" / "counters.csv.gz"),
        "BEFORE": str(counted / "perfquery_x_before.txt.gz"),
        "AFTER": str(counted / "perfquery_x_after.txt.gz"),
        "SHUFFLE": str(paths.examples / "scenarios" / "shuffle.toml"),
        "NEIGHBOUR": str(paths.examples / "scenarios" / "neighbour.toml"),
        "PLAN": str(paths.examples / "plan" / "quartz.toml"),
        "FIGURES": str(paths.root / "docs" / "papers.csv"),
        "LOOP": str(paths.examples / "loop" / "small.toml"),
    }


def bed(folder: Path, without: tuple[str, ...], commands: list[list[str]]) -> list[dict[str, Any]]:
    """What the commands do where these extras are not installed."""
    modules = sorted({module for extra in without for module in extras.EXTRAS[extra]})
    done = subprocess.run(
        [sys.executable, str(BED), str(folder), *modules],
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "100"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_every_verb_is_here():
    verbs = set()
    for verb, entry in VERBS.items():
        verbs |= {verb} if isinstance(entry, str) else {f"{verb} {command}" for command in entry[1]}
    named = {verb for verb in verbs for command in COMMANDS if f"{command} ".startswith(f"{verb} ")}
    assert named == verbs


@pytest.mark.parametrize("without", [("plot",), ("arrow",), ("scipy",), tuple(extras.EXTRAS)], ids="-".join)
def test_every_verb_works_or_names_the_extra(made, names, without):
    # What goes on without any of them goes on without one.
    wanted = {
        command: needs for command, needs in COMMANDS.items() if len(without) > 1 or set(needs) & set(without)
    }
    done = bed(made, without, [[names.get(word, word) for word in command.split()] for command in wanted])
    for (command, needs), one in zip(wanted.items(), done, strict=True):
        missing = [extra for extra in needs if extra in without]
        told = f"{command}: exit {one['code']}\n{one['out'][-500:]}\n{one['err']}"
        if missing:
            assert one["code"] == 3, told
            assert one["out"] == "", told
            (line,) = one["err"].splitlines()
            assert line.startswith("netloom: error: "), told
            assert " not installed: pip install 'netloom-hpc[" in line, told
            assert set(line.partition("[")[2].partition("]")[0].split(",")) == set(missing), told
        else:
            assert "not installed: pip" not in one["err"] or command.startswith("demo"), told
            expected = (0, 1, 2, 3) if command.startswith((*OUTSIDE, "plot")) else (0, 1)
            if command.endswith("--time-limit 0"):
                expected = (124,)
            assert one["code"] in expected, told


def test_the_demo_says_that_it_draws_nothing(made):
    (done,) = bed(made, ("plot", "arrow", "scipy"), [["demo", "-o", "small-demo", "--format", "json"]])
    assert done["code"] == 0, done["err"]
    assert "no pictures: Matplotlib is not installed: pip install 'netloom-hpc[plot]'" in done["err"]
    files = json.loads(done["out"])["result"]["files"]
    assert files == ["routes.lfts", "certificate.json", "traffic.mtx.gz", "report.html"]
    assert {*files} <= {path.name for path in (made / "small-demo").iterdir()}


def test_loads_are_the_same_csv_without_arrow(made):
    commands = [["loads", "net.txt", "routes.lfts", "traffic.mtx", "-o", name] for name in ("a.csv", "b.csv")]
    bed(made, (), commands[:1])
    bed(made, ("arrow",), commands[1:])
    assert (made / "a.csv").read_bytes() == (made / "b.csv").read_bytes() != b""


def test_csv_is_that_of_arrow():
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(1)
    any_bits = rng.integers(0, 2**64, 5000, dtype=np.uint64).view(np.float64)
    usual = rng.random(5000) * 10.0 ** rng.integers(-9, 20, 5000)
    odd = [0.0, -0.0, 1e9, 1e10, -1e10, 9999999999.5, 1e-6, 9.99e-7, -1.5e-7, np.inf, -np.inf, np.nan]
    numbers = np.concatenate([any_bits, usual, rng.integers(0, 2**60, 5000).astype(float), odd])
    columns = {
        "number": numbers,
        'a "name", with commas': ['é, "quoted"'] * len(numbers),
        "truth": numbers > 1,
        "small": rng.integers(0, 255, len(numbers)).astype(np.uint8),
    }
    assert commas.csv_bytes(columns) == interop.table_bytes(pa.table(columns), ".csv")


def test_the_library_names_the_extra_too(monkeypatch):
    fabric = nl.Fabric.generate(SMALL)
    traffic = nl.Traffic.read("bisection", fabric)
    for module in ("pyarrow", "scipy", "networkx", "pandas"):
        monkeypatch.setitem(sys.modules, module, None)
    for call_, extra in (
        (traffic.to_scipy, "scipy"),
        (traffic.to_arrow, "arrow"),
        (fabric.to_arrow, "arrow"),
        (fabric.to_networkx, "networkx"),
        (fabric.to_pandas, "pandas"),
    ):
        with pytest.raises(nl.NotInstalledError, match=rf"pip install 'netloom-hpc\[{extra}\]'") as raised:
            call_()
        assert isinstance(raised.value, ImportError)
        assert isinstance(raised.value, nl.NetloomError)


def test_extras_are_those_of_the_package(paths):
    project = tomllib.loads((paths.root / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    assert {*optional} == {*extras.EXTRAS, "all"}
    for extra, modules in extras.EXTRAS.items():
        packages = {
            wanted.partition(">")[0].removesuffix("-cuda12x").replace("scikit-learn", "sklearn")
            for wanted in optional[extra]
        }
        assert packages == {*modules}
    always = {wanted.partition(">")[0] for wanted in project["dependencies"]}
    assert not always & {module for modules in extras.EXTRAS.values() for module in modules}
    others = [optional[extra] for extra in extras.EXTRAS if extra != "gpu"]
    assert {*optional["all"]} == {wanted for extra in others for wanted in extra}


def test_the_version_is_told_without_the_parser(netloom):
    script = (
        "import sys; sys.argv = ['netloom', '--version']; import netloom_start; code = netloom_start.main(); "
        "sys.exit(code or 'cyclopts' in sys.modules or 'rich' in sys.modules or 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, f"{nl.__version__}\n"), done.stderr
    assert netloom("--version").out == netloom("-V").out == done.stdout


@pytest.mark.parametrize(
    "words", [["--help"], ["fabric", "show", "--help"], ["fabric", "show", "quartz1"]], ids=" ".join
)
def test_a_fabric_is_shown_without_numpy(words):
    """Its import took as long as all that the command does."""
    script = f"import sys; from netloom.cli import main; sys.exit(main({words!r}) or 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_version_that_cannot_be_written_is_an_error(netloom):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*netloom.command, "--version"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 3
    assert done.stderr == b"netloom: error: standard output: No space left on device\n"
