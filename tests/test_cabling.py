"""What changed between two dumps."""

from __future__ import annotations

import re
from typing import Any

import pytest

import netloom as nl
from netloom.cabling import changes


def told(before: nl.Fabric, after: nl.Fabric) -> dict[str, str]:
    return {one["kind"]: one["text"] for one in changes(before, after)}


@pytest.fixture
def net(paths) -> Any:
    return nl.Fabric.read(paths.ft2)


def test_a_fabric_is_the_same_as_itself_in_every_format(netloom, paths, net):
    assert changes(net, net) == []
    for name in ("same.txt", "same.txt.gz"):
        netloom.ok("fabric", "convert", paths.ft2, "-o", name)
        result = netloom.result("fabric", "diff", paths.ft2, name)
        assert (result["same"], result["findings"]) == (True, [])


def test_what_was_taken_out_is_gone_and_the_other_way_round_new(net):
    switch = net.switch_table()
    spine = next(name for name, level in zip(switch["name"], switch["level"], strict=True) if level == 1)
    leaf = switch["name"][0]
    cable = net.damage(links=[f"{leaf}[1]"])[0]
    lost = told(net, cable)
    assert set(lost) == {"host-gone"}, "its cable went with it"
    without = net.damage(switches=[spine])[0]
    assert told(net, without)["switch-gone"] == f"1 switch is gone: {spine}"
    assert "cable-gone" not in told(net, without), "its cables went with it"
    assert set(told(without, net)) == {"switch-new"}
    some = net.damage(random_links=7, seed=3)[0]
    assert told(net, some)["cable-gone"].startswith("7 cables are gone: ")
    assert told(net, some)["cable-gone"].endswith(" and 2 more")
    assert set(told(some, net)) == {"cable-new"}
    assert told(some, net)["cable-new"].startswith("7 cables are new: ")


def test_speeds_names_lids_and_places_are_told_apart():
    plain = "two-level:leaves=2,hosts=2,spines=2"
    fabric, slow = nl.Fabric.generate(plain), nl.Fabric.generate(f"{plain},speed=FDR")
    assert set(told(fabric, slow)) == {"slower-cable"}
    assert told(fabric, slow)["slower-cable"].startswith("8 cables are slower: ")
    assert set(told(slow, fabric)) == {"faster-cable"}
    text = fabric.to_bytes("ibnetdiscover").decode()
    old = nl.Fabric.parse(text.encode())
    named = nl.Fabric.parse(text.replace('"host0000"', '"node7"').encode())
    assert told(old, named) == {"renamed": "1 node was renamed: host0000 is now node7"}
    lid = re.search(r'"host0001" lid (\d+)', text)
    assert lid is not None
    moved = re.sub(rf"\blid {lid[1]}\b", "lid 999", text)
    assert told(old, nl.Fabric.parse(moved.encode())) == {
        "lid-changed": f"1 node has another LID: host0001 {lid[1]} to 999"
    }


def test_a_cable_in_another_port_was_moved(netloom):
    """Of three hosts on a switch of eight ports one is put from port 3 into port 6."""
    old, new = (_star(at) for at in ({1: "h1", 2: "h2", 3: "h3"}, {1: "h1", 2: "h2", 6: "h3"}))
    assert told(old, new) == {"cable-moved": "1 cable was moved: s[3]-h3[1] is now s[6]-h3[1]"}
    (netloom.folder / "old.txt").write_bytes(old.to_bytes("ibnetdiscover"))
    (netloom.folder / "new.txt").write_bytes(new.to_bytes("ibnetdiscover"))
    out = netloom.ok("fabric", "diff", "old.txt", "new.txt", code=1)
    assert "cable-moved" in out
    assert "s[6]-h3[1]" in out


def _star(at: dict[int, str]) -> nl.Fabric:
    text = "vendid=0x2c9\ndevid=0xbd36\nsysimgguid=0x100\nswitchguid=0x100(100)\n"
    text += 'Switch 8 "S-0000000000000100" # "s" base port 0 lid 9 lmc 0\n'
    for port, name in at.items():
        guid = f"{0x1000 + 16 * int(name[1:]):016x}"
        text += f'[{port}] "H-{guid}"[1]({int(guid, 16) + 1:x}) # "{name}" lid {name[1:]} 4xEDR\n'
    for port, name in at.items():
        guid = f"{0x1000 + 16 * int(name[1:]):016x}"
        text += f"\nvendid=0x2c9\ndevid=0x1017\nsysimgguid=0x{guid}\ncaguid=0x{guid}\n"
        text += f'Ca 1 "H-{guid}" # "{name}"\n[1]({int(guid, 16) + 1:x}) "S-0000000000000100"[{port}]'
        text += f' # lid {name[1:]} lmc 0 "s" lid 9 4xEDR\n'
    return nl.Fabric.parse(text.encode())
