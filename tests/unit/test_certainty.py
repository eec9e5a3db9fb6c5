"""How sure a number is: what a batch typed beside a log may do, and clocks and rates that contradict each other."""

import functools
import json

import pytest

from evalsuite.cli import main
from evalsuite.errors import Exit
from evalsuite.logs.reading import Reading, read_file, read_run
from evalsuite.model import Case
from evalsuite.runs.store import Log
from tests.corpus import DIALECTS, names, with_logs
from tests.corpus import LOGS as CORPUS
from tests.readings import LOGS, SHORT, card_line, codes, each, row, seen, short, speed_line, table, value

STEPS = range(1, 9)


def dll_line(step, rate=8.0):
    return f"DLL 2023-08-01 05:45:{10.25 + step:09.6f} - Iteration: {step}  throughput_train : {rate} seq/s loss : 1"


CARDS, STAMPED = each(STEPS, card_line), each(STEPS, dll_line)
RELAYS = {
    "kubectl": "2026-11-21T04:29:{:012.9f}Z ",
    "kubectl --prefix": "[pod/train-0/main] 2026-11-21T04:29:{:012.9f}Z ",
    "docker compose": "trainer-1  | 2026-11-21T04:29:{:012.9f}Z ",
    "journalctl short-precise": "Nov 21 04:29:{:09.6f} node7 python[4711]: ",
    "journalctl short-iso-precise": "2026-11-21T04:29:{:09.6f}+0000 node7 python[4711]: ",
}


def relayed(prefix, at_s, line=lambda step: speed_line(step, 8.0)):
    return each(STEPS, lambda step: prefix.format(at_s(step)) + line(step))


ROWS = {
    **{
        f"a batch in sequences of {batch} does not touch a rate in tokens": row(
            LOGS / "maxtext.log",
            short(8, batch),
            unit="tokens/s",
            items_per_s=value(read_file(LOGS / "maxtext.log", **short(8))),
        )
        for batch in (1, 7, 32, 1024)
    },
    **{
        f"a batch of {batch} that step times deny does not replace the rate beside them": row(
            CARDS,
            short(2, batch),
            items_per_s=32.0,
            codes={"batch_doubted"},
            certainty="printed only",  # 16 on each of two
        )
        for batch in (1, 7, 32, 1024)
    },
    "a batch that step times confirm is used": row(
        CARDS, short(2, 8), items_per_s=32.0, codes=set(), certainty="one clock"),
    "a factor of the devices asks whose rate it is": row(STAMPED, short(4, 8), status="doubtful", reason="--scope"),
    "a clock and a rate that agree are sure": row(STAMPED, short(1, 8), items_per_s=8.0, certainty="two clocks agree"),
    "a rate without a clock is printed only": row(STAMPED, short(), certainty="printed only"),
    "a scope that was assumed is said": row(
        each(STEPS, lambda step: f"{speed_line(step, prefix='0: ')}\n{speed_line(step, prefix='1: ')}"), short(),
        certainty="assumed scope"),
    **{
        f"the stamp of a relay is an arrival: {name}": row(
            relayed(prefix, lambda step: 1.25 * step), short(1, 10), method="arrival times", items_per_s=8.0
        )
        for name, prefix in RELAYS.items()
    },
    **{
        f"lines that a relay passed on together have no clock: {name}": row(
            relayed(prefix, lambda step: 10.25 * (step // 4) + 0.0001 * step),
            short(1, 10),
            **{"items_per_s": 8.0, "codes": {"arrivals_bursty"}},
        )
        for name, prefix in RELAYS.items()
    },
    "the script's own stamp behind that of a relay is the clock": row(
        relayed(RELAYS["kubectl"], lambda step: 0.0001 * step, dll_line), short(1, 8), method="log stamps",
        items_per_s=8.0),
}  # fmt: skip


@table(ROWS)
def test_a_number_is_as_sure_as_its_clocks(row, tmp_path):
    assert seen(tmp_path, row) == row.expected


@pytest.mark.parametrize("factor", [1.6, 4.0])
def test_a_clock_far_from_the_rate_of_a_run_makes_no_number_and_names_both(factor, tmp_path):
    (path := tmp_path / "log").write_text(each(STEPS, lambda step: dll_line(step, 8.0 * factor)))
    case = Case(framework="pytorch", recipe="r", model="bert", batch_per_device=8, protocol=SHORT)

    doubtful = read_run([Log(path=path, arrivals=tmp_path / "none", host="a", rank=None)], case)

    assert (doubtful.status, value(doubtful), doubtful.certainty) == ("doubtful", None, None)
    assert all(said in doubtful.reason for said in ("8.00", f"{8 * factor:.2f}", "batch"))


@functools.cache
def without_batch(name: str) -> Reading:
    return read_file(CORPUS / name, dialects=DIALECTS, devices=8)


@pytest.mark.whole
@with_logs
@pytest.mark.parametrize("batch", [1, 7, 32, 1024])
def test_no_batch_changes_a_log_of_the_corpus_silently(batch):
    changed = []
    for name in names():
        before = without_batch(name)
        if before.throughput is None or value(before) is None:
            continue
        after = read_file(CORPUS / name, dialects=DIALECTS, devices=8, batch_per_device=batch)
        same = value(after) is None or value(after) == pytest.approx(value(before), rel=0.02)
        if not same and not codes(after) - codes(before):
            changed.append(name)

    assert changed == []


def test_a_doubtful_log_has_null_and_the_exit_code_of_nothing_measured(tmp_path, capsys):
    (tmp_path / "log").write_text(STAMPED)

    words = ["--devices", "4", "--batch-per-device", "8", "--steps", "2+5", "--json"]
    code = main(["parse", str(tmp_path / "log"), *words])

    (found,) = json.loads(capsys.readouterr().out)
    assert code == Exit.NOTHING_MEASURED
    assert (found["status"], found["throughput"], found["certainty"]) == ("doubtful", None, None)
    assert [one["code"] for one in found["findings"]] == ["clock_disagrees"]
