"""Made-up pods, whole or with one fault, as `ibnetdiscover` prints them: rails, storage leaves, odd spines.

Ten kinds are whole, each irregular in another way; two adapters that have each other's place, or an uplink
that is not there, are the faults. Everything follows from the seed.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field

WHOLE = (
    *("rails", "storage leaf", "thin spine", "uneven bundles", "login nodes", "no rails", "anywhere"),
    *("units wired otherwise", "three levels", "thin leaf"),
)
FAULTS = ("adapters swapped", "uplink missing")


@dataclass
class Pod:
    """Cables between nodes by name."""

    cables: list[tuple[str, str]] = field(default_factory=list)
    told: tuple[str, ...] = ()
    """What a finding of the fault must name."""

    def join(self, one: str, other: str, times: int = 1) -> None:
        """Some cables between two nodes."""
        self.cables += [(one, other)] * times

    def dump(self) -> bytes:
        """As `ibnetdiscover` prints it; what has a cable of its own below it is a switch."""
        names = list(dict.fromkeys(name for cable in self.cables for name in cable))
        guid = {name: 0x0002C90300000000 + 0x1000 * at for at, name in enumerate(names, 1)}
        hosts = {name for name in names if " " in name}
        ports: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for one, other in self.cables:
            ports[one].append((other, len(ports[other]) + 1))
            ports[other].append((one, len(ports[one])))

        def end(name: str, port: int) -> str:
            word = "H" if name in hosts else "S"
            own = f"({guid[name] + 1:016x})" if name in hosts else ""
            return f'"{word}-{guid[name]:016x}"[{port}]{own}'

        lines = []
        for name in names:
            kind, word = ("Ca", "ca") if name in hosts else ("Switch", "switch")
            radix = len(ports[name])
            head = f'"{"H" if name in hosts else "S"}-{guid[name]:016x}"\t# "{name}"'
            lines.append(f"\nvendid=0x2c9\n{word}guid=0x{guid[name]:x}({guid[name]:x})")
            more = "" if name in hosts else f" enhanced port 0 lid {names.index(name) + 1} lmc 0"
            lines.append(f"{kind}\t{radix} {head}{more}")
            for port, (far, far_port) in enumerate(ports[name], 1):
                own = f"({guid[name] + 1:x})" if name in hosts else ""
                lid = f'lid {names.index(name) + 1} lmc 0 # "{far}" ' if name in hosts else f'# "{far}" '
                lines.append(
                    f"[{port}]{own}\t{end(far, far_port)}\t# {lid.removeprefix('# ')}lid "
                    f"{names.index(far) + 1} 4xNDR"
                )
        return ("\n".join(lines) + "\n").encode()


def pod(seed: int, kind: str) -> Pod:
    """A whole pod of a kind, or one with a fault."""
    rng = random.Random(f"{seed} {kind}")
    fault = kind if kind in FAULTS else None
    if fault is not None:
        fits = ("rails", "storage leaf", "login nodes", "units wired otherwise")
        kind = rng.choice(fits if fault == "adapters swapped" else (*fits, "thin spine", "three levels"))
    made = _three_levels(rng) if kind == "three levels" else _rails(rng, kind)
    if fault == "adapters swapped":
        _swap(rng, made)
    elif fault == "uplink missing":
        low = {one for one, _ in made.cables if one.startswith("leaf")}
        cable = rng.choice(
            [cable for cable in made.cables if cable[0] in low and cable[1].startswith("spine")]
        )
        made.cables.remove(cable)
        made.told = cable
    return made


def _swap(rng: random.Random, made: Pod) -> None:
    at = {one: (place, other) for place, (one, other) in enumerate(made.cables) if " mlx5_" in one}
    machines = sorted({one.split()[0] for one in at if one.startswith("m")})
    rng.shuffle(machines)
    machine = next(one for one in machines if f"{one} mlx5_1" in at)
    own = sorted(one for one in at if one.split()[0] == machine and "mlx5_9" not in one)
    one, other = rng.sample(own, 2)
    (place, leaf), (far_place, far) = at[one], at[other]
    made.cables[place], made.cables[far_place] = (one, far), (other, leaf)
    made.told = machine, one.split()[1], other.split()[1], leaf, far


def _rails(rng: random.Random, kind: str) -> Pod:
    made = Pod()
    units, rails, machines = rng.randint(1, 3), rng.choice((2, 4, 8)), rng.randint(6, 16)
    units = max(units, 2 if rails == 2 or kind == "units wired otherwise" else 1)
    spines, times = rng.randint(2, 6), rng.randint(1, 4)
    leaves = []
    for unit in range(units):
        own = [f"leaf{unit}-{rail}" for rail in range(rails)]
        leaves += own
        turned = kind == "units wired otherwise" and unit == 1
        for number in range(machines):
            few = kind == "login nodes" and number >= machines - 2
            for rail in range(1 if few else rails):
                to = rails - 1 - rail if turned else rail
                if kind == "no rails":
                    to = number % rails
                elif kind == "anywhere":
                    to = rng.randrange(rails)
                made.join(f"m{unit}{number:02} mlx5_{rail}", own[to])
            if kind == "storage leaf":
                made.join(f"m{unit}{number:02} mlx5_9", "leafs")
    thin, thin_leaf = f"spine{rng.randrange(spines)}", rng.choice(leaves)
    for at, leaf in enumerate(leaves):
        # As many cables as divide unevenly, the longer bundles elsewhere for each leaf.
        more = rng.randint(1, spines - 1)
        for number in range(spines):
            count = times
            thinner = (kind, f"spine{number}") == ("thin spine", thin)
            thinner |= (kind, leaf) == ("thin leaf", thin_leaf)
            if kind == "uneven bundles":
                count += (number + at) % spines < more
            elif kind in ("thin spine", "thin leaf") and not thinner:
                count += 1
            made.join(leaf, f"spine{number}", count)
    if kind == "storage leaf":
        for number in range(rng.randint(2, 4)):
            made.join(f"oss{number} mlx5_0", "leafs")
        for number in range(spines):
            made.join("leafs", f"spine{number}", max(1, times - 1))
    return made


def _three_levels(rng: random.Random) -> Pod:
    made = Pod()
    pods, leaves, hosts = rng.randint(2, 4), rng.randint(3, 6), rng.randint(2, 6)
    spines, cores, times = rng.randint(2, 4), rng.randint(2, 4), rng.randint(1, 2)
    for number in range(pods):
        for leaf in range(leaves):
            for host in range(hosts):
                made.join(f"n{number}{leaf}{host:02} mlx5_0", f"leaf{number}-{leaf}")
            for spine in range(spines):
                made.join(f"leaf{number}-{leaf}", f"spine{number}-{spine}", times)
        for spine in range(spines):
            for core in range(cores):
                made.join(f"spine{number}-{spine}", f"core{spine}-{core}")
    return made
