"""The command itself: start-up, help, usage errors, pipes, quiet, standard input."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from terminal import OnTerminal

VERBS = [
    "fabric new",
    "fabric show",
    "fabric diff",
    "fabric convert",
    "fabric damage",
    "traffic new",
    "traffic show",
]
VERBS += [
    "traffic place",
    "traffic convert",
    "route",
    "check",
    "loads",
    "optimize",
    "simulate",
    "noise",
    "health",
    "path",
    "plan",
    "plot matrix",
    "plot loads",
    "plot run",
    "sample run",
    "sample decode",
    "study chapter4",
    "study sampling",
    "study recorder",
    "loop run",
    "loop live",
    "loop table",
    "lanes write",
    "apply plan",
    "apply send",
    "apply rollback",
    "apply guard",
    "apply recover",
    "apply history",
    "diagnose",
    "diagnose pairs",
    "diagnose self-test",
    "traffic pairs",
    "demo",
]


SEARCHING = {
    *("route", "loads", "path", "optimize", "counters synth", "simulate", "noise", "sample run"),
    *("loop run", "loop table", "plot loads", "plot cables", "report", "demo", "study training"),
}
"""Verbs that make routes, or prove bounds: a budget ends that."""
THREADED = SEARCHING | {
    *("check", "infer", "interference", "plan", "lanes write", "loop live", "apply plan", "apply send"),
    *("apply rollback", "apply guard", "study chapter4", "study sampling", "study afar", "study table32"),
}
SEEDED = (THREADED - {"apply rollback", "apply guard"}) | {
    *(
        "fabric damage",
        "traffic new",
        "traffic show",
        "traffic place",
        "traffic convert",
        "traffic pairs",
        "watch",
        "diagnose",
    ),
    *("sweep run", "sweep merge", "study steps", "study modes", "plot matrix", "plot coefficients"),
    *("plot sweep", "study hashes"),
}
"""Verbs that draw at random, or read traffic: jobs files may place ranks at random."""


def test_version_is_that_of_the_core(netloom):
    import netloom as nl

    assert netloom.ok("--version").strip() == nl.__version__


def test_short_words_that_other_commands_know(netloom):
    assert netloom.ok("-V") == netloom.ok("--version")
    assert netloom.ok("help", "route") == netloom.ok("route", "--help")
    short, whole = netloom.ok("optimize", "--help"), netloom.ok("help", "optimize")
    assert "More on each option: netloom help optimize" in short
    assert len(whole) > 1.5 * len(short)
    assert "More on each option" not in whole
    assert netloom.ok("help") == netloom.ok("--help")


def every_verb() -> list[str]:
    from netloom.cli.parser.verbs import VERBS

    return [
        name
        for verb, entry in VERBS.items()
        for name in ([verb] if isinstance(entry, str) else [f"{verb} {command}" for command in entry[1]])
    ]


@pytest.mark.parametrize("verb", every_verb())
def test_help_hides_no_argument_and_its_example_has_only_options_that_there_are(verb, netloom):
    from netloom.cli.parser.usage import EXAMPLES

    text = netloom.ok(*verb.split(), "--help")
    check_help(verb, text)
    assert "[ARGS" not in text
    if verb in ("demo", "completion"):
        return
    example = EXAMPLES[verb]
    assert example in " ".join(text.split())
    assert example.startswith(f"netloom {verb} ")
    for word in example.split():
        assert not word.startswith("-") or word in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_verbs_and_options(shell, netloom):
    script = netloom.ok("completion", shell)
    for word in ("optimize", "max-changes", "vl-scheme", "damage"):
        assert word in script


def test_bash_completes_an_option(netloom):
    """What a user's shell does: the script is sourced, and asked about `netloom optimize --max`."""
    (netloom.folder / "complete.sh").write_text(netloom.ok("completion", "bash"))
    asked = (
        "source ./complete.sh; COMP_WORDS=(netloom optimize --max); COMP_CWORD=2; _netloom; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", asked], cwd=netloom.folder, capture_output=True, text=True, check=False
    )
    assert "--max-changes" in done.stdout.split()


def test_every_verb_has_a_manual_page():
    pytest.importorskip("docutils")
    from netloom.cli.parser.manual import pages
    from netloom.cli.parser.verbs import VERBS

    found = pages()
    assert set(found) == {"netloom.1", *(f"netloom-{verb}.1" for verb in VERBS)}
    assert r"\-\-max\-changes" in found["netloom-optimize.1"]
    assert "netloom plot matrix TRAFFIC [FABRIC] \\-o PICTURE" in found["netloom-plot.1"]
    assert all(text.startswith(("'\\\" t", ".")) for text in found.values())


def test_start_imports_neither_numpy_nor_a_verb():
    code = "import sys; from netloom.cli import main; main(['--version']); print(sorted(sys.modules))"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    for name in ("numpy", "scipy", "matplotlib", "pyarrow", "netloom.cli.loads", "netloom.interop"):
        assert f"'{name}'" not in modules


def test_help_names_every_verb_on_one_screen(netloom):
    from netloom.cli.parser.verbs import VERBS

    lines = netloom.ok("--help").splitlines()
    assert len(lines) <= 40
    assert max(len(line.rstrip()) for line in lines) <= 80
    first = [line.split()[0] for line in lines if line.startswith("  ")]
    assert sorted(first[:-1]) == sorted(VERBS)
    titles = [line for line in lines[3:] if line and not line.startswith(" ")]
    assert titles == ["Look", "Measure", "Improve", "Simulate and plan", "Begin"]


def check_help(verb: str, text: str) -> None:
    """One screen, one default an option, and only options that act."""
    assert len(text.splitlines()) <= 60
    assert not re.search(r"\[default: [^\]]*\]\s*\[default: ", re.sub(r"[│\s]+", " ", text)), "two defaults"
    if verb == "completion":
        return
    for option, verbs in {"--seed": SEEDED, "--threads": THREADED, "--work": SEARCHING}.items():
        assert bool(re.search(rf"{option} INT", text)) == (verb in verbs), option


def test_an_option_that_would_do_nothing_is_not_taken(netloom):
    told = netloom.refused("fabric", "show", "cab", "--seed", "1", code=2)
    assert "Unknown option: --seed" in told
    assert "--work" in netloom.refused("check", "cab", "ftree", "--work", "3", code=2)
    assert "--threads" in netloom.refused("traffic", "show", "bisection", "cab", "--threads", "1", code=2)


def test_help_tells_no_default_of_switches_and_empty_lists(netloom):
    text = "".join(netloom.ok(*verb.split(), "--help") for verb in ("loads", "optimize", "fabric damage"))
    assert "[default: False]" not in text
    assert "[default: ()]" not in text
    assert "[default: 10]" in text


def test_help_marks_o_as_required_where_it_is(netloom):
    for verb in ("fabric convert", "traffic convert", "trace convert", "dataplane collect", "plot front"):
        text = netloom.ok(*verb.split(), "--help")
        assert re.search(r"\*  --output -o PATH.*?\[required\].*--format", text, re.DOTALL), verb
        told = netloom.refused(*verb.split(), *["x"] * (verb != "dataplane collect"), code=2)
        assert told == f"{verb} needs -o FILE: its ending names the format"
    assert "[required]" not in netloom.ok("fabric", "new", "--help").split("--output")[1]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_the_common_options(netloom, verb):
    text = netloom.ok(*verb.split(), "--help")
    for option in ("--output -o", "--format", "--time-limit", "--quiet"):
        assert option in text


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["lods"], 'Did you mean "loads"'),
        (["loads", "quartz1", "ftree", "bisection", "--sed", "1"], "Did you mean --seed"),
        (["loads", "quartz1"], "ROUTES"),
        (["fabric", "show", "cab", "--format", "xml"], '"text", "json", "csv"'),
        (["loads", "cab", "ftree", "bisection", "--threads=-1"], "--threads"),
        (["fabric", "convert", "cab"], "needs -o"),
        (["fabric", "convert", "cab", "-o", "x.pdf"], "expected an ending of .txt, .net, .csv, .dot"),
        (["traffic", "new", "bisection", "cab", "--endpoints", "4"], "not both"),
        (["check", "cab", "ftree", "--certificate", "c.json"], "belong together"),
        (
            ["traffic", "show", "bisection", "cab", "--seed", "99999999999999999999"],
            "--seed. Must be <= 18446744073709551615",
        ),
        (["optimize", "cab", "bisection", "--work", "99999999999999999999"], "--work. Must be <="),
        (["optimize", "cab", "bisection", "--work", "1.5"], '--work: expected a whole number, found "1.5"'),
        (["optimize", "cab", "bisection", "--time-limit", "nan"], "--time-limit. Must be"),
        (["optimize", "cab", "bisection", "--time-limit", "inf"], "--time-limit. Must be <="),
        (["optimize", "cab", "bisection", "--time-limit=-1"], "--time-limit. Must be >= 0"),
        (["check", "cab", "ftree", "--threads", "99999999999"], "--threads. Must be <= 1024"),
        (["loads", "cab", "ftree", "bisection", "--hottest", "-1"], "--hottest. Must be >= 0"),
        (["route", "ftree", "cab", "--lmc", "300"], "--lmc. Must be <= 7"),
        (["route", "afar", "cab", "bisection", "--lmc", "2"], "LMC 0"),
        (["route", "optimize", "cab", "bisection", "--lmc", "2"], "LMC 0"),
        (["fabric", "damage", "cab", "--random-links", "-1"], "--random-links. Must be >= 0"),
        (["fabric", "damage", "cab", "--random-switches", "-1"], "--random-switches. Must be >= 0"),
        (["traffic", "new", "bisection", "--endpoints", "99999999999"], "--endpoints. Must be <="),
        (["route", "afar", "cab"], "netloom route afar FABRIC TRAFFIC"),
        (["plot", "loads", "cab", "all-to-all", "-o", "x.svg"], "ROUTES"),
        (["fabric", "new", "cab", "-o", "-", "--format", "json"], "standard output"),
    ],
)
def test_usage_errors_exit_2_with_a_hint(netloom, arguments, hint):
    assert hint in netloom.refused(*arguments, code=2)


def test_a_broken_pipe_is_silent(netloom):
    command = f"{netloom.command[0]} fabric new quartz1 -o - | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


def test_a_full_standard_output_is_an_error(netloom):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*netloom.command, "fabric", "show", "cab"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 3
    assert done.stderr == "netloom: error: standard output: No space left on device\n"


def test_quiet_prints_no_text_but_json(netloom, paths):
    assert netloom("fabric", "show", paths.small, "-q") == netloom("fabric", "show", paths.small, "--quiet")
    assert netloom.ok("fabric", "show", paths.small, "-q") == ""
    assert netloom.json("fabric", "show", paths.small, "-q")["result"]["hosts"] == 32


def test_standard_input_is_a_fabric(netloom, paths):
    document = netloom.json("fabric", "show", "-", stdin=paths.ft2.read_bytes())
    assert document["result"]["hosts"] == 32
    assert document["inputs"][0]["source"] == "-"
    from_gz = netloom.json("fabric", "show", "-", stdin=paths.quartz1.read_bytes())
    assert from_gz["result"]["hosts"] == 3072


def test_standard_input_is_traffic_or_routes(netloom, paths):
    netloom.ok("traffic", "new", "bisection", paths.ft2, "-o", "t.mtx")
    netloom.ok("route", "ftree", paths.ft2, "-o", "r.lfts")
    plain = netloom.result("loads", paths.ft2, "r.lfts", "t.mtx")
    traffic = (netloom.folder / "t.mtx").read_bytes()
    routes = (netloom.folder / "r.lfts").read_bytes()
    assert netloom.result("loads", paths.ft2, "r.lfts", "-", stdin=traffic) == plain
    assert netloom.result("loads", paths.ft2, "-", "t.mtx", stdin=routes) == plain
    assert "only one input" in netloom.refused("loads", paths.ft2, "-", "-", stdin=traffic, code=2)


def test_the_envelope_says_what_it_was_made_from(netloom, paths):
    document = netloom.json("loads", paths.ft2, "ftree", "bisection", "--seed", "7", "--threads", "1")
    roles = [entry["role"] for entry in document["inputs"]]
    assert roles == ["fabric", "traffic", "routes"]
    assert document["inputs"][0]["sha256"] == sha256(paths.ft2)
    assert document["inputs"][2] == {"role": "routes", "source": "ftree", "sha256": None}
    assert (document["schema"], document["seed"], document["threads"]) == ("netloom.loads/1", 7, 1)
    assert 0 < document["seconds"]["total"] < 60


def test_csv_is_one_row_of_the_same_figures(netloom, paths):
    import csv

    row = next(csv.DictReader(netloom.ok("fabric", "show", paths.small, "--format", "csv").splitlines()))
    result = netloom.result("fabric", "show", paths.small)
    assert row["hosts"] == str(result["hosts"])
    assert row["regular"] == "true"
    assert "findings" not in row


def test_the_result_goes_to_a_file_where_there_is_no_other_product(netloom, paths):
    assert netloom.ok("fabric", "show", paths.small, "-o", "show.json") == ""
    assert json.loads((netloom.folder / "show.json").read_text())["result"]["hosts"] == 32


def test_python_dash_m_is_the_same_command(netloom):
    done = subprocess.run(
        [sys.executable, "-m", "netloom", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == netloom.ok("--version")


def test_internal_errors_ask_for_a_report(monkeypatch, capsys):
    from netloom import cli

    def broken():
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(cli, "build_app", broken)
    assert cli.main([]) == 4
    assert capsys.readouterr().err.startswith(
        "netloom: internal error: ZeroDivisionError: division by zero (a bug"
    )


def test_a_panic_of_the_core_is_an_internal_error(monkeypatch, capsys):
    from netloom import cli

    class PanicException(BaseException):  # as pyo3's: no Exception
        pass

    def broken():
        raise PanicException("index out of bounds")

    monkeypatch.setattr(cli, "build_app", broken)
    assert cli.main([]) == 4
    assert capsys.readouterr().err.startswith("netloom: internal error: PanicException: index out of bounds")


def test_a_budget_where_nothing_is_searched_for_gets_a_note(netloom, paths):
    done = netloom("route", "ftree", paths.small, "--work", "3")
    assert (done.code, done.err) == (0, "netloom: note: --work: not used, nothing is searched for here\n")
    assert netloom("loads", paths.small, "ftree", "bisection", "--work", "3").err == ""


def test_json_has_no_infinity():
    from netloom.cli.shared import render

    document = {"a": float("inf"), "b": [{"c": float("nan")}], "d": 1.5}
    assert json.loads(render.as_json(document)) == {"a": None, "b": [{"c": None}], "d": 1.5}
    assert render.as_csv([{"a": float("inf"), "d": 1.5}]) == "a,d\n,1.5"
    assert (render.size(float("inf")), render.percent(float("inf"))) == ("unknown", "unknown")


def test_the_files_of_a_jobs_file_are_inputs_too(netloom, paths):
    netloom.ok("traffic", "new", "all-to-all", "--endpoints", "2", "-o", "m.mtx")
    (netloom.folder / "map.txt").write_text("host0003\nhost0009\n")
    (netloom.folder / "jobs.toml").write_text(
        '[[job]]\nname = "a"\nmatrix = "m.mtx"\nmapping = "file:map.txt"\nhosts = "host[0003,0009]"\n'
        '[[job]]\nname = "b"\nhosts = "host[0000-0001]"\n[[job.phase]]\nname = "p"\nmatrix = "m.mtx"\n'
    )
    expected = [
        {"role": role, "source": name, "sha256": sha256(netloom.folder / name)}
        for role, name in (("matrix", "m.mtx"), ("mapping", "map.txt"))
    ]
    for verb in (["loads", paths.ft2, "ftree", "jobs.toml"], ["traffic", "place", paths.ft2, "jobs.toml"]):
        inputs = netloom.json(*verb)["inputs"]
        assert [entry for entry in inputs if entry["role"] in ("matrix", "mapping")] == expected


def sha256(path: Path) -> str:
    import hashlib

    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_progress_is_drawn_on_a_terminal_s_standard_error_only(netloom, paths):
    jobs = paths.examples / "jobs" / "mix.toml"
    command = [*netloom.command, "optimize", paths.quartz1, jobs, "--format", "json"]
    run = OnTerminal(list(map(str, command)), netloom.folder)
    run.wait_for("optimize")
    code, out = run.end()
    assert code == 0, run.drawn
    assert json.loads(out)["schema"] == "netloom.optimize/1"


def test_names_that_are_not_ascii_survive_any_locale(netloom, paths):
    text = paths.ft2.read_text()
    (netloom.folder / "nét.txt").write_text(text)
    document = netloom.json("fabric", "show", "nét.txt", env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert document["inputs"][0]["source"] == "nét.txt"


def test_traffic_without_names_is_said_to_be_matched_by_number(netloom, paths):
    (netloom.folder / "t.mtx").write_text(
        "%%MatrixMarket matrix coordinate integer general\n32 32 1\n1 32 7\n"
    )
    assert "matched to hosts by number" in netloom.ok("loads", paths.ft2, "ftree", "t.mtx")
    assert netloom.result("loads", paths.ft2, "ftree", "t.mtx")["traffic_matched_by"] == "number"
    assert netloom.result("loads", paths.ft2, "ftree", "bisection")["traffic_matched_by"] == "names"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("infer --study lulesh-512", "netloom study chapter4"),
        ("infer net.txt ftree --vl-scheme 5sl5vl --write-sl2vl t.dump", "netloom lanes write"),
        ("infer net.txt ftree --vl-scheme 5sl5vl --write-qos=qos", "netloom lanes write"),
        ("sample scenario.toml", "netloom sample run SCENARIO"),
        ("sample -o kept scenario.toml", "netloom sample run SCENARIO"),
        ("sample --decode packets.csv --fabric net.txt", "netloom sample decode FABRIC PACKETS"),
        ("sample --study", "netloom study sampling"),
        ("loop scenario.toml", "netloom loop run SCENARIO"),
        ("loop --live --rounds 1", "netloom loop live"),
        ("loop --table", "netloom loop table"),
        ("apply routes.lfts", "netloom apply plan ROUTES"),
        ("apply routes.lfts --yes", "apply send ROUTES --yes"),
        ("apply --rollback 3 --yes", "netloom apply rollback"),
        ("apply --recover", "netloom apply recover"),
        ("apply --history", "netloom apply history"),
        ("diagnose --self-test", "netloom diagnose self-test"),
    ],
)
def test_an_old_form_is_told_its_new_one(netloom, old, new):
    word = netloom.refused(*old.split(), code=2)
    assert f"now: {new}" in word or (new in word and old.split()[0] == "apply")
    # What it names is there.
    assert netloom.ok(*re.findall(r"[a-z0-9-]+", new.removeprefix("netloom "))[:2], "--help")
