"""A second user who watches a project folder and exchanges what he sees leads no verb out of it.

Two real users where root is at hand (`two_users`). `NETLOOM_TRIALS` asks for more tries of each verb, at most
200 of each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import two_users

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to act as two users")
USUAL = ("simulate", "simulate again", "sample run", "record", "optimize", "loop run")
"""Verbs of `make test`: each way of writing once."""
MOST = 200


@as_root
@pytest.mark.parametrize("verb", two_users.VERBS)
def test_a_hostile_user_who_watches_damages_nothing(verb):
    """Not a file of the first user outside of the named folder is changed, moved, removed or read."""
    asked = os.environ.get("NETLOOM_TRIALS")
    if asked is None and verb not in USUAL:
        pytest.skip("in make hostile")
    tries = 3 if asked is None else min(int(asked), MOST)
    done = subprocess.run(
        [sys.executable, str(Path(two_users.__file__)), verb, str(tries), "1"],
        stdout=subprocess.PIPE,
        check=True,
        timeout=30 * tries + 60,
    )
    told = json.loads(done.stdout)
    print(told)
    assert told["damage"] == []
    assert told["acts"] > 0
