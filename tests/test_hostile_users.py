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
USUAL = ("simulate", "simulate again", "record", "route", "infer")
"""Verbs of `make test`: each way of writing once."""
MOST = 200


ASKED = os.environ.get("NETLOOM_TRIALS")
TRIES = 2 if ASKED is None else min(int(ASKED), MOST)
GROUPS = [USUAL] if ASKED is None else [(verb,) for verb in two_users.VERBS]
"""What runs in one process."""


@as_root
@pytest.mark.parametrize("verbs", GROUPS, ids=lambda verbs: "usual" if len(verbs) > 1 else verbs[0])
def test_a_hostile_user_who_watches_damages_nothing(verbs):
    """Not a file of the first user outside of the named folder is changed, moved, removed or read."""
    done = subprocess.run(
        [sys.executable, str(Path(two_users.__file__)), str(TRIES), "1", *verbs],
        stdout=subprocess.PIPE,
        check=True,
        timeout=60 + 60 * TRIES * len(verbs),
    )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    print(*told, sep="\n")
    assert [one["verb"] for one in told] == list(verbs)
    assert [one for one in told if one["damage"]] == []
    assert sum(one["acts"] for one in told) > 0
