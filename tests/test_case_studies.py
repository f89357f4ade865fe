"""The case studies of path sampling: shipped scenarios, and the order of their variants in little."""

from __future__ import annotations

import numpy as np
import pytest

from netloom import _core


def completion(netloom, scenario, *sets):
    words = [word for text in sets for word in ("--set", text)]
    run = netloom.result("simulate", scenario, *words)["runs"][0]
    return run["jobs"][0]["completion_ms"]


def test_minighost_gets_faster_by_mapping_and_by_order(netloom, paths):
    scenario = paths.examples / "sampling" / "minighost-small.toml"
    job = "job.minighost"
    cyclic = completion(netloom, scenario, f"{job}.mapping=cyclic-in-leaf")
    linear = completion(netloom, scenario, f"{job}.mapping=block")
    tiled = completion(netloom, scenario)
    apart = completion(netloom, scenario, f"{job}.program.strategy=svafp")
    assert cyclic > linear > tiled > apart


def test_pf3d_beside_an_incast_gains_by_shifting_its_planes(netloom, paths):
    scenario = paths.examples / "sampling" / "pf3d-small.toml"
    beside = completion(netloom, scenario)
    shifted = completion(netloom, scenario, "job.pf3d.mapping=fill-leaves:1")
    alone = completion(netloom, scenario, "job.incast.program.bytes=1")
    assert beside > 1.2 * shifted > 1.2 * alone


@pytest.mark.parametrize("name", ["cyclic", "linear", "tiled", "svaf", "svafp"])
def test_minighost_has_the_dissertations_ranks_and_places(paths, name):
    scenario = _core.Scenario.read(paths.examples / "sampling" / f"minighost-{name}.toml")
    assert scenario.fabric.hosts == 72 * 32
    (job,) = scenario.jobs
    host = np.asarray(job.host_of_rank)
    assert len(host) == 27648
    assert (np.bincount(host) == [36] * 768).all()
    rank = np.arange(27648)
    x, y, z = rank % 24, rank // 24 % 48, rank // (24 * 48)
    if name == "cyclic":
        # A leaf is a plane of equal z, and neighbours along x are on neighbouring hosts.
        assert (host // 32 == z).all()
        assert (host[1:32] == np.arange(1, 32)).all()
    elif name == "linear":
        assert (host == rank // 36).all()
    else:
        tiles = np.stack([x // 3, y // 3, z // 4])
        assert len(np.unique(np.vstack([tiles, host]), axis=1).T) == 768
        leaves = np.stack([x // 12, y // 12, z // 8])
        assert len(np.unique(np.vstack([leaves, host // 32]), axis=1).T) == 24


@pytest.mark.parametrize("name", ["alone", "background", "shifted"])
def test_pf3d_has_the_dissertations_ranks_and_places(paths, name):
    scenario = _core.Scenario.read(paths.examples / "sampling" / f"pf3d-{name}.toml")
    host = np.asarray(scenario.jobs[0].host_of_rank)
    assert len(host) == 1872
    assert np.bincount(np.unique(host) // 32).tolist() == [6, 12, 8, 12, 7, 7]
    assert len(scenario.jobs) == (1 if name == "alone" else 7)
    # A plane of 144 ranks has four hosts; on leaves 1 to 3 none is split once they are filled first.
    leaves = [set((host[144 * z : 144 * (z + 1)] // 32).tolist()) for z in range(13)]
    split = [found for found in leaves if len(found) > 1 and found & {1, 2, 3}]
    assert len(split) == (0 if name == "shifted" else 4)
