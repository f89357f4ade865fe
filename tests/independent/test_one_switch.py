"""One switch with inputs, heads that block, output room and credits, in an own simulation: the same times."""

from __future__ import annotations

import collections
import heapq
import random

import pytest

from independent.world import at_times, goal, of, run

HOSTS = 16
SWITCH, CABLE, POST, NS_PER_BYTE, CREDIT = 100.0, 25.0, 550.0, 0.08, 8 * 0.08


class Switch:
    """Hosts send in order; inputs hold packets in order, of which the first waits for an output's room."""

    def __init__(self, messages, input_bytes, output_bytes, in_turn):
        self.messages, self.in_turn = messages, in_turn
        self.events, self.count, self.latency = [], 0, {}
        self.to_send = [collections.deque() for _ in range(HOSTS)]
        self.link_free = [0.0] * HOSTS
        self.input_room = [input_bytes] * HOSTS
        self.inputs = [collections.deque() for _ in range(HOSTS)]
        self.output_room = [output_bytes] * HOSTS
        self.outputs = [collections.deque() for _ in range(HOSTS)]
        self.output_free = [0.0] * HOSTS
        self.served = [HOSTS - 1] * HOSTS
        self.waiting = [[] for _ in range(HOSTS)]

    def at(self, time, *what):
        heapq.heappush(self.events, (round(time, 3), self.count, *what))
        self.count += 1

    def run(self):
        for number, (time, *_) in enumerate(self.messages):
            self.at(time + POST, "post", number)
        while self.events:
            now, _, what, *of = heapq.heappop(self.events)
            getattr(self, what)(now, *of)
        return self.latency

    def wire(self, number):
        return self.messages[number][3] + 26

    def post(self, now, number):
        host = self.messages[number][1]
        self.to_send[host].append(number)
        self.send(now, host)

    def send(self, now, host):
        if not self.to_send[host] or self.link_free[host] > now + 1e-9:
            return
        number = self.to_send[host][0]
        if self.input_room[host] < self.wire(number):
            return
        self.to_send[host].popleft()
        self.input_room[host] -= self.wire(number)
        self.link_free[host] = now + self.wire(number) * NS_PER_BYTE
        self.at(now + CABLE, "head", host, number, self.link_free[host] + CABLE)
        self.at(self.link_free[host], "send", host)

    def head(self, now, host, number, tail):
        self.inputs[host].append((number, tail))
        if len(self.inputs[host]) == 1:
            self.route(now, host)

    def route(self, now, host):
        if self.inputs[host]:
            to = self.messages[self.inputs[host][0][0]][2]
            self.waiting[to].append(host)
            self.admit(now, to)

    def admit(self, now, to):
        while self.waiting[to]:
            turn = lambda host: (host - self.served[to] - 1) % HOSTS  # noqa: E731
            host = min(self.waiting[to], key=turn) if self.in_turn else self.waiting[to][0]
            number, tail = self.inputs[host][0]
            wire = self.wire(number)
            if self.output_room[to] < wire:
                return
            self.waiting[to].remove(host)
            self.inputs[host].popleft()
            self.served[to] = host
            self.output_room[to] -= wire
            self.outputs[to].append((number, tail))
            self.at(max(now, tail) + CABLE + CREDIT, "credit", host, wire)
            self.deliver(now, to)
            self.route(now, host)

    def credit(self, now, host, wire):
        self.input_room[host] += wire
        self.send(now, host)

    def deliver(self, now, to):
        if not self.outputs[to] or self.output_free[to] > now + 1e-9:
            return
        number, tail = self.outputs[to].popleft()
        end = max(now + self.wire(number) * NS_PER_BYTE, tail)
        self.output_free[to] = end
        self.at(end, "delivered", to, self.wire(number))
        self.latency[number] = end + SWITCH + CABLE - self.messages[number][0]

    def delivered(self, now, to, wire):
        self.output_room[to] += wire
        self.deliver(now, to)
        self.admit(now, to)


@pytest.mark.parametrize(
    ("load", "hardware", "equal"),
    [
        (0.5, {}, 0.95),
        (0.7, {}, 0.6),
        (0.5, {"input_buffer_bytes": 8244, "host_output_buffer_bytes": 4122}, 0.6),
        (0.5, {"admission": "in-order"}, 0.9),
    ],
)
def test_heads_of_line_block_as_in_an_own_switch(tmp_path, load, hardware, equal):
    draw = random.Random(1)
    size = 4096
    gap = (size + 26) * NS_PER_BYTE / load
    messages = []
    for sender in range(HOSTS):
        time = 0.0
        for _ in range(120):
            time += 1 + draw.expovariate(1 / gap)
            receiver = (sender + draw.randrange(1, HOSTS)) % HOSTS
            messages.append((int(time), sender, receiver, size))
    messages.sort()
    keys = {"injection": "in-order", **hardware}
    scenario = of(f"xgft:m={HOSTS},w=1", goal(tmp_path, at_times(messages, HOSTS)), hardware=keys,
                  software={"call_ns": 0})  # fmt: skip
    _, found = run(scenario)
    own = Switch(
        messages,
        hardware.get("input_buffer_bytes", 65536),
        hardware.get("host_output_buffer_bytes", 8448),
        hardware.get("admission") != "in-order",
    ).run()
    pairs = [
        (found[sender, receiver, time, size], own[number])
        for number, (time, sender, receiver, size) in enumerate(messages)
    ]
    means = [sum(column) / len(pairs) for column in zip(*pairs, strict=True)]
    # (Packets that come at one moment are served in either order, and then the two differ for a while.)
    assert sum(abs(ours - theirs) < 0.5 for ours, theirs in pairs) > equal * len(pairs)
    assert means[0] == pytest.approx(means[1], rel=0.01)
