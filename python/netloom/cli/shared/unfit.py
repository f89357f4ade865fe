"""Options that do not fit together are a usage error (`netloom.session.unfit` has the tables' form)."""

from __future__ import annotations

from collections.abc import Sequence

from netloom.cli.shared.exits import UsageError
from netloom.session.unfit import Unfit, refusal
from netloom.session.unfit import exclude as exclude
from netloom.session.unfit import named as named
from netloom.session.unfit import need as need


def refuse(table: Sequence[Unfit], given: set[str]) -> None:
    """Refuses options that do not fit together.

    Raises
    ------
    UsageError
        The text of the first row of the table that applies.
    """
    if (told := refusal(table, given)) is not None:
        raise UsageError(told)
