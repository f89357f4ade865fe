"""Files in folders that others may write to: opened, replaced, locked and removed by one package.

Idea: a folder is opened once, and everything in it is named relative to its descriptor. So nobody who changes
a path meanwhile, or puts a link where a file was, leads a write, a lock or a removal out of the folder.

Invariants: a path is gone along part by part, and no link that others made or can exchange is followed
(`ways`). A file is replaced whole, by rename, from a temporary file with a random name that is never opened
if it exists; its mode and owner are set on the descriptor (`folder`). Temporary files and folders are removed
by descriptor and inode (`temporary`, `scratch`). Trusted are this process's user and root; `SECURITY.md` has
the threat model.

The Rust core writes by the same rules (`crates/python/src/io.rs`). No other module opens for writing, renames
or removes; `contrib/writers.py` sees to it, by the syntax tree.
"""

from __future__ import annotations

from netloom.files.folder import Folder, Held, private_folder, replace_file
from netloom.files.scratch import Scratch, remove_all, remove_whole, unnamed
from netloom.files.ways import check_file, check_folder

__all__ = [
    "Folder",
    "Held",
    "Scratch",
    "check_file",
    "check_folder",
    "private_folder",
    "remove_all",
    "remove_whole",
    "replace_file",
    "unnamed",
]
