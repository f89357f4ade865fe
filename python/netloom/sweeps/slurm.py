"""A job array of Slurm for a sweep: the script that `sbatch` takes. No server is needed.

Task `i` of `n` runs the runs whose number leaves `i` when divided by `n`, and writes its parts into the
sweep's folder, which all machines see; `netloom sweep merge` joins them. What is there is not run again, so
the same script goes on after tasks that were killed.

The script names the sweep, and has its sum: others may write to the folder, and what its manifest says is
compared, never followed.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from netloom.sweeps.spec import Spec

MOST_TASKS = 100_000


def options_of(spec: Spec) -> list[str]:
    """What whoever ran the sweep said of its runs: tasks, and who joins their parts, say it again."""
    return [] if spec.skip_repeats is None else ["--skip-repeats", repr(spec.skip_repeats)]


def script(name: str, sweep: Path, total: str, folder: Path, tasks: int, options: Sequence[str] = ()) -> str:
    """The script.

    Parameters
    ----------
    name : str
        Of the scenario.
    sweep : Path
        The sweep's file.
    total : str
        What it, its scenario and all that they name sum up to.
    folder : Path
        Of the sweep.
    tasks : int
        Of the array.
    options : sequence of str
        `options_of` the sweep.
    """
    shown = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)[:40]
    installed = Path(sys.executable).with_name("netloom")
    command = [str(installed) if installed.exists() else "netloom", "sweep", "part", "--sum", total, *options]
    command += [str(sweep.absolute()), str(folder.absolute())]
    return f"""#!/bin/sh
# Runs a sweep of netloom; once all tasks have ended: netloom sweep merge SWEEP FOLDER
#SBATCH --job-name=netloom-{shown}
#SBATCH --array=0-{tasks - 1}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
exec {shlex.join(command)} "$SLURM_ARRAY_TASK_ID" {tasks}
"""
