"""Bad input: each is refused with one line that says where and what was expected; nothing is written.

The list is the issue's; real dumps, changed in one place.
"""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
from pathlib import Path

import pytest

LFT = "opensm-lfts.dump"
OVERLAP = """
[[job]]
name = "a"
pattern = "all-to-all:ranks=2"
hosts = "host[0000-0001]"
[[job]]
name = "b"
pattern = "all-to-all:ranks=2"
hosts = "host[0001-0002]"
"""
MTX = "%%MatrixMarket matrix coordinate real general\n"


@pytest.fixture
def here(netloom, paths):
    """Writes a file into the command's folder and returns its name."""

    def write(name, data):
        (netloom.folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return name

    return write


def replaced(text, old, new, count=1):
    assert old in text
    return text.replace(old, new, count)


# Fabrics


def test_a_truncated_gzip(netloom, paths, here):
    name = here("cut.txt.gz", paths.quartz1.read_bytes()[:5000])
    message = netloom.refused("fabric", "show", name)
    assert message.startswith("cut.txt.gz")
    assert "gzip" in message or "truncated" in message


def test_a_dump_cut_in_the_middle_of_a_line(netloom, paths, here):
    text = paths.ft2.read_text()
    name = here("cut.txt", text[: text.index('"H-', len(text) // 2) + 8])
    message = netloom.refused("fabric", "convert", name, "-o", "out.net")
    assert message.startswith("cut.txt:")


def test_a_binary_file(netloom, here):
    name = here("noise.bin", bytes(range(256)) * 40)
    assert "noise.bin" in netloom.refused("fabric", "show", name)


def test_an_empty_file(netloom, here):
    assert "empty.txt" in netloom.refused("fabric", "show", here("empty.txt", b""))


def test_a_port_above_the_radix(netloom, paths, here):
    text = replaced(paths.ft2.read_text(), "\n[4]", "\n[40]")
    line = text[: text.index("\n[40]")].count("\n") + 2
    message = netloom.refused("fabric", "show", here("net.txt", text))
    assert message.startswith(f"net.txt:{line}:")
    assert "40" in message


def test_two_ends_that_disagree(netloom, paths, here):
    # The first switch's cable to a spine now names another port of it.
    lines = paths.ft2.read_text().splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith("[5]") and '"S-' in line)
    lines[at] = replaced(lines[at], '"[8]', '"[7]')
    message = netloom.refused("fabric", "show", here("net.txt", "".join(lines)))
    assert message.startswith("net.txt:")


def test_the_same_guid_twice(netloom, paths, here):
    lines = paths.ft2.read_text().splitlines(keepends=True)
    switch = [i for i, line in enumerate(lines) if line.startswith("Switch")]
    block = lines[switch[0] : switch[1]]
    message = netloom.refused("fabric", "show", here("net.txt", "".join([*lines, "\n", *block])))
    assert message.startswith("net.txt:")
    assert "0002c9" in message or "GUID" in message


def test_a_host_without_a_link_is_reported_not_fatal(netloom, paths, here):
    text = paths.ft2.read_text()
    text += "\nvendid=0x2c9\ndevid=0xcc8c\nsysimgguid=0x2c90300000f00\ncaguid=0x2c90300000f00\n"
    text += 'Ca\t1 "H-0002c90300000f00"\t\t# "alone"\n'
    result = netloom.result("fabric", "show", here("net.txt", text), code=1)
    assert result["hosts"] == 32
    assert any("alone" in finding["text"] for finding in result["findings"])


def test_two_disconnected_halves_are_reported_and_not_routed(netloom, paths):
    switches = [argument for i in range(4) for argument in ("--switch", f"spine{i:02}")]
    result = netloom.result("fabric", "damage", paths.ft2, *switches)
    assert result["findings"]
    netloom.ok("fabric", "damage", paths.ft2, *switches, "-o", "halves.net")
    netloom.refused("loads", "halves.net", "minhop", "all-to-all")


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("fattree:pods=4,leafs=24", "leaves"),
        ("xgft:m=18x18,w=1x9x18", "xgft"),
        ("two-level:leaves=x,hosts=4,spines=4", "leaves"),
        ("two-level:leaves=0,hosts=4,spines=4", "leaves"),
    ],
)
def test_generator_specs_name_the_key(netloom, spec, hint):
    assert hint in netloom.refused("fabric", "new", spec, "-o", "x.net")


def test_a_file_that_is_not_there(netloom):
    message = netloom.refused("fabric", "show", "nothing.txt")
    assert "nothing.txt" in message
    assert "No such file" in message


def test_damage_of_what_is_not_there(netloom, paths):
    assert "leaf99" in netloom.refused("fabric", "damage", paths.ft2, "--switch", "leaf99")
    assert "leaf00" in netloom.refused("fabric", "damage", paths.ft2, "--link", "leaf00[99]")
    assert "NAME[PORT]" in netloom.refused("fabric", "damage", paths.ft2, "--link", "leaf00")


# Routes


@pytest.fixture
def tables(paths):
    return (paths.opensm / "ft2_32" / LFT).read_text()


def test_tables_of_a_switch_that_is_not_there(netloom, paths, here, tables):
    name = here("r.lfts", replaced(tables, "0x0002c90200000000", "0x0002c902000000ff"))
    message = netloom.refused("loads", paths.ft2, name, "bisection")
    assert message.startswith("r.lfts:1:")
    assert "0x0002c902000000ff" in message


def test_a_lid_out_of_range(netloom, paths, here, tables):
    name = here("r.lfts", replaced(tables, "\n0x0001 ", "\n0xFFF1 "))
    assert netloom.refused("loads", paths.ft2, name, "bisection").startswith("r.lfts:2:")


def test_a_port_to_nowhere(netloom, paths, here, tables):
    at = tables.index("\n0x002c ")
    name = here("r.lfts", tables[:at] + "\n0x002c 099 " + tables[at + 12 :])
    message = netloom.refused("loads", paths.ft2, name, "bisection")
    assert message.startswith("r.lfts:")
    assert "99" in message
    assert netloom.result("check", paths.ft2, name, code=1)["invalid_entries"] >= 1


def test_tables_that_are_none(netloom, paths):
    assert str(paths.ft2) in netloom.refused("loads", paths.ft2, paths.ft2, "bisection")


def test_an_engine_that_is_none(netloom, paths):
    assert "did you mean ftree" in netloom.refused("route", "ftre", paths.ft2)
    assert "neither a file nor an engine" in netloom.refused("loads", paths.ft2, "ftre", "bisection")


# Traffic


@pytest.mark.parametrize(
    ("body", "line", "hint"),
    [
        ("4 4 1\n1 2 -5\n", 3, "-5"),
        ("4 4 1\n1 2 nan\n", 3, "nan"),
        ("4 4 1\n0 2 5\n", 3, "1 to 4"),
        ("4 4 1\n1 5 5\n", 3, "1 to 4"),
        ("4 4 3\n1 2 5\n", None, "3 entries"),
        ("4 4 1\n1 2 5\n2 3 5\n", 4, "1 entries"),
        ("4 5 1\n1 2 5\n", 2, "square"),
        ("4 4\n1 2 5\n", 2, "rows columns entries"),
        ("4 4 1\n1 2\n", 3, "row column value"),
        ("4 4 99999999999\n1 2 5\n", None, "99999999999"),
    ],
)
def test_matrix_market_faults_name_the_line(netloom, here, body, line, hint):
    message = netloom.refused("traffic", "convert", here("t.mtx", MTX + body), "-o", "out.npz")
    assert message.startswith("t.mtx:" if line is None else f"t.mtx:{line}:")
    assert hint in message


def test_a_matrix_of_the_wrong_size(netloom, paths, here):
    name = here("t.mtx", MTX + "4 4 1\n1 2 5\n")
    message = netloom.refused("loads", paths.ft2, "ftree", name)
    assert "4" in message
    assert "32" in message


def test_a_pattern_whose_size_does_not_fit(netloom, paths):
    message = netloom.refused("traffic", "new", "stencil:16x16x12", paths.ft2, "-o", "t.mtx")
    assert "3072" in message
    assert "32" in message
    assert "stencil" in netloom.refused("loads", paths.ft2, "ftree", "stencil:16x16x12")


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ('[[job]]\nname = "a"\npatern = "all-to-all:ranks=4"\n', "pattern"),
        (
            '[[job]]\nname = "a"\npattern = "all-to-all:ranks=33"\n',
            "needs 33 hosts (1 x 33 ranks, 1 a host), 32 of the fabric's 32 are free",
        ),
        (OVERLAP, "host0001"),
        ('[[job]]\nname = "a"\nmatrix = "none.mtx"\n', "none.mtx"),
        ('[[job]\nname = "a"\n', "jobs.toml:1"),
        ("", "expected at least one [[job]]"),
    ],
)
def test_jobs_files_name_what_is_wrong(netloom, paths, here, body, hint):
    message = netloom.refused("traffic", "place", paths.ft2, here("jobs.toml", body), "-o", "t.mtx")
    assert hint in message


def test_npz_and_parquet_that_are_none(netloom, here):
    assert "noise.npz" in netloom.refused("traffic", "show", here("noise.npz", b"PK\x03\x04 nothing"))
    assert "noise.parquet" in netloom.refused("traffic", "show", here("noise.parquet", b"PAR1 nothing"))


def test_parquet_without_the_columns(netloom):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"from": [0], "to": [1], "bytes": [1.0]}), netloom.folder / "t.parquet")
    message = netloom.refused("traffic", "show", "t.parquet")
    assert "source, destination missing" in message


def test_parquet_with_a_negative_entry(netloom):
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"source": [0, 1], "destination": [1, 0], "bytes": [1.0, -1.0]}
    pq.write_table(pa.table(columns), netloom.folder / "t.parquet")
    assert "entry 1 has -1.0 bytes" in netloom.refused("traffic", "show", "t.parquet")


# What is odd in a table but leaves it usable is told


@pytest.mark.parametrize(
    ("kind", "line"),
    [("duplicate", "0x0001 001"), ("unknown-lid", "0x0100 001"), ("stray-line", "what is this")],
)
def test_odd_lines_of_a_table_are_told_and_not_fatal(netloom, paths, here, tables, kind, line):
    head, rest = tables.split("\n", 1)
    at = rest.index("\n") + 1
    name = here("r.lfts", f"{head}\n{rest[:at]}{line}\n{rest[at:]}")
    plain = netloom.result("loads", paths.ft2, paths.opensm / "ft2_32" / LFT, "bisection")
    assert plain["findings"] == []
    result = netloom.result("loads", paths.ft2, name, "bisection")
    assert [finding["kind"] for finding in result["findings"]] == [kind]
    assert result["max_load"] == plain["max_load"]
    assert netloom.result("optimize", paths.ft2, "bisection", "--background", name)["findings"]
    told = netloom("loads", paths.ft2, name, "bisection").err
    assert told.startswith("netloom: note: r.lfts:3: ")
    assert len(told.splitlines()) == 1


def test_only_the_first_odd_lines_are_told_and_the_rest_counted(netloom, paths, here, tables):
    name = here("r.lfts", tables + "what is this\n" * 10)
    lines = netloom("loads", paths.ft2, name, "bisection").err.splitlines()
    assert len(lines) == 4
    assert lines[-1] == "netloom: note: r.lfts: and 7 more lines"


# Certificates


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"kind": "dual"}', "not json"])
def test_certificates_that_are_none(netloom, paths, here, text):
    name = here("c.json", text)
    message = netloom.refused("check", paths.ft2, "ftree", "--traffic", "bisection", "--certificate", name)
    assert "c.json" in message


# Output


@pytest.mark.parametrize("path", ["no/such/folder/r.lfts", "."])
def test_an_output_that_cannot_be_written(netloom, paths, path):
    message = netloom.refused("optimize", paths.ft2, "bisection", "-o", path)
    assert path in message


def test_a_folder_without_permission(netloom, paths):
    # Root may write anywhere, but not into /proc.
    folder = Path("/proc") if os.geteuid() == 0 else netloom.folder / "locked"
    if os.geteuid() != 0:
        folder.mkdir(mode=0o500)
    message = netloom.refused("route", "ftree", paths.ft2, "-o", folder / "r.lfts")
    assert message.startswith(str(folder / "r.lfts"))


def test_an_output_below_a_file(netloom, paths):
    (netloom.folder / "file").write_text("old\n")
    message = netloom.refused("route", "ftree", paths.ft2, "-o", "file/r.lfts")
    assert message == "file/r.lfts: there is no folder file"


def test_a_full_disk_leaves_the_old_file(netloom, paths):
    """A limit on the size of files stands for a full disk: the write fails in the middle."""
    (netloom.folder / "r.lfts").write_text("old\n")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    message = netloom.refused("route", "ftree", paths.ft2, "-o", "r.lfts", preexec_fn=limit)
    assert message.startswith("r.lfts: ")
    assert (netloom.folder / "r.lfts").read_text() == "old\n"


def test_a_full_device(netloom, paths):
    assert (
        netloom.refused("route", "ftree", paths.ft2, "-o", "/dev/full")
        == "/dev/full: No space left on device"
    )


def test_a_kill_in_the_middle_leaves_no_half_file(netloom, paths):
    """Whatever the moment, the path holds the old content or the complete new one."""
    target = netloom.folder / "net.txt.gz"
    command = [*netloom.command, "fabric", "new", "quartz1", "-o", target.name]
    netloom.ok("fabric", "new", "quartz1", "-o", "whole.txt.gz")
    whole = gzip.decompress((netloom.folder / "whole.txt.gz").read_bytes())
    for delay in (0.1, 0.2, 0.3):
        process = subprocess.Popen(command, cwd=netloom.folder, stdout=subprocess.DEVNULL)
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if target.exists():
            assert gzip.decompress(target.read_bytes()) == whole
            target.unlink()
