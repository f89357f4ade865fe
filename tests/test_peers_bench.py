"""`python benches/peers`: what is not there or does not build is said in its row; peers' outputs are read."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
import zlib

import pytest

MODULES = ("measuring", "sources", "printing", "known")

# What the peers printed, shortened to the lines that are read and some beside them.
BOOKSIM2 = """\
Class 0:
Packet latency average = 16.9
\tminimum = 7
Warmed up ...Time used is 100 cycles
Draining remaining packets ...
Time taken is 446 cycles
====== Overall Traffic Statistics ======
====== Traffic class 0 ======
Injected packet rate average = 0.4005 (1 samples)
Hops average = 4.75 (1 samples)
"""
HTSIM_END = "..Done\nNew: 0 Rtx: 0\n"


@pytest.fixture(scope="module")
def bench(paths):
    """The modules of `benches/peers` by name."""
    folder = str(paths.root / "benches" / "peers")
    sys.path.insert(0, folder)
    try:
        yield {name: importlib.import_module(name) for name in MODULES}
    finally:
        sys.path.remove(folder)
        for name in MODULES:
            sys.modules.pop(name, None)


def peers(paths, folder, *words, netloom=None):
    """Runs the program; netloom is never started where no peer is built, but for its version."""
    command = [sys.executable, str(paths.root / "benches" / "peers"), "--peers", str(folder), *words]
    if netloom is not None:
        command += ["--netloom", str(netloom)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def script(path, text):
    """An executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_folder_that_is_none_is_told_in_one_line(paths, tmp_path):
    done = peers(paths, tmp_path / "nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].endswith(f"--peers: {tmp_path / 'nowhere'} is no folder")


def test_a_netloom_that_is_none_is_told_in_one_line(paths, tmp_path):
    done = peers(paths, tmp_path, netloom=tmp_path / "netloom")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].endswith(f"--netloom: {tmp_path / 'netloom'} is no program")


def test_no_case_of_that_name_is_told_in_one_line(paths, tmp_path):
    done = peers(paths, tmp_path, "--only", "0.5")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].endswith("--only: no case's name holds '0.5'")


def test_a_folder_without_peers_gives_rows_that_say_so(bench, paths, tmp_path):
    done = peers(paths, tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("| ")][1:]
    assert len(lines) == len(bench["known"].CASES)
    assert all(re.search(r"\| (booksim2|csg-htsim): not there +\|$", line) for line in lines), done.stdout
    assert f"note: {len(lines)} of {len(lines)} cases were not measured" in done.stderr


def test_a_peer_that_does_not_build_says_so_and_others_run(bench, paths, tmp_path):
    # BookSim2's Makefile fails; "csg-htsim" is a script that prints what the real one ends with.
    broken = tmp_path / "peers" / "booksim2" / "src"
    broken.mkdir(parents=True)
    (broken / "Makefile").write_text("all:\n\t@echo 'main.cpp:1: error: no such thing' >&2; exit 1\n")
    good = tmp_path / "peers" / "csg-htsim" / "sim"
    (good / "datacenter").mkdir(parents=True)
    (good / "Makefile").write_text("libhtsim.a:\n\t@touch $@\n")
    flow = "Flow Roce_$i $i finished at 9 total bytes 2097152"
    flows = f'i=0; while [ $i -lt 1024 ]; do echo "{flow}"; i=$((i+1)); done'
    # Both take some CPU time: there is no ratio to nothing.
    busy = "k=0; while [ $k -lt 30000 ]; do k=$((k+1)); done"
    (good / "datacenter" / "Makefile").write_text("htsim_roce: fake\n\t@cp fake $@\n")
    script(good / "datacenter" / "fake", f"{busy}\n{flows}\necho Done")
    result = json.dumps({"result": {"runs": [{"packet_hops": 3_000_000}]}})
    ours = script(tmp_path / "netloom", f"{busy}\necho '{result}'")

    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "peers").rglob("*")}
    done = peers(paths, tmp_path / "peers", "--runs", "1", netloom=ours)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("| ")][1:]
    failed = [line for line in lines if "does not build: main.cpp:1: error: no such thing" in line]
    measured = [line for line in lines if re.search(r"\| \d+\.\d+x +\|", line)]
    cases = bench["known"].CASES
    assert len(failed) == sum(case.peer == "booksim2" for case in cases)
    assert len(measured) == sum(case.peer == "csg-htsim" for case in cases)
    # The folders that were given are as they were.
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "peers").rglob("*")} == before


def test_a_peer_that_ends_with_an_error_has_its_last_line_in_the_row(bench, tmp_path):
    program = script(tmp_path / "booksim", "echo 'Unknown topology' >&2; exit 3")
    with pytest.raises(bench["measuring"].Failed, match="booksim: exit 3: Unknown topology"):
        bench["measuring"].measured([str(program)], tmp_path, 60)


def test_booksim2_ends_well_with_255(bench, tmp_path):
    # Its main returns -1 after a stable run: taken for an error, every case of it was said to have failed.
    program = script(tmp_path / "booksim", "exit 255")
    good = bench["known"].PEERS["booksim2"].good
    assert bench["measuring"].measured([str(program)], tmp_path, 60, good).output == ""


def test_a_peer_that_does_not_end_is_killed(bench, tmp_path):
    with pytest.raises(bench["measuring"].Failed, match="sleep: not done after 0 s"):
        bench["measuring"].measured(["sleep", "60"], tmp_path, 0.1)


def test_a_measured_command_tells_time_and_memory(bench, tmp_path):
    found = bench["measuring"].measured([sys.executable, "-c", "print(sum(range(10**6)))"], tmp_path, 60)
    assert found.output == "499999500000\n"
    assert found.cpu_s > 0
    assert found.peak_mb > 5


def test_hops_of_booksim2_are_packets_that_were_made_times_links(bench, tmp_path):
    known = bench["known"]
    case = known.uniform(0.4, "nca", "d-mod-k")
    # 0.4 packets a cycle of each of 1,000 hosts, in 100 cycles of warm-up and 3 times 100: 160,000.
    # 4.75 switches are 5.75 links.
    assert known.booksim2_hops(BOOKSIM2, tmp_path, case) == 920_000
    twice = known.uniform(0.8, "anca", "adaptive")
    assert known.booksim2_hops(BOOKSIM2, tmp_path, twice) == 1_840_000
    for cut in ("Time taken", "Hops average"):
        without = "\n".join(line for line in BOOKSIM2.splitlines() if not line.startswith(cut))
        with pytest.raises(bench["measuring"].Failed, match="did not end"):
            known.booksim2_hops(without, tmp_path, case)


def test_hops_of_htsim_are_new_packets_times_links_by_distance(bench, tmp_path):
    known = bench["known"]
    case = known.permutation("ecmp_ar", "adaptive")
    flows = "".join(f"Flow Roce_{n} {n} finished at 171.2 total bytes 2097152\n" for n in range(known.HOSTS))
    to = known.partners(known.HOSTS, 1)
    assert sorted(to) == list(range(known.HOSTS))
    assert all(source != receiver for source, receiver in enumerate(to))
    # 512 packets of 4,096 bytes a host.
    expected = 512 * sum(known.links(source, receiver) for source, receiver in enumerate(to))
    assert known.htsim_hops(flows + HTSIM_END, tmp_path, case) == expected
    with pytest.raises(bench["measuring"].Failed, match="1023 of 1024 messages arrived"):
        known.htsim_hops(flows.split("\n", 1)[1] + HTSIM_END, tmp_path, case)
    with pytest.raises(bench["measuring"].Failed, match="did not end"):
        known.htsim_hops(flows, tmp_path, case)


def test_links_are_two_in_a_leaf_four_in_a_pod_six_elsewhere(bench):
    links = bench["known"].links
    # Leaves of 8 hosts, pods of 64.
    assert [links(0, 7), links(0, 8), links(0, 63), links(63, 64), links(1023, 0)] == [2, 4, 4, 6, 6]


def test_the_matrix_of_htsim_has_every_host_once_on_each_side(bench, tmp_path):
    known = bench["known"]
    command = known.htsim_command(
        tmp_path / "htsim_roce", tmp_path, known.permutation("ecmp_host", "d-mod-k")
    )
    lines = (tmp_path / "permutation.cm").read_text().splitlines()
    assert lines[:2] == ["Nodes 1024", "Connections 1024"]
    pairs = [re.fullmatch(r"(\d+)->(\d+) id (\d+) start 0 size 2097152", line) for line in lines[2:]]
    assert all(pairs)
    assert sorted(int(pair[2]) for pair in pairs if pair) == list(range(1024))
    assert command[-2:] == ["-strat", "ecmp_host"]


def test_the_scenarios_are_the_peers_trees(netloom, paths):
    # BookSim2: k = 10, n = 3; csg-htsim: 16 pods of 8 leaves of 8 hosts.
    for name, hosts, switches in (("uniform", 1000, 300), ("permutation", 1024, 320)):
        text = (paths.root / "benches" / "peers" / f"{name}.toml").read_text()
        spec = re.search(r'^fabric = "(.*)"', text, re.MULTILINE)
        assert spec is not None
        shown = netloom.result("fabric", "show", spec[1])
        assert (shown["hosts"], shown["switches"]) == (hosts, switches)


def test_the_stretch_of_the_page_is_as_it_was_printed(bench, paths):
    page = (paths.root / "docs" / "benchmarks.md").read_text()
    found = re.findall(
        r"<!-- peers table: begin .*?sum (\w+) -->\n\n(.*?)\n\n<!-- peers table: end -->", page, re.DOTALL
    )
    assert len(found) == 1
    assert f"{zlib.crc32(found[0][1].encode()):08x}" == found[0][0]


def test_a_stretch_is_replaced_where_it_is(bench):
    into = bench["printing"].into
    page = into("head\n", "one") + "\ntail\n"
    again = into(page, "two")
    assert "one" not in again
    assert again.index("head") < again.index("two") < again.index("tail")
