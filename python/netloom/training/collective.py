"""Collectives as NCCL does them: what a spec says, and how many bytes go from whom to whom.

    nccl-ring:machines=8,gpus=8,bytes=1GiB
    nccl-tree:machines=8,gpus=8,bytes=1GiB
    nccl-pairs:machines=8,gpus=8,bytes=64MiB,pxn=on

Rank `gpus m + g` is GPU *g* of machine *m*, and adapter *g* is its own. `bytes` are the collective's as
nccl-tests counts them: the whole buffer of a rank. What ranks of one machine send each other stays inside.

- `nccl-ring`: channel *c* enters and leaves every machine by adapter *c* mod `gpus`, so it stays on its rail;
  a channel has an equal part of the bytes, and cuts it into a piece a rank.
- `nccl-tree`: two trees over machines (`trees`) a channel, half of its bytes each, on the same adapters.
- `nccl-pairs`: a piece from every rank to every other; with PXN they go to the GPU on the receiver's rail
  first, inside the machine, and leave it from there.

Sizes are whole bytes: piece *k* of *n* is what lies between k S/n and (k + 1) S/n, rounded down.
Sources: NVIDIA/nccl, `src/graph`, `src/device`; nccl-tests, `doc/PERFORMANCE.md`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom.errors import SpecError
from netloom.training.trees import trees

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import Fabric, Traffic

ALGORITHMS = {
    "nccl-ring": ("all-reduce", "reduce-scatter", "all-gather"),
    "nccl-tree": ("all-reduce",),
    "nccl-pairs": ("all-to-all",),
}
"""Which collectives each does; the first unless said."""
_KEYS = {
    "nccl-ring": ("ranks", "machines", "gpus", "bytes", "collective", "channels"),
    "nccl-tree": ("ranks", "machines", "gpus", "bytes", "collective", "channels", "chunk"),
    "nccl-pairs": ("ranks", "machines", "gpus", "bytes", "collective", "pxn"),
}
_UNITS = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
MOST_BYTES = 1 << 44
MOST_RANKS = 1 << 20
MOST_PAIRS = 20_000_000
"""Most pairs of ranks of one traffic: beyond, memory would be gigabytes."""


def named(spec: str) -> bool:
    """Whether a spec is about one of these, or means one that there is not; a file is a file.

    Examples
    --------
    >>> named("nccl-ring:ranks=4"), named("ring:ranks=4"), named("nccl-rings:ranks=4")
    (True, False, True)
    """
    word = spec.partition(":")[0]
    return word in ALGORITHMS or (word.startswith("nccl-") and not os.path.exists(spec))


@dataclass(frozen=True)
class Collective:
    """A collective of all ranks of some machines.

    Parameters
    ----------
    algorithm : str
        `nccl-ring`, `nccl-tree` or `nccl-pairs`.
    machines, gpus : int
        How many, and how many a machine has: each with a rank and an adapter of its own.
    bytes : int
        The whole buffer of a rank.
    collective : str
        What is done.
    channels : int
        Rings, or pairs of trees.
    chunk : int
        Largest message of a tree.
    pxn : bool
        Whether pieces change rails inside the machine that sends.
    """

    algorithm: str
    machines: int
    gpus: int
    bytes: int
    collective: str
    channels: int
    chunk: int = 512 << 10
    pxn: bool = False

    @classmethod
    def parse(cls, spec: str, fabric: Fabric | None = None) -> Collective:
        """What a spec says; machines and GPUs that it leaves out are the fabric's, with its adapters.

        Raises
        ------
        SpecError
            For keys and values that it cannot have, and machines that the fabric has not.

        Examples
        --------
        >>> Collective.parse("nccl-ring:machines=4,gpus=2,bytes=1MiB").channels
        2
        """
        word, colon, rest = spec.partition(":")
        if word not in ALGORITHMS:
            raise SpecError(f'{spec}: expected one of {", ".join(ALGORITHMS)}, found "{word}"')
        given: dict[str, str] = {}
        for part in rest.split(",") if colon else []:
            key, equals, value = part.partition("=")
            if key not in _KEYS[word] or key in given or not equals:
                keys = ", ".join(f"{key}=" for key in _KEYS[word])
                raise SpecError(f'{spec}: expected {keys}, each once, found "{part}"')
            given[key] = value
        if "ranks" in given and ("machines" in given or "gpus" in given):
            raise SpecError(f"{spec}: expected ranks=, one a machine, or machines= and gpus=, found both")
        if "ranks" in given:
            machines, gpus = whole_number(spec, "ranks", given["ranks"], MOST_RANKS), 1
        elif "machines" in given:
            machines = whole_number(spec, "machines", given["machines"], MOST_RANKS)
            gpus = whole_number(spec, "gpus", given.get("gpus", "1"), 64)
        elif fabric is not None and "gpus" not in given:
            machines, gpus = machines_of(fabric, spec)
        else:
            raise SpecError(f"{spec}: expected ranks=N, or machines=M and gpus=G, or a fabric that has them")
        if machines * gpus > MOST_RANKS:
            raise SpecError(f"{spec}: expected at most {MOST_RANKS:,} ranks, found {machines * gpus:,}")
        if fabric is not None and machines * gpus != fabric.hosts:
            raise SpecError(
                f"{spec}: expected as many ranks as the fabric has hosts, {fabric.hosts:,}, "
                f"found {machines * gpus:,}"
            )
        if "bytes" not in given:
            raise SpecError(f"{spec}: expected bytes=, the whole buffer of a rank, such as bytes=1GiB")
        kind = given.get("collective", ALGORITHMS[word][0])
        if kind not in ALGORITHMS[word]:
            raise SpecError(f'{spec}: collective: expected {" or ".join(ALGORITHMS[word])}, found "{kind}"')
        pxn = given.get("pxn", "off")
        if pxn not in ("on", "off"):
            raise SpecError(f'{spec}: pxn: expected on or off, found "{pxn}"')
        return cls(
            word,
            machines,
            gpus,
            _size(spec, "bytes", given["bytes"]),
            kind,
            whole_number(spec, "channels", given.get("channels", str(gpus)), 64),
            _size(spec, "chunk", given.get("chunk", "512KiB")),
            pxn == "on",
        )

    @property
    def ranks(self) -> int:
        """How many in all."""
        return self.machines * self.gpus

    @property
    def steps(self) -> int:
        """Steps of a ring."""
        return (2 if self.collective == "all-reduce" else 1) * (self.ranks - 1)

    def adapter(self, machine: int, channel: int) -> int:
        """The rank whose adapter a channel uses on a machine."""
        return machine % self.machines * self.gpus + channel % self.gpus

    def flows(self) -> Iterator[tuple[int, int, int]]:
        """Bytes from adapter to adapter of other machines, by their ranks; a pair may come again.

        Examples
        --------
        >>> list(Collective.parse("nccl-ring:ranks=3,bytes=300").flows())
        [(0, 1, 400), (1, 2, 400), (2, 0, 400)]
        """
        if self.machines == 1:
            return
        if self.algorithm == "nccl-pairs":
            yield from self._pairs()
            return
        both = trees(self.machines) if self.algorithm == "nccl-tree" else ()
        for channel in range(self.channels):
            whole = part(channel, self.channels, self.bytes)
            for machine in range(self.machines):
                here = self.adapter(machine, channel)
                if not both:
                    last = machine * self.gpus + self.gpus - 1
                    yield here, self.adapter(machine + 1, channel), self._sent(last, whole)
                for tree, places in enumerate(both):
                    half, place = part(tree, 2, whole), places[machine]
                    ends = place.children if place.parent is None else (place.parent, *place.children)
                    yield from ((here, self.adapter(end, channel), half) for end in ends)

    def _sent(self, rank: int, whole: int) -> int:
        """What a rank of a ring sends on: every piece once or twice, but for those that end with it."""
        rounds = 2 if self.collective == "all-reduce" else 1
        left = (part((rank + 1 + back) % self.ranks, self.ranks, whole) for back in range(rounds))
        return rounds * whole - sum(left)

    def _pairs(self) -> Iterator[tuple[int, int, int]]:
        for rank in range(self.ranks):
            gpu = rank % self.gpus
            for step in range(self.gpus, self.ranks):
                to = (rank - gpu + step) % self.ranks
                size = part(to, self.ranks, self.bytes)
                if not self.pxn:
                    yield rank, to, size
                elif to % self.gpus == gpu:
                    yield rank, to, self.gpus * size

    def _pair_columns(self) -> npt.NDArray[Any]:
        """The flows of `_pairs` as columns, of millions of pairs at once."""
        import numpy as np

        ranks, gpus = np.arange(self.ranks), self.gpus
        if self.pxn:
            machines = np.arange(self.machines)
            source = np.repeat(ranks, self.machines)
            target = (machines[None, :] * gpus + ranks[:, None] % gpus).reshape(-1)
        else:
            source, target = np.repeat(ranks, self.ranks), np.tile(ranks, self.ranks)
        leaves = source // gpus != target // gpus
        pieces = np.array([part(rank, self.ranks, self.bytes) for rank in range(self.ranks)])
        sizes = pieces[target] * (gpus if self.pxn else 1)
        return np.stack([source, target, sizes])[:, leaves]

    @property
    def pairs(self) -> int:
        """At most so many flows."""
        if self.algorithm == "nccl-pairs":
            return self.ranks * (self.machines - 1) * (1 if self.pxn else self.gpus)
        return self.machines * self.channels * (1 if self.algorithm == "nccl-ring" else 4)

    @property
    def inside(self) -> int:
        """Bytes that GPUs of one machine send each other, over all machines."""
        within = self.gpus - 1
        if self.algorithm == "nccl-pairs":
            return within * self.bytes * (self.machines if self.pxn else 1)
        if self.algorithm == "nccl-tree":
            return 2 * self.machines * within * self.bytes
        # What every rank sends on, less what leaves a machine.
        return self.steps * self.bytes - sum(size for _, _, size in self.flows())

    def traffic(self, fabric: Fabric | None = None) -> Traffic:
        """All that it sends between machines, at once; over a fabric's hosts where one is given.

        Raises
        ------
        SpecError
            For more pairs than memory has room for.

        Examples
        --------
        >>> Collective.parse("nccl-ring:machines=4,gpus=2,bytes=8000").traffic().pairs
        8
        """
        import numpy as np

        from netloom import _core

        if self.pairs > MOST_PAIRS:
            raise SpecError(f"{self.algorithm}: expected at most {MOST_PAIRS:,} pairs, found {self.pairs:,}")
        if self.algorithm == "nccl-pairs" and self.machines > 1:
            columns = self._pair_columns()
        else:
            columns = np.array(list(self.flows()), dtype=np.int64).reshape(-1, 3).T
        columns = columns[:, columns[2] > 0]
        ends = self.ranks if fabric is None else fabric
        return _core.Traffic.from_triples(ends, columns[0], columns[1], columns[2].astype(float))


def part(index: int, parts: int, whole: int) -> int:
    """Whole bytes of one of equal parts.

    Examples
    --------
    >>> [part(index, 3, 10) for index in range(3)]
    [3, 3, 4]
    """
    return (index + 1) * whole // parts - index * whole // parts


def order_of_peers(machines: int) -> list[int]:
    """How many machines on the peers of all-to-all are, in NCCL's order: (x² + x)/2 modulo a power of two.

    Examples
    --------
    >>> order_of_peers(6)
    [0, 1, 3, 2, 5, 4]
    """
    power = 1 << (machines - 1).bit_length()
    every = ((x * x + x) // 2 % power for x in range(power))
    return [delta for delta in every if delta < machines]


def machines_of(fabric: Fabric, spec: str) -> tuple[int, int]:
    """Machines of a fabric, and adapters that each has.

    Raises
    ------
    SpecError
        If machines differ in the number of theirs, or hosts are not in their order.
    """
    names = fabric.host_table()["machine"]
    each = [sum(1 for _ in group) for group in _runs(names)]
    if len(set(each)) != 1 or len(each) != len(set(names)):
        raise SpecError(f"{spec}: expected machines=M and gpus=G: machines of this fabric differ in adapters")
    return len(each), each[0]


def _runs(names: list[str]) -> Iterator[Iterator[str]]:
    from itertools import groupby

    return (group for _, group in groupby(names))


def whole_number(spec: str, key: str, value: str, most: int) -> int:
    """A key's value.

    Raises
    ------
    SpecError
        For what is no whole number from 1 to `most`.
    """
    if not (value.isascii() and value.isdigit() and 1 <= int(value[:12]) <= most):
        raise SpecError(f'{spec}: {key}: expected a whole number, 1 to {most:,}, found "{value}"')
    return int(value)


def _size(spec: str, key: str, value: str) -> int:
    found = re.fullmatch(r"([0-9]{1,14})([A-Za-z]*)", value, re.ASCII)
    if found is None or found[2] not in _UNITS or not 1 <= int(found[1]) * _UNITS[found[2]] <= MOST_BYTES:
        raise SpecError(f'{spec}: {key}: expected bytes, 1 to 16TiB, such as 64KiB or 1GB, found "{value}"')
    return int(found[1]) * _UNITS[found[2]]
