"""The closed loop: what a round is, whether routes are changed, and the loop in the simulator.

simulate (or poll) -> counters -> infer -> optimise -> check -> predict -> decide -> apply. Every step is a
function of the core; what is here is their order, and the rule.
"""

from netloom.loop.decision import Decision, Proposal, Rule, contradicted, decide
from netloom.loop.prediction import Prediction, predict
from netloom.loop.round import Round, digest

__all__ = [
    "Decision",
    "Prediction",
    "Proposal",
    "Round",
    "Rule",
    "contradicted",
    "decide",
    "digest",
    "predict",
]
