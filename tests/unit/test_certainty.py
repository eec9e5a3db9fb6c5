"""How sure a number is: what a batch typed beside a log may do, and clocks and rates that contradict each other."""

import pytest

from evalsuite.core.model import Case, Log
from evalsuite.logs.reading import read_file, read_run
from tests.corpus import DIALECTS, names, with_logs
from tests.corpus import LOGS as CORPUS
from tests.readings import SHORT, codes, value
from tests.sources import NIGHTLY


def stamped(rate=8.0):
    line = "DLL 2023-08-01 05:45:{:09.6f} - Iteration: {}  throughput_train : {} seq/s loss : 1\n"
    return "".join(line.format(10.25 + step, step, rate) for step in range(1, 9))


@pytest.mark.parametrize("factor", [1.6, 4.0])
def test_a_clock_far_from_the_rate_of_a_run_makes_no_number_and_names_both(factor, tmp_path):
    (path := tmp_path / "log").write_text(stamped(8.0 * factor))
    case = Case(framework="pytorch", recipe="r", model="bert", batch_per_device=8, protocol=SHORT)

    doubtful = read_run([Log(path=path, arrivals=tmp_path / "none", host="a", rank=None, name="log.txt")], case)

    assert (doubtful.status, value(doubtful), doubtful.certainty) == ("doubtful", None, None)
    assert all(said in doubtful.reason for said in ("8.00", f"{8 * factor:.2f}", "batch"))


@with_logs
@pytest.mark.parametrize("batch", [1, 7, 32, 1024] if NIGHTLY else [7])
def test_no_batch_changes_a_log_of_the_corpus_silently(batch):
    changed = []
    for name in names():
        before = read_file(CORPUS / name, dialects=DIALECTS, devices=8)
        if value(before) is None or before.unit == "steps/s":
            continue
        after = read_file(CORPUS / name, dialects=DIALECTS, devices=8, batch_per_device=batch)
        same = value(after) is None or value(after) == pytest.approx(value(before), rel=0.02)
        if not same and not codes(after) - codes(before):
            changed.append(name)

    assert changed == []
