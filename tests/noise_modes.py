"""The bias of mode 3, fig. 7 of De Sensi et al. with faster cables, and the transmission model in both modes.

A script, not a test, for docs/methods/noise.md: `.venv/bin/python tests/noise_modes.py bias` (minutes),
`speeds`, `model`.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import netloom as nl

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "noise"
FABRIC = "dragonfly:p=2,a=8,h=4,g=9,links=4,speed=102.4G,local-speed={}G,global-speed={}G"
HOSTS, OF_SWITCH, OF_GROUP = 144, 2, 16
BIASES = (2048, 2560, 3072, 4096, 16384)


class Ran(NamedTuple):
    """A ping-pong: its messages' median time and QCD, stalls a flit, cycles from packet to response."""

    median_us: float
    qcd: float
    stalled: float
    latency: float


def ping_pong(
    seed: int, *, between: bool, mode: str, size: str, iterations: int, speeds: tuple[float, float]
) -> Ran:
    """Two hosts on different switches of a group, or of two, drawn by seed; all others are neighbours."""
    rng = random.Random(seed)
    while True:
        one, two = rng.sample(range(HOSTS), 2)
        if one // OF_SWITCH != two // OF_SWITCH and (one // OF_GROUP != two // OF_GROUP) == between:
            break
    scene = nl.Scenario.read(
        EXAMPLES / "modes.toml",
        [
            f"seed={seed}",
            f"fabric={FABRIC.format(*speeds)}",
            f'routes=["{mode}"]',
            f"job.pingpong.hosts=host[{one:04},{two:04}]",
            f"job.pingpong.program.bytes={size}",
            f"job.pingpong.program.iterations={iterations}",
            "job.neighbours.program.messages=100000",
        ],
    )
    ended = nl.simulate(scene, mode, messages=["pingpong"])
    adapters, messages = ended.adapters(), ended.messages()
    assert adapters is not None
    assert messages is not None
    mine = np.isin(adapters["host"], [one, two])
    flits, stalled, packets, cycles = (
        float(np.sum(np.asarray(adapters[key])[mine]))
        for key in ("flits", "stalled_cycles", "packets", "latency_cycles")
    )
    q1, median, q3 = np.quantile(messages["latency_ps"].astype(np.float64) / 1e6, (0.25, 0.5, 0.75))
    return Ran(float(median), float((q3 - q1) / (q3 + q1)), stalled / flits, cycles / packets)


def bias() -> None:
    """Latency of mode 0 over that of mode 3, and stalls of mode 3 over those of mode 0: medians."""
    found: dict[int, list[tuple[float, float]]] = {each: [] for each in BIASES}
    for seed in range(101, 111):
        for between in (False, True):
            of: dict[str, Any] = {"between": between, "size": "256KiB", "iterations": 4, "speeds": (42, 37.6)}
            low = ping_pong(seed, mode="adaptive:0", **of)
            for each in BIASES:
                high = ping_pong(seed, mode=f"adaptive:3:bias={each}", **of)
                found[each].append(
                    (low.latency / high.latency, high.stalled / low.stalled if low.stalled else np.nan)
                )
    for each, ratios in found.items():
        print(each, len(ratios), *(f"{value:.3f}" for value in np.nanmedian(ratios, axis=0)))


def speeds() -> None:
    """Between groups, modes 0 and 3, with cables within and between groups as they are and twice as fast."""
    for each in ((42, 37.6), (84, 37.6), (42, 75.2), (84, 75.2)):
        for seed in range(1, 6):
            of: dict[str, Any] = {"between": True, "size": "4MiB", "iterations": 2, "speeds": each}
            print(*each, seed, *(ping_pong(seed, mode=mode, **of) for mode in ("adaptive:0", "adaptive:3")))


def model() -> None:
    """The transmission model over ten allocations: correlations of means, medians of errors."""
    larger = [f"hardware.{key}" for key in ("packet_bytes=2048", "header_bytes=512", "window_packets=32")]
    for size, iterations, more in (("128", 4, []), ("16KiB", 2, []), ("1MiB", 1, larger)):
        for mode in ("minimal", "adaptive:0", "adaptive:3"):
            rows = []
            for seed in range(1, 11):
                keys = [f"seed={seed}", f"job.pingpong.program.bytes={size}", f'routes=["{mode}"]', *more]
                keys.append(f"job.pingpong.program.iterations={iterations}")
                scene = nl.Scenario.read(EXAMPLES / "transmission.toml", keys)
                found = nl.simulate(scene, mode, messages=["pingpong"]).messages()
                assert found is not None
                whole = found["network_ps"] > 0
                time, eq2, window = (found[key][whole] for key in ("network_ps", "eq2_ps", "window_ps"))
                errors = (float(np.median(np.abs(of / time - 1))) for of in (eq2, window))
                rows.append((time.mean(), eq2.mean(), window.mean(), *errors))
            columns = np.array(rows).T
            correlations = np.corrcoef(columns[:3])[0, 1:]
            errors = np.median(columns[3:], axis=1)
            print(size, mode, *(f"{value:.3f}" for value in (*correlations, *errors)))


if __name__ == "__main__":
    {"bias": bias, "speeds": speeds, "model": model}[sys.argv[1]]()
