"""The measurements of network and storage beside the runs of a store: `network/<scale>.<campaign>/network.json`."""

from pathlib import Path

from evalsuite import files
from evalsuite.documents import NetworkMeasurement
from evalsuite.model import Case

FOLDER, DOCUMENT = "network", "network.json"


def folder(root: Path, scale: str, campaign: str) -> Path:
    """Where the measurement of *scale* in a campaign lies, with the log that it was read from."""
    return root / FOLDER / f"{scale}.{campaign}"


def write(place: Path, found: NetworkMeasurement) -> None:
    files.write_json(place / DOCUMENT, found.to_json())


def read(root: Path) -> tuple[NetworkMeasurement, ...]:
    """All that were made, the oldest first. Raises EvalsuiteError with the file that is damaged."""
    files_found = root.glob(f"{FOLDER}/*/{DOCUMENT}")
    found = [NetworkMeasurement.from_json(files.read_json(file), file) for file in files_found]
    return tuple(sorted(found, key=lambda one: one.at))


def link_mbit(case: Case) -> int | None:
    """What the links of *case* give, where its option of that name says so."""
    said = case.option("link_mbit")
    return int(said) if said and said.isdecimal() else None
