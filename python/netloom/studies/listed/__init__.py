"""Every table and figure of the papers that netloom stands on: what makes it, or why nothing does.

Numbers are those of captions; talk 002 has none, so its pictures stand under the titles of their slides.
Tests parse every command, look whether the files that it names are there, and hold the list beside
`tests/data/papers/captions.txt`.
"""

from __future__ import annotations

from netloom.studies.listed.item import NOT_OURS, NOT_REPRODUCED, PARTLY, REPRODUCED, STATES, Item, Paper
from netloom.studies.listed.others import CHEN, DESENSI, MINKENBERG, SMITH
from netloom.studies.listed.taffet import TAFFET

__all__ = ["ITEMS", "NOT_OURS", "NOT_REPRODUCED", "PAPERS", "PARTLY", "REPRODUCED", "STATES", "Item", "Paper"]

PAPERS = (
    Paper("000", "taffet", "Taffet, dissertation", "measurement, static routes, inference, the closed loop"),
    Paper("001", "smith", "Smith et al., SC 2018", "adaptive flow-aware routing (AFAR)"),
    Paper("002", "minkenberg", "Minkenberg et al., talk", "slimmed trees, congestion management, snooping"),
    Paper("003", "desensi", "De Sensi et al., SC 2019", "noise and routing modes on dragonflies"),
    Paper("004", "chen", "Chen et al.", "bandwidth of the levels of a network"),
)
"""The papers, by number."""

ITEMS: tuple[Item, ...] = (*TAFFET, *SMITH, *MINKENBERG, *DESENSI, *CHEN)
"""Their tables and figures, in order."""
