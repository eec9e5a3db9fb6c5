"""Coverage-guided fuzzing of the readers: any bytes give a reading, never an exception or an impossible number.

    pip install atheris
    python tests/fuzz/fuzz_reading.py -max_total_time=3600 CORPUS_DIR

What it finds becomes a test in `tests/unit/test_reading.py`.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["evalsuite"]):
    from evalsuite.logs import catalogue, reading
    from evalsuite.logs.steps.merging import (
        window,  # noqa: F401
    )

DIALECTS = catalogue.discover()
NAMES = sorted(DIALECTS)
LOG = Path(tempfile.mkdtemp()) / "log"


def one(data: bytes) -> None:
    """The first bytes choose dialect, devices and batch; the rest is the log."""
    provider = atheris.FuzzedDataProvider(data)
    name = provider.PickValueInList([None, *NAMES])
    devices = provider.PickValueInList([None, 1, 2, 8])
    batch = provider.PickValueInList([None, 1, 32])
    LOG.write_bytes(provider.ConsumeBytes(provider.remaining_bytes()))
    found = reading.read_file(LOG, dialect=name, devices=devices, batch_per_device=batch, dialects=DIALECTS)
    check(found)


def check(found: reading.Reading) -> None:
    assert found.throughput is not None or found.reason
    value = None if found.throughput is None else found.throughput.items_per_s
    if value is None:
        assert found.certainty is None
        assert found.throughput is None or found.status in ("doubtful", "failed")
    else:
        assert 0 < value < float("inf") and found.status != "doubtful" and found.certainty is not None
    assert all(later.index >= earlier.index for earlier, later in zip(found.steps, found.steps[1:], strict=False))


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
