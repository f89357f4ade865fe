"""What a run takes alone on its hosts, told from quiet runs of the same job on other hosts.

**The model.** Alone, a run takes

    a + b * own + c * hops + noise

where *own* are the seconds for which its busiest link has bytes of its own, and *hops* is what its bytes
come to on links between switches over what its hosts send. Both are taken of what the quiet runs send on
average: they say where the hosts are, not how much a run had to do, which is noise. How much they
matter is not known: b is 0 where waiting hides behind computing and about 1 where it does not, c is above 0
where every hop costs time. So they are draws: b from a normal distribution of mean `OWN` and deviation
`OWN_DEVIATION`, c of mean 0 and deviation `HOPS_DEVIATION` of the run's time, a from a flat one, and the
noise's deviation from one that is flat in its logarithm above `NOISE` of the time and falls off below. The
quiet runs weigh them by Bayes' rule: that deviation by a sum over `_STEPS` values, the rest in closed form
(Gelman et al., *Bayesian data analysis*, chapter 14).

So, where quiet runs are placed alike, a run as they are is told by their mean, about with Student's interval;
where they show what places cost, by their line; and where all of them lie close together, one with hosts far
apart gets an interval as wide as places may matter. The errors of several runs told together are not
independent, as they share a, b and c: the interval of a sum is of the sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

OWN, OWN_DEVIATION = 0.6, 0.6
"""Of a second for which the busiest link has bytes longer: so much longer a run takes."""
HOPS_DEVIATION = 0.15
"""Of its time, for each byte on a link between switches by byte sent."""
NOISE = 0.005
"""Of the mean: much less is unlikely. Four runs that a plane happens to meet would say that there is none."""
_STEPS = 30
_LEAST_NOISE = 1e-4
"""Of the mean."""


@dataclass(frozen=True)
class Place:
    """What a run's places mean for how long it takes.

    Attributes
    ----------
    sent_s : float
        For how long a host of it sends, on average.
    busiest, busiest_error : float
        How many times as long its own bytes are on its busiest link, those of hosts included; and how far off
        that may be, as counters do not say whose bytes a link carries.
    hops, hops_error : float
        Its bytes on links between switches over what its hosts send.
    """

    sent_s: float
    busiest: float
    busiest_error: float = 0.0
    hops: float = 0.0
    hops_error: float = 0.0


@dataclass(frozen=True)
class Alone:
    """What quiet runs say of the others of their job: for every deviation of the noise its weight, and the
    mean and the covariance of a, b and c around `center`.
    """

    sent_s: float
    center: Array
    noise_s: Array
    weights: Array
    means: Array
    covariances: Array

    @classmethod
    def of(cls, took_s: Sequence[float], places: Sequence[Place], resolution_s: float = 0.0) -> Alone:
        """From quiet runs, two or more.

        Parameters
        ----------
        took_s : sequence of float
            How long each took.
        places : sequence of Place
        resolution_s : float, default 0
            Of starts and ends.
        """
        took = np.array(took_s, dtype=np.float64)
        n, mean = len(took), float(took.mean())
        sent_s = math.fsum(one.sent_s for one in places) / n
        x = np.array([[0.0, sent_s * one.busiest, one.hops] for one in places])
        center = x.mean(axis=0)
        design = x - center
        design[:, 0] = 1.0
        prior = np.array([mean, OWN, 0.0])
        precision = np.diag([0.0, OWN_DEVIATION**-2, (HOPS_DEVIATION * mean) ** -2])
        left = took - design @ prior
        # A length of two rounded ends is off by less than the resolution: evenly, at worst.
        least = max(resolution_s / math.sqrt(3), _LEAST_NOISE * mean)
        noise = np.geomspace(least, max(3 * float(took.std(ddof=1)), 10 * least), _STEPS)
        inverse = (design.T @ design) / noise[:, None, None] ** 2 + precision
        covariances = np.linalg.inv(inverse)
        right = (design.T @ left) / noise[:, None] ** 2
        off = np.einsum("sij,sj->si", covariances, right)
        fit = left @ left / noise**2 - np.einsum("si,si->s", right, off)
        known = (NOISE * mean / noise) ** 2
        logs = -known / 2 - n * np.log(noise) - np.linalg.slogdet(inverse)[1] / 2 - fit / 2
        weights = np.exp(logs - logs.max())
        return cls(sent_s, center, noise, weights / weights.sum(), off + prior, covariances)

    def together(self, places: Sequence[Place]) -> tuple[float, float, float]:
        """What runs on these places take alone in all, seconds: the mean, and between what it is in 95 %."""
        m = len(places)
        at = (
            np.array([[m, self.sent_s * one.busiest, one.hops] for one in places]).sum(axis=0)
            - m * self.center
        )
        at[0] = m
        # Whose bytes they are is guessed by one rule: the errors of several runs may all be to one side.
        off = np.array([[0.0, self.sent_s * one.busiest_error, one.hops_error] for one in places]).sum(axis=0)
        middles = self.means @ at
        squares = self.means**2 + np.diagonal(self.covariances, axis1=1, axis2=2)
        variances = m * self.noise_s**2 + np.einsum("i,sij,j->s", at, self.covariances, at) + squares @ off**2
        deviations = np.sqrt(variances)
        low, high = (_quantile(share, self.weights, middles, deviations) for share in (0.025, 0.975))
        return float(self.weights @ middles), low, high


def _quantile(share: float, weights: Array, means: Array, deviations: Array) -> float:
    """Of a mixture of normal distributions, by bisection."""
    big = weights > 1e-9
    parts = list(zip(weights[big], means[big], deviations[big] * math.sqrt(2), strict=True))
    low = float(min(mean - 9 * deviation for _, mean, deviation in parts))
    high = float(max(mean + 9 * deviation for _, mean, deviation in parts))
    for _ in range(48):
        middle = (low + high) / 2
        below = math.fsum(
            weight * (1 + math.erf((middle - mean) / deviation)) / 2 for weight, mean, deviation in parts
        )
        low, high = (middle, high) if below < share else (low, middle)
    return (low + high) / 2
