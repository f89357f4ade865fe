"""Steps of training as bytes: parameters, what each kind of parallelism sends, by hand."""

from __future__ import annotations

import numpy as np
import pytest

import netloom as nl
from netloom.training.models import MODELS, Step


@pytest.mark.parametrize(
    ("name", "billion"),
    [
        ("gpt-22b", 22.07),
        ("gpt-175b", 174.6),
        ("llama3-70b", 70.55),
        ("llama3-405b", 405.85),
        ("mixtral-8x7b", 46.70),
    ],
)
def test_parameters_are_as_published(name, billion):
    assert MODELS[name].parameters / 1e9 == pytest.approx(billion, rel=0.001)


@pytest.mark.parametrize(("name", "twice"), [("gpt-13b", 13.11), ("gpt-175b", 175.2)])
def test_gpt_shares_one_matrix_for_tokens_in_and_out(name, twice):
    # Narayanan and others, SC 2021, equation 2; other tables count the matrix of tokens twice.
    model = MODELS[name]
    h, l, v = model.hidden, model.layers, model.vocab  # noqa: E741
    assert model.parameters == round(12 * l * h**2 * (1 + 13 / (12 * h) + (v + 2048) / (12 * l * h)))
    assert (model.parameters + v * h) / 1e9 == pytest.approx(twice, rel=0.002)


@pytest.mark.parametrize(
    ("spec", "data", "pipeline"),
    [
        ("llm:gpt-13b,tp=8,dp=16,seq=2048,batch=256", 6 * 12.858 / 8 * 15 / 16, 0),
        ("llm:gpt-175b,tp=8,pp=8,dp=16,seq=2048,batch=1536", 15.4, 1.21),
        ("llm:llama3-70b,tp=8,pp=4,dp=32,seq=8192,batch=1024", 12.8, 1.07),
        ("llm:llama3-405b,tp=8,pp=14,dp=128,seq=8192,batch=2048", None, 1.07),
    ],
)
def test_a_gpu_sends_what_was_worked_out(spec, data, pipeline):
    sent = Step.parse(spec).sent()
    if data is not None:
        assert sent["dp"]["of_rank_outside"] / 1e9 == pytest.approx(data, rel=0.005)
    assert sent.get("pp", {"of_rank_outside": 0})["of_rank_outside"] / 1e9 == pytest.approx(
        pipeline, abs=0.005
    )
    assert sent["tp"]["outside"] == 0, "a tensor parallel group has a machine"


SMALL = "hidden=8,layers=4,ffn=16,vocab=10,heads=4"


def test_a_small_step_by_hand():
    # Attention 4 x 64 and feed-forward 2 x 8 x 16 weights, norms 16, a layer: 528; tokens 160, last norm 8.
    step = Step.parse(f"llm:{SMALL},tp=2,pp=2,dp=2,seq=6,batch=4,gpus=1")
    assert step.model.parameters == 4 * 528 + 168 == 2280
    assert step.parameters_of_rank == 570
    assert step.micro_batches == 2
    # S = 2 B x 6 x 8 = 96 B. Two layers a stage, two micro-batches: 10 halves of S each; half of S to the
    # next stage; 6 B of 570 parameters, half of them.
    sent = step.sent()
    assert sent["tp"]["of_rank"] == 2 * 2 * 10 * 48
    assert sent["pp"]["of_rank"] == 2 * 48
    assert sent["dp"]["of_rank"] == 6 * 570 / 2
    # Rank = tensor + 2 (data + 2 pipeline).
    expected = np.zeros((8, 8))
    for rank in range(8):
        expected[rank, rank ^ 1] += 1920
        expected[rank, rank ^ 2] += 1710
        expected[rank, rank ^ 4] += 96
    assert np.array_equal(step.traffic().to_scipy().toarray(), expected)
    # All-reduces send 4 times the whole S there and back; the stages get all of S from each.
    apart = Step.parse(f"llm:{SMALL},tp=2,pp=2,dp=2,seq=6,batch=4,gpus=1,sp=off").sent()
    assert apart["tp"]["of_rank"] == 2 * 2 * 4 * 96
    assert apart["pp"]["of_rank"] == 2 * 96


@pytest.mark.parametrize(
    ("shape", "told"),
    [
        # 12 L h^2 + 2 L h + 2 V h + h, on two ranks.
        ("hidden=8,layers=4,ffn=32,vocab=10,heads=4", "parameters  3,304, 1,652 of a rank"),
        (
            "hidden=512,layers=1,ffn=2048,vocab=1000,heads=4",
            "parameters  4.17 million, 2.09 million of a rank",
        ),
        (
            "hidden=4096,layers=8,ffn=16384,vocab=1000,heads=4",
            "parameters  1.62 billion, 809.44 million of a rank",
        ),
    ],
)
def test_small_models_are_not_no_billion(netloom, shape, told):
    assert told in netloom.ok("traffic", "new", f"llm:{shape},tp=2,dp=2,seq=6,batch=4,gpus=2")


def test_experts_by_hand():
    # Four experts on two ranks each of a group, dp = 4: ranks 0 and 1, 2 and 3 exchange tokens.
    step = Step.parse(f"llm:{SMALL},experts=4,active=2,dp=4,ep=2,seq=6,batch=4,gpus=1")
    experts = 4 * 4 * 2 * 8 * 16
    assert step.model.parameters == 4 * (256 + 32 + 16) + experts + 168
    assert step.parameters_of_rank == step.model.parameters - experts / 2
    sent = step.sent()
    # To the experts and back, forward and backward, four layers: S = 96 B for each of two experts, half away.
    assert sent["ep"]["of_rank"] == 4 * 4 * 96 * 2 / 2
    dense = step.model.parameters - experts
    assert sent["dp"]["of_rank"] == 6 * dense * 3 / 4 + 6 * (experts / 2) / 2
    matrix = step.traffic().to_scipy().toarray()
    assert matrix[0, 1] == 1536 + round(6 * dense * 3 / 4)
    assert matrix[1, 0] == 1536
    # Ranks 0 and 2 have the same experts.
    assert matrix[0, 2] == matrix[2, 0] == 6 * (experts / 2) / 2
    # A layer of the issue's: 64 ranks, width 7,168, 4,096 tokens, 8 experts each, 56 of 64 pieces leave.
    wide = "hidden=7168,layers=1,ffn=2048,vocab=10,heads=64,experts=64,active=8"
    layer = Step.parse(f"llm:{wide},dp=64,ep=64,seq=4096,batch=64").sent()["ep"]
    assert layer["of_rank_outside"] / 4 / 50e9 * 1e3 == pytest.approx(8.2, abs=0.05)


def test_machines_keep_what_is_theirs_and_fabrics_say_how_large_they_are(netloom):
    spec = "llm:llama3-8b,tp=2,dp=8,seq=128,batch=8"
    fabric = "rail:units=1,machines=4,rails=4,radix=8"
    net = nl.Fabric.generate(fabric)
    step = Step.parse(spec, net)
    assert step.gpus == 4
    machine = np.arange(16) // 4
    source, target = step.traffic(net).to_scipy().nonzero()
    assert (machine[source] != machine[target]).all()
    result = netloom.result("traffic", "new", spec, fabric)
    sent = result["model"]["sent"]
    assert result["total_bytes"] == pytest.approx(sum(kind["outside"] for kind in sent.values()), rel=1e-6)
    assert result["inside_machines"] == pytest.approx(sum(kind["inside"] for kind in sent.values()))
    loads = netloom.result("loads", fabric, "ftree", spec)
    # Two of four data parallel ranks of a machine are the last of their ring there.
    assert loads["max_load"] == round(6 * step.parameters_of_rank * 7 / 8)
    assert "data" in netloom.ok("traffic", "new", spec, fabric)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("llm:lama3-70b,seq=1,batch=1", "did you mean llama3-70b?"),
        ("llm:gpt-13b,batch=1", "expected seq=, tokens of a sequence"),
        ("llm:gpt-13b,seq=1,batch=1,tp=3", "expected heads that tp divides, found 40 and 3"),
        (
            "llm:hidden=8,layers=1,ffn=15,vocab=10,heads=2,tp=2,seq=1,batch=1",
            "expected width of the feed-forward part, ffn, that tp divides, found 15 and 2",
        ),
        (
            "llm:hidden=8,layers=1,ffn=16,vocab=999,heads=2,tp=2,seq=1,batch=1",
            "expected tokens, vocab, that tp divides, found 999 and 2",
        ),
        ("llm:gpt-13b,seq=1,batch=1,pp=3", "expected layers that pp divides, found 40 and 3"),
        ("llm:mixtral-8x7b,seq=1,batch=9,dp=9,ep=3", "expected experts that ep divides, found 8 and 3"),
        ("llm:mixtral-8x7b,seq=1,batch=3,dp=3,ep=2", "dp, that ep divides, found 3 and 2"),
        (
            "llm:gpt-13b,seq=1,batch=3,dp=2",
            "expected sequences of a step that dp x micro divides, found 3 and 2",
        ),
        ("llm:gpt-13b,seq=1,batch=1,hidden=4", 'each once, found "hidden=4"'),
        ("llm:hidden=8,seq=1,batch=1", "layers= is missing"),
        ("llm:gpt-13b,seq=1,batch=1,tp=0", 'tp: expected a whole number, 1 to 1,048,576, found "0"'),
        ("llm:gpt-13b,seq=1,batch=1,sp=yes", 'sp: expected on or off, found "yes"'),
        (
            "llm:hidden=1073741824,layers=1073741824,ffn=9,vocab=1,heads=1,dp=2,seq=1,batch=2,gpus=1",
            "expected less than 2^60 bytes from rank to rank",
        ),
        ("llm:", 'each once, found ""'),
    ],
)
def test_bad_steps_are_refused(netloom, spec, told):
    assert told in netloom.refused("traffic", "new", spec)


def test_ranks_that_are_not_the_hosts_are_refused(netloom, paths):
    line = netloom.refused("traffic", "new", "llm:gpt-13b,tp=8,dp=2,seq=1,batch=2", paths.small)
    assert "found tp x pp x dp, 8 x 1 x 2 = 16" in line
