"""`contrib/verify.py` and netloom judge the same files and agree; faults that are planted are found.

They share no code. Where they are known to differ, it is stated here: netloom's `order` does not say
every order of up and down, and it follows no packets that begin at switches.
"""

from __future__ import annotations

import json
import os
import re

import pytest

import netloom as nl
import verify_bed as bed

TRIALS = min(int(os.environ.get("NETLOOM_TRIALS", "6")), len(bed.SEEDS))


@pytest.mark.parametrize("seed", bed.SEEDS[:TRIALS])
def test_hostile_second_opinion_agrees(netloom, tmp_path, seed):
    try:
        case = bed.case(seed, tmp_path)
    except nl.NetloomError:
        pytest.skip("an engine refuses it: there is nothing to judge")
    done = netloom("check", *case.files(), *case.options(), "--format", "json", "-q")
    assert done.code in (0, 1), done.err
    theirs = json.loads(done.out)["result"]
    order = nl.Fabric.read(tmp_path / "net.txt").order or ""
    options = case.options()
    if not case.roots and order.endswith(" on top") and " and " not in order and "," not in order:
        options += ["--roots", order.removeprefix("with ").removesuffix(" on top")]
    ours = bed.opinion(*case.files(), *options)
    assert ours.code in (0, 1), ours.err
    assert ours.count("hosts", "ways lost") == theirs["unreachable_hosts"], ours.out
    assert ours.count("management", "ways lost") == theirs["unreachable_management"], ours.out
    rings = ours.count("hosts", "channels wait") + ours.count("management", "channels wait")
    assert (rings > 0) == (theirs["credit_loops"] > 0), ours.out
    judged = theirs["certificate"]
    if theirs["unreachable_hosts"] == 0:
        assert ours.figure("load +# at most") == pytest.approx(judged["max_load"], rel=1e-9)
    if judged["kind"] == "dual" and (case.roots or not order):
        assert ours.figure("proven # of") == pytest.approx(judged["recomputed_bound"], rel=1e-9), ours.out
        assert "prove less" not in ours.out


NET, SPEC = "net.txt", "two-level:leaves=4,hosts=3,spines=2"


@pytest.fixture
def whole(netloom):
    """Files of a small tree that hold, as text by name."""
    netloom.ok("fabric", "new", SPEC, "-o", NET, "-q")
    (netloom.folder / "t.csv").write_text("".join(f"{a},{(a + 5) % 12},7\n" for a in range(12)) + "0,6,7\n")
    netloom.ok("optimize", NET, "t.csv", "-o", "t.lfts", "--write-certificate", "c.json", "-q")
    return netloom.folder


def changed(edit):
    """A certificate changed as JSON."""

    def change(text):
        proof = json.loads(text)
        edit(proof)
        return json.dumps(proof)

    return change


def line(old, new):
    """A file whose first line with some words is changed, or taken out."""

    def change(text):
        lines = text.splitlines()
        at = next(index for index, words in enumerate(lines) if old in words)
        lines[at : at + 1] = [lines[at].replace(*new)] if new else []
        return "\n".join(lines) + "\n"

    return change


FAULTS = {
    "hole": ("t.lfts", line("'host0004'", None), 1, "has no entry"),
    "hole to a switch": ("t.lfts", line("'spine00'", None), 1, "has no entry"),
    "wrong host": ("t.lfts", line("'host0001'", (" 002 ", " 001 ")), 1, "ends at host0000"),
    "swapped entry": ("t.lfts", line("'host0001'", (" 002 ", " 003 ")), 1, "ends at host0002"),
    "port that is not there": ("t.lfts", line("'host0001'", (" 002 ", " 077 ")), 1, "no cable in port 77"),
    "switch of another fabric": ("t.lfts", line("Unicast", ("guid 0x0002", "guid 0x0003")), 3, "a switch"),
    "torn entry": ("t.lfts", line("'host0001'", (" 002 ", " x02 ")), 3, "expected"),
    "bound high by a millionth": (
        "c.json",
        changed(lambda p: p.update(claim=p["claim"] * (1 + 1e-6))),
        1,
        "prove less",
    ),
    "claim below 0": ("c.json", changed(lambda p: p.update(claim=-1)), 3, "claim"),
    "claim NaN": ("c.json", changed(lambda p: p.update(claim=float("nan"))), 3, "claim"),
    "claim infinite": ("c.json", changed(lambda p: p.update(claim=float("inf"))), 3, "claim"),
    "no claim": ("c.json", changed(lambda p: p.pop("claim")), 3, "claim"),
    "price below 0": ("c.json", changed(lambda p: p["weights"][0].update(weight=-1)), 3, "weights"),
    "price NaN": ("c.json", changed(lambda p: p["weights"][0].update(weight=float("nan"))), 3, "weights"),
    "prices 0": ("c.json", changed(lambda p: p["weights"][0].update(weight=0)), 3, "weights"),
    "prices gone": ("c.json", changed(lambda p: p.pop("weights")), 3, "weights"),
    "price twice": ("c.json", changed(lambda p: p.update(weights=p["weights"] * 2)), 3, "weights"),
    "price of a port without a cable": (
        "c.json",
        changed(lambda p: p["weights"][0].update(from_port=40)),
        3,
        "fabric",
    ),
    "another fabric": ("c.json", changed(lambda p: p["weights"][0].update(guid="0x1")), 3, "fabric"),
    "forged roots": ("c.json", changed(lambda p: p.update(roots=["0x1"])), 3, "roots"),
    "a host in the order": (
        "c.json",
        changed(lambda p: p.update(order=[{"guid": "0x0002c90300000001", "rank": 1}])),
        3,
        "ranks",
    ),
    "a rank below 0": (
        "c.json",
        changed(lambda p: p.update(order=[{"guid": "0x1", "rank": -1}])),
        3,
        "ranks",
    ),
    "a host as root": ("c.json", changed(lambda p: p.update(roots=["0x0002c90300000001"])), 3, "roots"),
    "frozen entries": ("c.json", changed(lambda p: p.update(frozen=[{}])), 1, "not judged"),
    "another argument": ("c.json", changed(lambda p: p.update(kind="patterns")), 1, "not judged"),
    "torn certificate": ("c.json", lambda text: text[:-9], 3, "JSON"),
    "missing pairs": ("t.csv", lambda text: text.split("\n")[-2] + "\n", 1, "prove less"),
    "unknown host": ("t.csv", lambda text: text + "99,0,1\n", 3, "t.csv:14"),
    "bytes below 0": ("t.csv", lambda text: text + "1,0,-1\n", 3, "t.csv:14"),
    "bytes NaN": ("t.csv", lambda text: text + "1,0,nan\n", 3, "t.csv:14"),
    "fabric cut short": ("net.ib", lambda text: text + '[9]\t"S-00', 3, "ibnetdiscover"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_found(netloom, whole, name):
    netloom.ok("fabric", "convert", NET, "-o", "net.ib.txt", "-q")
    (whole / "net.ib.txt").rename(whole / "net.ib")
    file, change, code, words = FAULTS[name]
    (whole / file).write_text(change((whole / file).read_text()))
    said = bed.opinion(
        whole / "net.ib", whole / "t.lfts", "--traffic", whole / "t.csv", "--certificate", whole / "c.json"
    )
    assert said.code == code, said.out + said.err
    assert words in said.out + said.err


def test_a_load_that_is_misstated_is_found(netloom, whole):
    netloom.ok("fabric", "convert", NET, "-o", "n.txt", "-q")
    files = (whole / "n.txt", whole / "t.lfts", "--traffic", whole / "t.csv")
    assert [bed.opinion(*files, "--load", load).code for load in (14, 14.00002)] == [0, 1]


@pytest.mark.parametrize("name", ["f71520", "f90523", "min71062"])
def test_the_order_of_switches_comes_with_the_certificate(netloom, name):
    """What is up was chosen: the certificate says it, and both judges hold it against the fabric."""
    net = bed.ROOT / "tests" / "data" / "cases" / "orders" / f"{name}.txt"
    files = ("t.lfts", "all-to-all")
    netloom.ok("optimize", net, files[1], "-o", files[0], "--write-certificate", "c.json", "-q")
    hosts = range(nl.Fabric.read(net).hosts)
    rows = [f"{one},{other},1" for one in hosts for other in hosts if one != other]
    (netloom.folder / "t.csv").write_text("\n".join(["source,destination,bytes", *rows, ""]))
    path = netloom.folder / "c.json"
    proof = json.loads(path.read_text())
    said = bed.opinion(
        net, netloom.folder / "t.lfts", "--traffic", netloom.folder / "t.csv", "--certificate", path
    )
    assert "stated" not in said.out, said.out
    assert said.figure(r"claims #") == pytest.approx(proof["claim"])
    checked = ("check", net, files[0], "--traffic", files[1], "--certificate", "c.json")
    assert netloom(*checked).code == 0
    highest = max(row["rank"] for row in proof["order"])
    for row in proof["order"]:
        row["rank"] = highest - row["rank"]
    path.write_text(json.dumps(proof))
    done = netloom(*checked)
    assert done.code == 3
    assert "c.json: the certificate is of another order of switches" in done.err
    del proof["order"]
    path.write_text(json.dumps(proof))
    assert netloom(*checked).code == 3


def test_a_loop_by_lanes_is_found(netloom):
    spec = "dragonfly:p=2,a=4,h=2"
    netloom.ok("fabric", "new", spec, "-o", "d.net", "-q")
    netloom.ok("fabric", "convert", "d.net", "-o", "d.txt", "-q")
    netloom.ok("route", "dla", "d.net", "-o", "d.lfts", "--write-sl2vl", "d.sl2vl", "-q")
    files = (netloom.folder / "d.txt", netloom.folder / "d.lfts", "--sl2vl", netloom.folder / "d.sl2vl")
    assert bed.opinion(*files).code == 0
    path = netloom.folder / "d.sl2vl"
    path.write_text(re.sub(r"^(\d+ +\d+ +:).*", r"\1" + " 0" * 16, path.read_text(), flags=re.MULTILINE))
    assert bed.opinion(*files).code == 1
