"""Notebooks: Ctrl-C ends a cell, or gives what was found by then; objects show themselves as tables."""

from __future__ import annotations

import json
import time
from pathlib import Path
from queue import Empty
from typing import Any

import pytest

import netloom as nl

ROOT = Path(__file__).parents[1]
PREPARED = """
import netloom as nl
fabric, _ = nl.Fabric.generate("fattree:pods=6,leaves=8,hosts=16,spines=7,groups=7,cores=3").damage(
    random_links=30, seed=1)
sent = nl.Traffic.read("random:partners=20,seed=1", fabric).perturbed(0.9, seed=1)
text = {"fabric": fabric, "routes": ["ftree"], "job": [
    {"name": "all", "program": {"kind": "all-to-all", "bytes": 1000000}}]}
scenario = nl.Scenario.from_dict(text)
counters = nl.synth_counters(fabric, "ftree", sent)
layers = [("a", sent, 1.0), ("b", sent.perturbed(0.9, seed=2), 3.0)]
def begun(done, total):
    import sys
    if begun.told: return
    begun.told = True
    print("begun"); sys.stdout.flush()
begun.told = False
def searching(done, total):
    if total > 10**6: begun(done, total)
"""
LONG = {
    "optimize": "nl.optimize(fabric, sent, work=10**12, depth=99, progress=begun{})",
    "optimize_lmc": "nl.optimize_lmc(fabric, sent, 2, work=10**12, progress=begun{})",
    "optimize_layers": "nl.optimize_layers(fabric, layers, work=10**12, depth=99, progress=begun{})",
    "optimize_hose": "nl.optimize_hose(fabric, nl.Hose.of(sent), work=10**12, progress=searching{})",
    "simulate": "nl.simulate(scenario, progress=begun{})",
}
"""Calls that take minutes unless something ends them; `progress` says that they have begun.
Before a search by a hose begins no worst load is known and there is nothing to return."""


class Notebook:
    """A real kernel, cell by cell."""

    def __init__(self, manager: Any, client: Any) -> None:
        self.manager = manager
        self.client = client

    def run(self, code: str, *, interrupt: bool = False) -> tuple[dict[str, Any], float]:
        """What a cell replies, and how many seconds after the interruption; this comes when it prints."""
        sent = self.client.execute(code, stop_on_error=False)
        if interrupt:
            deadline = time.monotonic() + 120
            while time.monotonic() < deadline:
                try:
                    message = self.client.get_iopub_msg(timeout=1)
                except Empty:
                    continue
                if message["parent_header"].get("msg_id") == sent and message["msg_type"] == "stream":
                    break
            self.manager.interrupt_kernel()
        began = time.monotonic()
        while True:
            reply = self.client.get_shell_msg(timeout=120)
            if reply["parent_header"]["msg_id"] == sent:
                return reply["content"], time.monotonic() - began

    def value(self, expression: str) -> Any:
        """What an expression of numbers and words is."""
        asked = self.client.execute(
            "import json", silent=True, user_expressions={"value": f"json.dumps({expression})"}
        )
        while True:
            reply = self.client.get_shell_msg(timeout=120)
            if reply["parent_header"]["msg_id"] == asked:
                told = reply["content"]["user_expressions"]["value"]
                assert told["status"] == "ok", told
                return json.loads(told["data"]["text/plain"][1:-1])


@pytest.fixture(scope="module")
def notebook():
    pytest.importorskip("ipykernel")
    manager_of = pytest.importorskip("jupyter_client")
    manager, client = manager_of.manager.start_new_kernel(kernel_name="python3", startup_timeout=120)
    try:
        told, _ = Notebook(manager, client).run(PREPARED)
        assert told["status"] == "ok", told
        yield Notebook(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("call", LONG)
def test_an_interruption_ends_a_cell(notebook, call):
    told, seconds = notebook.run("begun.told = False\n" + LONG[call].format(""), interrupt=True)
    assert (told["status"], told["ename"]) == ("error", "KeyboardInterrupt"), seconds
    assert notebook.value("1 + 1") == 2


@pytest.mark.parametrize("call", LONG)
def test_what_was_found_by_then_is_returned_where_that_is_asked_for(notebook, call):
    code = "begun.told = False\nfound = " + LONG[call].format(', on_interrupt="return"')
    told, seconds = notebook.run(code, interrupt=True)
    assert told["status"] == "ok", (told, seconds)
    assert "interrupted" in notebook.value("repr(found)")
    assert notebook.value("found.stopped") == "interrupted"
    if call != "simulate":
        assert notebook.value("found.proven_optimal") is False
        assert notebook.value("found.status") == "stopped: interrupted"
        assert notebook.value("nl.check(fabric, found.routes).ok") is True
    assert "interrupted" in notebook.value("found._repr_html_()")


def test_other_words_are_refused():
    fabric = nl.Fabric.generate("two-level:leaves=2,hosts=2,spines=1")
    with pytest.raises(nl.ArgumentError, match='on_interrupt: expected raise or return, found "keep"'):
        nl.optimize(fabric, nl.Traffic.read("shift:1", fabric), on_interrupt="keep")  # type: ignore[arg-type]
