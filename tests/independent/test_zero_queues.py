"""Every link a queue in order of arrival, as long as buffers are large: an own simulation of packets."""

from __future__ import annotations

import heapq
import random

import pytest

from independent.world import at_times, goal, of, run

FABRIC = "fattree:pods=4,leaves=4,hosts=4,spines=4,groups=2,cores=2"
HOSTS = 64
SWITCH, CABLE, POST, NS_PER_BYTE = 100.0, 25.0, 550.0, 0.08
LARGE = 1 << 22


def world(seed, count=700, span=70_000):
    draw = random.Random(seed)
    messages = []
    for _ in range(count):
        sender, beside = draw.randrange(HOSTS), draw.randrange(1, HOSTS)
        size = draw.choice([1, 77, 1000, 4096, 5000, 12288, 16384, draw.randrange(1, 16384)])
        messages.append((draw.randrange(span), sender, (sender + beside) % HOSTS, size))
    by_sender = {(message[0], message[1]): message for message in messages}  # one at a time
    return sorted(by_sender.values())


def own(messages, paths, stored):
    """Latencies: a packet leaves a link when those before it have, and not before its own tail has come."""
    events, free, left, latency = [], {}, {}, {}
    order = 0
    for number, (time, _, _, size) in enumerate(messages):
        left[number] = -(-size // 4096)
        for k in range(left[number]):
            wire = min(4096, size - 4096 * k) + 26
            heapq.heappush(events, (time + POST, order, number, 0, wire, time + POST))
            order += 1
    while events:
        now, _, number, hop, wire, tail = heapq.heappop(events)
        time, sender, receiver, _ = messages[number]
        path = paths[sender, receiver]
        start = max(now, free.get(path[hop], 0.0))
        end = max(start + wire * NS_PER_BYTE, 0.0 if stored else tail)
        free[path[hop]] = end
        if hop == len(path) - 1:
            latency[number] = max(latency.get(number, 0.0), end + CABLE - time)
            continue
        head, tail = start + SWITCH + CABLE, end + SWITCH + CABLE
        heapq.heappush(events, (tail if stored else head, order, number, hop + 1, wire, tail))
        order += 1
    return latency


@pytest.mark.parametrize("forwarding", ["cut-through", "store-and-forward"])
def test_messages_take_what_queues_in_order_of_arrival_say(tmp_path, forwarding):
    messages = world(1)
    trace = goal(tmp_path, at_times(messages, HOSTS))
    hardware = {
        "input_buffer_bytes": LARGE,
        "output_buffer_bytes": LARGE,
        "host_output_buffer_bytes": LARGE,
        "head_of_line": False,
        "admission": "in-order",
        "injection": "in-order",
        "forwarding": forwarding,
    }
    for routing in ("ftree", "random"):
        scenario = of(FABRIC, trace, routes=[routing], hardware=hardware, software={"call_ns": 0}, seed=1)
        routes = scenario.routes(routing)
        paths = {(a, b): [int(link) for link in routes.path(a, b)] for _, a, b, _ in messages}
        expected = own(messages, paths, forwarding == "store-and-forward")
        _, found = run(scenario, routing)
        off = [
            abs(found[sender, receiver, time, size] - expected[number])
            for number, (time, sender, receiver, size) in enumerate(messages)
        ]
        # Two packets that come to a link at one moment may change places.
        assert sum(one > 0.5 for one in off) <= len(off) // 50, (routing, max(off))
