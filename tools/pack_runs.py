"""Packs run folders into one ZIP for `report --runs FILE.zip`, the same bytes each time.

python tools/pack_runs.py RUNS FILE.zip
"""

import sys
import zipfile
from pathlib import Path


def pack(runs: Path, file: Path) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(path for path in runs.rglob("*") if path.is_file()):
            archive.writestr(
                zipfile.ZipInfo(path.relative_to(runs).as_posix()), path.read_bytes(), zipfile.ZIP_DEFLATED, 9
            )


if __name__ == "__main__":
    pack(Path(sys.argv[1]), Path(sys.argv[2]))
