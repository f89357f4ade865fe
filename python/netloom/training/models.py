"""What one step of training a model sends: from the model's numbers and how it is cut to bytes.

    llm:llama3-70b,tp=8,pp=4,dp=32,seq=8192,batch=1024
    llm:hidden=4096,layers=32,ffn=14336,vocab=128256,heads=32,kv=8,gated=on,dp=16,seq=8192,batch=128

Ranks are Megatron's: tensor parallel first, then data, then pipeline; `gpus` of them are on a machine, each
with an adapter. Numbers of 2 bytes (bf16), a gradient of 4. All bytes of a step are one traffic: the sum of

- tensor parallel: rings over a group, of S = 2 b s h for a micro-batch of b sequences, a layer. With sequence
  parallel 2 all-gathers and 2 reduce-scatters forward, the same backward, and 2 all-gathers more for the
  gradients of weights; without it 2 all-reduces each way.
- pipeline parallel: S to the next stage forward and as much back, a micro-batch; with sequence parallel the
  ranks of a group share it.
- data parallel: a reduce-scatter of the gradients and an all-gather of the weights, rings over a group.
- expert parallel, within data parallel: all-to-all, to the experts and back, each way, of S times the experts
  a token has, shared by the tensor parallel group; every expert has as many tokens. Gradients of experts go
  round the ranks that have the same ones.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from netloom.errors import SpecError
from netloom.training.collective import MOST_PAIRS, MOST_RANKS, machines_of, whole_number

if TYPE_CHECKING:
    import numpy.typing as npt

    from netloom._core import Fabric, Traffic

WORD = "llm"
KINDS = ("tp", "pp", "dp", "ep")
_SHAPE = ("hidden", "layers", "ffn", "vocab", "heads", "kv", "gated", "experts", "active")
_CUT = ("tp", "pp", "dp", "ep", "seq", "batch", "micro", "sp", "gpus")
_MOST = 1 << 30
GPT_POSITIONS = 2048
NUMBER, GRADIENT = 2, 4
"""Bytes of an activation or a weight, and of a gradient that is summed."""


def named(spec: str) -> bool:
    """Whether a spec is about a step of training; a file is a file.

    Examples
    --------
    >>> named("llm:gpt-13b,dp=2,seq=1,batch=2"), named("llm.mtx")
    (True, False)
    """
    return spec.partition(":")[0] == WORD and not os.path.exists(spec)


@dataclass(frozen=True)
class Model:
    """A transformer's numbers.

    Parameters
    ----------
    hidden, layers, ffn, vocab, heads, kv : int
        Width, layers, width of the feed-forward part, tokens, heads, and heads with keys and values.
    gated : bool
        Whether the feed-forward part has three matrices, not two.
    experts, active : int
        Feed-forward parts of a layer, and how many a token goes through.
    gpt : bool
        Biases, learned positions, and one matrix for tokens in and out.
    """

    hidden: int
    layers: int
    ffn: int
    vocab: int
    heads: int
    kv: int
    gated: bool
    experts: int = 1
    active: int = 1
    gpt: bool = False

    @property
    def of_experts(self) -> int:
        """Parameters of all feed-forward parts."""
        return self.layers * self.experts * (3 if self.gated else 2) * self.hidden * self.ffn

    @property
    def parameters(self) -> int:
        """All of them: attention, feed-forward parts, what chooses experts, norms, tokens in and out.

        Those of GPT are 12 L h^2 (1 + 13 / (12 h) + (V + s) / (12 L h)), with s = 2,048 positions
        (Narayanan and others, SC 2021, equation 2).

        Examples
        --------
        >>> MODELS["gpt-13b"].parameters
        12858204160
        """
        h = self.hidden
        attention = 2 * h * h + 2 * h * h * self.kv // self.heads
        chooses = h * self.experts if self.experts > 1 else 0
        weights = self.layers * (attention + chooses) + self.of_experts
        if self.gpt:
            return weights + self.layers * 13 * h + (self.vocab + GPT_POSITIONS) * h
        return weights + self.layers * 2 * h + 2 * self.vocab * h + h


MODELS = {
    "gpt-13b": Model(5120, 40, 20480, 51200, 40, 40, False, gpt=True),
    "gpt-22b": Model(6144, 48, 24576, 51200, 64, 64, False, gpt=True),
    "gpt-175b": Model(12288, 96, 49152, 51200, 96, 96, False, gpt=True),
    "llama3-8b": Model(4096, 32, 14336, 128256, 32, 8, True),
    "llama3-70b": Model(8192, 80, 28672, 128256, 64, 8, True),
    "llama3-405b": Model(16384, 126, 53248, 128256, 128, 8, True),
    "mixtral-8x7b": Model(4096, 32, 14336, 32000, 32, 8, True, 8, 2),
}


@dataclass(frozen=True)
class Step:
    """A step of training.

    Parameters
    ----------
    model : Model
        What is trained.
    tp, pp, dp, ep : int
        Ranks of a tensor parallel group, stages, ranks with the same weights, and ranks that share experts.
    seq, batch, micro : int
        Tokens of a sequence, sequences of a step, and of a micro-batch.
    sp : bool
        Sequence parallel.
    gpus : int
        Ranks of a machine.
    """

    model: Model
    tp: int
    pp: int
    dp: int
    ep: int
    seq: int
    batch: int
    micro: int
    sp: bool
    gpus: int

    @classmethod
    def parse(cls, spec: str, fabric: Fabric | None = None) -> Step:
        """What a spec says; with a fabric, its machines have to fit.

        Raises
        ------
        SpecError
            For models that nobody knows, keys and values that it cannot have, and what does not divide.

        Examples
        --------
        >>> Step.parse("llm:llama3-8b,tp=8,dp=4,seq=8192,batch=64").micro_batches
        16
        """
        name, given = _words(spec)
        numbers = {key: _value(spec, key, text) for key, text in given.items()}
        if name:
            model = MODELS[name]
        else:
            lacks = [key for key in ("hidden", "layers", "ffn", "vocab", "heads") if key not in given]
            if lacks:
                known = ", ".join(MODELS)
                raise SpecError(f"{spec}: expected a model ({known}) or its numbers, {lacks[0]}= is missing")
            shape = {key: numbers[key] for key in _SHAPE if key in numbers}
            model = Model(**{"kv": numbers["heads"], "gated": False, **shape})
        for key, what in (("seq", "tokens of a sequence"), ("batch", "sequences of a step")):
            if key not in given:
                raise SpecError(f"{spec}: expected {key}=, {what}")
        gpus = numbers.get("gpus", machines_of(fabric, spec)[1] if fabric is not None else 8)
        cut = {key: numbers.get(key, 1) for key in ("tp", "pp", "dp", "ep", "micro")}
        step = cls(
            model, **cut, seq=numbers["seq"], batch=numbers["batch"], sp=numbers.get("sp", True), gpus=gpus
        )
        step._check(spec, fabric)
        return step

    def _check(self, spec: str, fabric: Fabric | None) -> None:
        model = self.model
        for what, whole, key, parts in (
            ("heads", model.heads, "tp", self.tp),
            ("heads with keys and values", model.heads, "kv", model.kv),
            ("width", model.hidden, "heads", model.heads),
            ("layers", model.layers, "pp", self.pp),
            ("width of the feed-forward part, ffn,", model.ffn, "tp", self.tp),
            ("tokens, vocab,", model.vocab, "tp", self.tp),
            ("experts", model.experts, "ep", self.ep),
            ("ranks with the same weights, dp,", self.dp, "ep", self.ep),
            ("sequences of a step", self.batch, "dp x micro", self.dp * self.micro),
        ):
            if whole % parts:
                raise SpecError(f"{spec}: expected {what} that {key} divides, found {whole:,} and {parts:,}")
        if model.active > model.experts:
            raise SpecError(f"{spec}: expected active at most experts, {model.experts}, found {model.active}")
        cut = f"tp x pp x dp, {self.tp} x {self.pp} x {self.dp} = {self.ranks:,}"
        if self.ranks > MOST_RANKS:
            raise SpecError(f"{spec}: expected at most {MOST_RANKS:,} ranks, found {cut}")
        if fabric is not None and self.ranks != fabric.hosts:
            raise SpecError(
                f"{spec}: expected as many ranks as the fabric has hosts, {fabric.hosts:,}, found {cut}"
            )

    @property
    def ranks(self) -> int:
        """How many in all."""
        return self.tp * self.pp * self.dp

    @property
    def micro_batches(self) -> int:
        """Of a step, that each stage computes."""
        return self.batch // (self.dp * self.micro)

    @property
    def parameters_of_rank(self) -> float:
        """Parameters of a rank, all stages and ranks alike."""
        experts = self.model.of_experts if self.ep > 1 else 0
        return (self.model.parameters - experts + experts / self.ep) / (self.tp * self.pp)

    @property
    def activations(self) -> int:
        """Bytes that go from layer to layer, of a micro-batch."""
        return NUMBER * self.micro * self.seq * self.model.hidden

    def flows(self) -> Iterator[tuple[str, npt.NDArray[Any], npt.NDArray[Any], float]]:
        """What ranks send in a step, by kind: who, to whom, and how many bytes each.

        Examples
        --------
        >>> step = Step.parse("llm:gpt-13b,dp=2,seq=2048,batch=2")
        >>> [(kind, to.tolist(), size) for kind, _, to, size in step.flows()]
        [('dp', [1, 0], 38574612480.0)]
        """
        import numpy as np

        rank = np.arange(self.ranks)
        t, d, p = rank % self.tp, rank // self.tp % self.dp, rank // (self.tp * self.dp)

        def at(tensor: Any, data: Any, pipe: Any) -> Any:
            return tensor + self.tp * (data + self.dp * pipe)

        layers, share = self.model.layers // self.pp, self.tp if self.sp else 1
        if self.tp > 1:
            times = (10 if self.sp else 8) * layers * self.micro_batches
            yield "tp", rank, at((t + 1) % self.tp, d, p), times * self.activations * (self.tp - 1) / self.tp
        for way in (1, -1) if self.pp > 1 else ():
            sends = (p + way >= 0) & (p + way < self.pp)
            size = self.micro_batches * self.activations / share
            yield "pp", rank[sends], at(t, d, p + way)[sends], size
        experts = self.model.of_experts / (self.ep * self.tp * self.pp) if self.ep > 1 else 0
        if self.dp > 1:
            size = (GRADIENT + NUMBER) * (self.parameters_of_rank - experts) * (self.dp - 1) / self.dp
            yield "dp", rank, at(t, (d + 1) % self.dp, p), size
        same = self.dp // self.ep
        if experts and same > 1:
            size = (GRADIENT + NUMBER) * experts * (same - 1) / same
            yield "dp", rank, at(t, (d + self.ep) % self.dp, p), size
        piece = 4 * layers * self.micro_batches * self.activations * self.model.active / self.tp / self.ep
        for peer in range(1, self.ep):
            yield "ep", rank, at(t, d // self.ep * self.ep + (d + peer) % self.ep, p), piece

    def sent(self) -> dict[str, dict[str, float]]:
        """Bytes by kind: the most that a rank sends, of it to other machines, and of all ranks to these."""
        import numpy as np

        every = {kind: np.zeros(self.ranks) for kind in KINDS}
        outside = {kind: np.zeros(self.ranks) for kind in KINDS}
        for kind, source, target, size in self.flows():
            leaves = source // self.gpus != target // self.gpus
            np.add.at(every[kind], source, size)
            np.add.at(outside[kind], source[leaves], size)
        return {
            kind: {
                "of_rank": float(every[kind].max()),
                "of_rank_outside": float(outside[kind].max()),
                "outside": float(outside[kind].sum()),
                "inside": float(every[kind].sum() - outside[kind].sum()),
            }
            for kind in KINDS
            if every[kind].any()
        }

    def traffic(self, fabric: Fabric | None = None) -> Traffic:
        """All that ranks of a step send to other machines, in whole bytes; over a fabric's hosts where given.

        Raises
        ------
        SpecError
            For more pairs than memory has room for, or more bytes than make sense.

        Examples
        --------
        >>> Step.parse("llm:llama3-8b,tp=8,dp=4,seq=8192,batch=64").traffic().pairs
        32
        """
        import numpy as np

        from netloom import _core

        pairs = self.ranks * (self.ep + 4)
        if pairs > MOST_PAIRS:
            raise SpecError(f"{WORD}: expected at most {MOST_PAIRS:,} pairs, found {pairs:,}")
        parts = [
            np.stack([source[leaves], target[leaves], np.full(leaves.sum(), size)])
            for _, source, target, size in self.flows()
            for leaves in [source // self.gpus != target // self.gpus]
        ]
        columns = np.concatenate([np.empty((3, 0)), *parts], axis=1)
        keys, where = np.unique(columns[0] * self.ranks + columns[1], return_inverse=True)
        sizes = np.rint(np.bincount(where, columns[2], len(keys)))
        if sizes.max(initial=0) >= 1 << 60:
            raise SpecError(
                f"{WORD}: expected less than 2^60 bytes from rank to rank, found {sizes.max():.3g}"
            )
        ends = self.ranks if fabric is None else fabric
        kept = sizes > 0
        source, target = (keys // self.ranks).astype(np.int64), (keys % self.ranks).astype(np.int64)
        return _core.Traffic.from_triples(ends, source[kept], target[kept], sizes[kept])


def _words(spec: str) -> tuple[str, dict[str, str]]:
    """The model's name, or none, and what is said by key."""
    name, given = "", {}
    for at, part in enumerate(spec.partition(":")[2].split(",")):
        key, equals, value = part.partition("=")
        if at == 0 and not equals and part:
            name = part
            if name not in MODELS:
                near = difflib.get_close_matches(name.lower(), MODELS, n=1, cutoff=0.3)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise SpecError(f'{spec}: expected a model ({", ".join(MODELS)}), found "{name}"{hint}')
            continue
        keys = _CUT if name else _SHAPE + _CUT
        if key not in keys or key in given or not equals:
            told = ", ".join(f"{key}=" for key in keys)
            raise SpecError(f'{spec}: expected {told}, each once, found "{part}"')
        given[key] = value
    return name, given


def _value(spec: str, key: str, value: str) -> Any:
    if key in ("gated", "sp"):
        if value not in ("on", "off"):
            raise SpecError(f'{spec}: {key}: expected on or off, found "{value}"')
        return value == "on"
    return whole_number(spec, key, value, 64 if key == "gpus" else MOST_RANKS if key in KINDS else _MOST)
