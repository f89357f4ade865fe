"""`netloom completion`: the script that makes a shell complete verbs, options and their choices.

It is generated from the command's own description, so it is as complete as `--help`.
"""

from __future__ import annotations

from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"], /) -> int:
    """Print a shell script that completes netloom's commands and options.

    Parameters
    ----------
    shell
        Which one.
    """
    from netloom.cli.parser.verbs import build_app

    print(build_app().generate_completion(prog_name="netloom", shell=shell))
    return 0
