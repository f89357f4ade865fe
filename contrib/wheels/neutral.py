"""Takes a folder's name out of a wheel's bill of materials: `neutral.py WHEEL FOLDER NAME`.

maturin writes the folder of the build into the CycloneDX file: wheels built in two places would differ. This
replaces FOLDER by NAME there, mends the wheel's RECORD, and leaves all else, times and order too, as it is.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import os
import sys
import zipfile


def main(wheel: str, folder: str, name: str) -> None:
    changed: dict[str, bytes] = {}
    with zipfile.ZipFile(wheel) as old:
        members = [(one, old.read(one)) for one in old.infolist()]
    for one, data in members:
        if "/sboms/" in one.filename:
            changed[one.filename] = data.replace(folder.encode(), name.encode())
    part = f"{wheel}.part"
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as new:
        for one, data in members:
            if one.filename.endswith(".dist-info/RECORD"):
                data = _record(data, changed)
            new.writestr(one, changed.get(one.filename, data), zipfile.ZIP_DEFLATED, 9)
    os.replace(part, wheel)


def _record(data: bytes, changed: dict[str, bytes]) -> bytes:
    rows = list(csv.reader(io.StringIO(data.decode())))
    for row in rows:
        if row and row[0] in changed:
            digest = base64.urlsafe_b64encode(hashlib.sha256(changed[row[0]]).digest()).rstrip(b"=").decode()
            row[1:] = [f"sha256={digest}", str(len(changed[row[0]]))]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


if __name__ == "__main__":
    main(*sys.argv[1:4])
