"""Scenes with one known culprit and one known link, for `netloom noise`.

A tree of two levels whose tables keep jobs on cables that are known beforehand. A victim sends there and back
between two leaves. The culprit sends one way and shares its way up (both start at one leaf) or its way down
(both end at one). Three innocent jobs cross none of their links. What is shared is asked of the tables, not
of the simulator. Seeds are older than what was measured with them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import netloom as nl

SEED = 20_261_127
COUNT = 40


@dataclass(frozen=True)
class Scene:
    """A scenario, and the one link that victim and culprit share: both ends, by name."""

    text: str
    link: tuple[str, str]


def scene(number: int) -> Scene:
    """One of the scenes: sizes, hosts, programs and the order of jobs are drawn."""
    rng = random.Random(SEED + number)
    while True:
        leaves, hosts = rng.randint(4, 6), rng.randint(4, 6)
        spec = f"two-level:leaves={leaves},hosts={hosts},spines={rng.randint(1, hosts)}"
        fabric = nl.Fabric.generate(spec)
        routes = nl.route("ftree", fabric)
        free = [rng.sample(range(leaf * hosts, (leaf + 1) * hosts), hosts) for leaf in range(leaves)]
        one, two, three, four = rng.sample(range(leaves), 4)
        victim = (free[one].pop(), free[two].pop())
        from_leaf, to_leaf = (one, three) if rng.random() < 0.5 else (three, two)
        culprit = (free[from_leaf].pop(), free[to_leaf].pop())
        innocents = [(free[leaf].pop(), free[leaf].pop()) for leaf in (one, three)]
        innocents.append((free[four].pop(), free[three].pop()))

        def links(*pairs: tuple[int, int], routes: nl.Routes = routes) -> set[int]:
            return {link for pair in pairs for way in (pair, pair[::-1]) for link in routes.path(*way)}

        shared = links(victim) & set(routes.path(*culprit))
        if len(shared) == 1 and not links(*innocents) & links(victim, culprit):
            break
    names = [*fabric.host_names, *fabric.switch_names]
    table = fabric.link_table()
    [link] = shared
    ends = names[int(table["source"][link])], names[int(table["target"][link])]
    return Scene(_text(rng, spec, fabric.host_names, victim, culprit, innocents), ends)


def _text(
    rng: random.Random,
    spec: str,
    names: list[str],
    victim: tuple[int, int],
    culprit: tuple[int, int],
    innocents: list[tuple[int, int]],
) -> str:
    # Ranks are on hosts in order of these: everybody sends to the root.
    root = sorted(culprit).index(culprit[1])
    jobs = [
        ("victim", victim, f'kind = "ping-pong", bytes = "{rng.choice([8, 16, 64])}KiB", iterations = 12'),
        ("culprit", culprit, f'kind = "incast", root = {root}, bytes = "256KiB", messages = 20'),
        *(
            (
                f"innocent{at}",
                hosts,
                f'kind = "pairs", bytes = "{rng.choice([64, 512])}KiB", messages = 10',
            )
            for at, hosts in enumerate(innocents)
        ),
    ]
    rng.shuffle(jobs)
    parts = [f'fabric = "{spec}"\nroutes = ["ftree"]']
    for name, hosts, program in jobs:
        on = ", ".join(f'"{names[host]}"' for host in sorted(hosts))
        until = "" if name == "victim" else '\nuntil = "victim"'
        parts.append(f'[[job]]\nname = "{name}"\nhosts = [{on}]\nprogram = {{ {program} }}{until}')
    return "\n".join(parts) + "\n"
