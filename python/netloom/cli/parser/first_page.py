"""How `netloom --help` shows the verbs: a line each, by groups, on one screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cyclopts.help import HelpPanel
    from rich.console import Console, ConsoleOptions

WIDTH = 17
"""Columns of a verb's name, with the space around it."""


def group_of_verbs(console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
    """Prints a group of verbs: its title, and every verb with its help."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid()
    grid.add_column(min_width=WIDTH, no_wrap=True)
    grid.add_column()
    for entry in panel.entries:
        names = ", ".join((*entry.positive_names, *entry.positive_shorts))
        grid.add_row(Text(f"  {names}", style="cyan"), entry.description or "")
    console.print(Text(str(panel.title), style="bold"))
    console.print(grid)
