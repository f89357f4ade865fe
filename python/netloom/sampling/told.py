"""What is told of samples: contexts, and of each its hottest links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.findings import finding

if TYPE_CHECKING:
    from netloom._core import Fabric, Sampled, Scenario

_HOTTEST = 5
"""Links that are told of every context."""
_SURE = 4.0
"""Standard errors that an estimate must exceed to be told, as over a whole network."""


def told(found: Sampled, given: Scenario) -> dict[str, Any]:
    """What a result says of one routing's samples: `contexts` with their hottest links, and `findings`."""
    from netloom import sampling

    samples = sampling.of(found, given)
    contexts = []
    for row in samples.contexts.to_pylist():
        total = samples.total([row["context"]])
        contexts.append(
            {
                **row,
                "enough": sampling.enough(total, given.fabric, samples.sampling["rate"]),
                "hottest": hottest(total, given.fabric),
            }
        )
    findings = list(samples.findings)
    astray = samples.sampling["astray"]
    if astray:
        text = (
            f"{astray:,} sampled packets kept a link that is on no shortest way: one bit is decoded wrongly "
            "for them (method whole is not)"
        )
        findings.append(finding("astray", text))
    return {"contexts": contexts, "findings": findings}


def hottest(total: Any, fabric: Fabric) -> list[dict[str, Any]]:
    """Links for which most packets met congestion, those first that have most of them; only what is sure."""
    sure = (total.traffic > _SURE * total.traffic_error) & (total.traffic > 0)
    sure &= total.congested > _SURE * total.congested_error
    order = np.argsort(-np.where(sure, total.congested, 0.0), kind="stable")[:_HOTTEST]
    names = [*fabric.host_names, *fabric.switch_names]
    ends = fabric.link_table()
    share_error = total.fraction_doubt()
    return [
        {
            "link": int(link),
            "from": names[int(ends["source"][link])],
            "to": names[int(ends["target"][link])],
            "traffic": float(total.traffic[link]),
            "traffic_error": float(total.traffic_error[link]),
            "congested": float(total.congested[link]),
            "congested_error": float(total.congested_error[link]),
            "congested_fraction": float(np.clip(total.congested[link] / total.traffic[link], 0.0, 1.0)),
            "congested_fraction_error": float(share_error[link]),
        }
        for link in order
        if sure[link]
    ]
