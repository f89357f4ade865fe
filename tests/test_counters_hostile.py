"""Folders of counters with adapters of other fabrics, virtual functions and LIDs that are others' here.

Whatever lies beside a machine's own counters: not a byte goes to another host, and nothing is refused.
"""

from __future__ import annotations

import os
import random

import pytest

import netloom as nl

HOSTS = 6
OWN = 0x1000
"""GUID of the first host; each has a node GUID and a port GUID."""


def fabric():
    """Hosts n0 to n5 with LIDs 1 to 6 on one switch."""
    lines = ["vendid=0x0", "switchguid=0x1(1)", 'Switch 8 "S-0000000000000001" # "s" base port 0 lid 9 lmc 0']
    for host in range(HOSTS):
        guid = OWN + 16 * host
        lines.append(f'[{host + 1}] "H-{guid:016x}"[1]({guid + 1:x}) # "n{host} mlx5_0" lid {host + 1} 4xEDR')
    for host in range(HOSTS):
        guid = OWN + 16 * host
        lines += [
            "",
            f"caguid=0x{guid:x}",
            f'Ca 1 "H-{guid:016x}" # "n{host} mlx5_0"',
            f'[1]({guid + 1:x}) "S-0000000000000001"[{host + 1}] # lid {host + 1} lmc 0 "s" lid 9 4xEDR',
        ]
    return nl.Fabric.parse("\n".join(lines).encode() + b"\n")


class Folder:
    """A folder as it is drawn, and what every host has sent."""

    def __init__(self, draw):
        self.draw, self.files, self.sent = draw, [], {}
        for host in range(HOSTS):
            if draw.random() < 0.8 or not self.sent:
                self.own(host)
            for device in range(1, draw.randrange(1, 5)):
                self.stranger(host, device)
        for host in range(draw.randrange(3)):
            self.stranger(HOSTS + host, 0)
        draw.shuffle(self.files)

    def port(self, host, device, lid, value, guid=None, layer="InfiniBand"):
        place = f"tree/n{host}/mlx5_{device}"
        if guid is not None:
            digits = f"{guid:016x}"
            parts = ":".join(digits[at : at + 4] for at in range(0, 16, 4))
            self.files.append((f"{place}/node_guid", f"{parts}\n".encode()))
        port = f"{place}/ports/1"
        self.files.append((f"{port}/lid", f"0x{lid:x}\n".encode()))
        self.files.append((f"{port}/link_layer", f"{layer}\n".encode()))
        if value is not None:
            self.files.append((f"{port}/counters/port_xmit_data", f"{value}\n".encode()))

    def own(self, host):
        value = self.draw.randrange(1, 1 << 40)
        guid = OWN + 16 * host if self.draw.random() < 0.8 else None
        self.port(host, 0, host + 1, value, guid)
        self.sent[host] = 4 * value

    def stranger(self, host, device):
        """Something that is none of this fabric's, with a LID that is somebody's here."""
        draw, lid = self.draw, self.draw.randrange(0, HOSTS + 3)
        value = draw.randrange(1, 1 << 40)
        kind = draw.choice(("foreign", "function", "ethernet", "silent", "refused", "no-guid", "named"))
        foreign = 0xB8599F0300000000 + draw.randrange(1 << 30)
        if kind == "foreign":
            self.port(host, device, lid, value, foreign)
        elif kind == "function":
            self.port(host, device, host + 1, value, 0)
        elif kind == "ethernet":
            self.port(host, device, lid, draw.choice((value, "what?")), foreign, "Ethernet")
        elif kind == "silent":
            self.port(host, device, lid, None, foreign)
        elif kind == "refused":
            self.port(host, device, lid, "N/A (no PMA)", foreign)
        elif kind == "named" and host < HOSTS:
            # No LID either: its name is all there is.
            self.port(host, device, 0, value)
        elif host < HOSTS:
            # No GUID, but the LID of another machine of the fabric.
            self.port(host, device, draw.choice([x for x in range(1, HOSTS + 1) if x != host + 1]), value)
        else:
            # A machine that the fabric does not have, without a GUID: its LID is somebody's who was read.
            self.port(host, device, 1 + draw.choice(sorted(self.sent)), value)


@pytest.mark.parametrize("seed", range(int(os.environ.get("NETLOOM_TRIALS", "20"))))
def test_hostile_not_a_byte_goes_to_another_host(seed):
    net, folder = fabric(), Folder(random.Random(seed))
    found = nl.Counters.from_sysfs(folder.files, net, label="tree")
    sent = {
        int(link["from"].split()[0][1:]): link["bytes"]
        for link in found.summary(busiest=100)["busiest"]
        if link["from"].startswith("n") and link["bytes"]
    }
    assert sent == folder.sent, found.notes


@pytest.mark.parametrize("seed", range(int(os.environ.get("NETLOOM_TRIALS", "20"))))
def test_hostile_devices_of_an_exporter_count_by_their_names(seed):
    draw, net = random.Random(seed), fabric()
    metric, sent, lines = "node_infiniband_port_data_transmitted_bytes_total", {}, []
    for host in range(HOSTS + 2):
        for device in range(draw.randrange(1, 4)):
            value = draw.randrange(1, 1 << 40) * 4
            labels = f'device="mlx5_{device}",instance="n{host}:9100",port="1"'
            lines.append(f"{metric}{{{labels}}} {value}")
            if device == 0 and host < HOSTS:
                sent[host] = value
    draw.shuffle(lines)
    found = nl.Counters.parse(("\n".join(lines) + "\n").encode(), net)
    told = {
        int(link["from"].split()[0][1:]): link["bytes"]
        for link in found.summary(busiest=100)["busiest"]
        if link["from"].startswith("n")
    }
    assert told == sent
