"""The fluid model's rates are max-min fair: an own progressive filling, message by message."""

from __future__ import annotations

import random

import pytest

import netloom as nl
from independent.world import PS, goal, of

FABRIC = "fattree:pods=3,leaves=3,hosts=4,spines=3,groups=3,cores=1"
HOSTS, CAPACITY = 36, 12.5


def filled(paths):
    """Rates (bytes a ns): all rise together, and stop where a link is full."""
    left = {link: CAPACITY for path in paths.values() for link in path}
    rates, rising = {}, set(paths)
    while rising:
        users = {}
        for flow in rising:
            for link in paths[flow]:
                users.setdefault(link, []).append(flow)
        full = min(users, key=lambda link: left[link] / len(users[link]))
        rate = left[full] / len(users[full])
        for flow in users[full]:
            rates[flow] = rate
            rising.discard(flow)
            for link in paths[flow]:
                left[link] -= rate
    return rates


@pytest.mark.parametrize("seed", range(4))
def test_flows_end_when_progressive_filling_says(tmp_path, seed):
    draw = random.Random(seed)
    targets = list(range(HOSTS))
    draw.shuffle(targets)
    flows = [
        (sender, targets[sender] if seed % 3 else draw.randrange(HOSTS), int(draw.choice([4, 1, 2.5]) * 1e6))
        for sender in range(HOSTS)
    ]
    flows = [flow for flow in flows if flow[0] != flow[1]]
    ranks = [[] for _ in range(HOSTS)]
    for number, (sender, receiver, size) in enumerate(flows):
        ranks[sender].append(f"send {size}b to {receiver} tag {number}")
        ranks[receiver].append(f"recv {size}b from {sender} tag {number}")
    scenario = of(FABRIC, goal(tmp_path, ranks), routes=["random"], seed=seed, model="fluid",
                  software={"eager_bytes": 10**9, "call_ns": 0})  # fmt: skip
    routes = scenario.routes("random")
    paths = {number: [int(link) for link in routes.path(a, b)] for number, (a, b, _) in enumerate(flows)}
    left = {number: size + 26 * -(-size // 4096) for number, (*_, size) in enumerate(flows)}
    now, ends = 550.0, {}
    while left:
        rates = filled({flow: paths[flow] for flow in left})
        step = min(left[flow] / rates[flow] for flow in left)
        now += step
        for flow in list(left):
            left[flow] -= rates[flow] * step
            if left[flow] < 1e-3:
                del left[flow]
                ends[flow] = now + 25 * len(paths[flow]) + 100 * (len(paths[flow]) - 1)
    told = nl.simulate(scenario, "random", messages=("it",)).messages()
    columns = [told[name].tolist() for name in ("from", "to", "posted_ps", "latency_ps")]
    found = {(a, b): (posted + latency) / PS for a, b, posted, latency in zip(*columns, strict=True)}
    for number, (sender, receiver, _) in enumerate(flows):
        assert found[sender, receiver] == pytest.approx(ends[number], rel=0.005)
