"""The corpus of real logs beside the checkout, where they are present: each reading as it was. `EVALSUITE_GOLDEN=write
python -m pytest tests/unit/test_corpus.py` writes what is read now into `tests/golden/readings.csv`; look at each log
whose row has changed. The file holds figures only, nothing of the logs."""

from evalsuite.logs.reading import Reading
from tests import goldens
from tests.corpus import compared, names, read, six, sources, with_logs

READINGS = goldens.FOLDER / "readings.csv"

pytestmark = with_logs


def figures(name: str, reading: Reading) -> dict[str, str]:
    throughput = reading.throughput
    window = throughput.window if throughput else None
    findings = (*reading.findings, *(throughput.findings if throughput else ()))
    return {
        "file": name, "dialect": reading.dialect or "", "status": reading.status,
        "throughput": six(throughput.items_per_s if throughput else None), "unit": reading.unit or "",
        "method": throughput.method if throughput else "", "first_step": str(window.first_step) if window else "",
        "last_step": str(window.last_step) if window else "", "steps_reported": str(reading.steps_reported),
        "devices": str(reading.total_devices or ""), "batch_per_device": six(reading.batch_per_device),
        "scope": reading.scope or "", "reported_final": six(reading.reported_final),
        "findings": " ".join(sorted({finding.code for finding in findings})),
    }  # fmt: skip


def test_every_log_of_the_corpus_reads_as_in_its_row_or_says_what_is_missing():
    known = sources()
    read_of = {name: read(name, known.get(name, {})) for name in names()}

    assert all(reading.reason for reading in read_of.values() if reading.throughput is None)
    compared(READINGS, [figures(name, reading) for name, reading in read_of.items()])


def test_of_the_honest_logs_none_is_said_to_have_trained_nothing():
    known = sources()
    read_of = {name: read(name, known.get(name, {})) for name in names()}
    idle = {name for name, reading in read_of.items() if reading.trained == "did_not_train"}

    assert idle == {
        "oneflow/libai_baichuan_excerpt.log",  # prints NaN
        "weird/ssd_16xA4000_tqdm_cr.log",  # and these are benchmarks at a learning rate of 0.0
        "weird/traceback_bert_base_gh200.log",
        "dllogger_pytorch/bert_base_squad_16xA4000_tqdm_cr.log",
        "dllogger_pytorch/bert_large_squad_1x1080Ti_tqdm_ansi.log",
        "dllogger_pytorch/bert_large_squad_8xH100_fp16.log",
    }
    assert len(idle) < sum(reading.trained == "trained" for reading in read_of.values())
