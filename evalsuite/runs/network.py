"""Network and storage measurements beside the runs: `network/<scale>.<campaign>/network.json`."""

from pathlib import Path

from evalsuite.core import files
from evalsuite.core.decode import whole
from evalsuite.core.documents import NetworkMeasurement
from evalsuite.core.model import Case

FOLDER, DOCUMENT = "network", "network.json"


def folder(root: Path, scale: str, campaign: str) -> Path:
    return root / FOLDER / f"{scale}.{campaign}"


def write(place: Path, network: NetworkMeasurement) -> None:
    files.write_json(place / DOCUMENT, network.to_json())


def read(*roots: Path) -> tuple[NetworkMeasurement, ...]:
    files_found = (file for root in roots for file in root.glob(f"{FOLDER}/*/{DOCUMENT}"))
    measured = [NetworkMeasurement.from_json(files.read_json(file), file) for file in files_found]
    return tuple(sorted(measured, key=lambda network: network.at))


def link_mbit(case: Case) -> int | None:
    return whole(case.option("link_mbit") or "")
