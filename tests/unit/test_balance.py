"""Whether a run balances and can have done its work: what it did outside the window, and what its devices can."""

import json
from dataclasses import replace
from itertools import accumulate

import pytest

from evalsuite.core.model import Fact, Machine, MachineNode, Step, Throughput, Utilisation, Window
from evalsuite.logs.reading import read_file
from evalsuite.logs.steps import doubts
from evalsuite.results.measure.measurement import measurement
from evalsuite.results.rules import work_done
from tests import runfolders, sources
from tests.runfolders import steps
from tests.toys import CASE, measured

TABLE = sources.cases("balance.toml")


def spaced(seconds):
    """Steps that took *seconds* each, and print that."""
    at_s, lasting = [], 0.0
    for each in seconds:
        at_s.append(runfolders.BEGAN_S + (lasting := lasting + each))
    told = [f"Epoch: [0][{n:4d}/{len(seconds)}]\tTime {each:.4f} (0.5)" for n, each in enumerate(seconds)]
    return replace(steps(), lines=told, arrivals_s=at_s)


def later(*behind, after_s=30.0, log=None):
    """A run that goes on for *after_s* after its last step, with these lines at its end."""
    log = log or steps()
    lines, at_s = [*log.lines, *behind], [*log.arrivals_s, *(log.arrivals_s[-1] + after_s for _ in behind)]
    return replace(log, lines=lines, arrivals_s=at_s), {"duration_s": log.arrivals_s[-1] + after_s}


def evaluated(batch_s):
    """A run that counts the 300 batches of an evaluation behind its last step, each of *batch_s*."""
    log = steps()
    lines = [f"Test: [{10 * n:3d}/300]" for n in range(31)]
    at_s = [log.arrivals_s[-1] + 10 * n * batch_s for n in range(31)]
    whole = replace(log, lines=[*log.lines, *lines], arrivals_s=[*log.arrivals_s, *at_s])
    return whole, {"duration_s": at_s[-1] + 1.0}


def run_of(seconds=(), again=None, evaluation_s=None, after_s=None, behind=(), **ended):
    """What a row of the table says that was printed, and how it ended; *seconds*: [how many, the first, more each]."""
    if evaluation_s:
        return evaluated(evaluation_s)
    took = [first + n * sum(more) for count, first, *more in seconds for n in range(count)]
    log = spaced(took) if took else steps()
    if again:
        log = replace(steps(120 + again), lines=[*steps(says=0.501).lines[:again], *log.lines])
    return later(*behind, after_s=after_s, log=log) if after_s else (log, ended)


@pytest.mark.parametrize(("of", "codes", "grounds"), TABLE["outside"].values(), ids=TABLE["outside"])
def test_what_a_run_does_outside_its_window_is_said_and_takes_its_rank(of, codes, grounds, tmp_path):
    (printed, ended) = run_of(**of)

    found = measurement(runfolders.finished(tmp_path, runfolders.Host(printed=[printed]), **ended))

    assert {each.code for each in found.findings} == set(codes)
    assert (found.counts, found.grounds) == (True, grounds)


@pytest.mark.parametrize(("percent", "after_s", "codes"), [(0, 9, set()), (90, 9, {"work_outside"}), (90, 2, set())])
def test_behind_the_last_step_accelerators_are_at_rest(percent, after_s, codes, tmp_path):
    lines = [{"header": True, "hz": 2.0, "gpus": [{"index": 0, "name": "A100"}]}]
    for at in range(2 * 62 + 2 * after_s):
        busy = {"index": 0, "utilisation_percent": 90.0 if at < 2 * 62 else percent}
        lines.append({"at_s": at / 2, "cpu_percent": 10.0, "gpus": [busy]})
    log, ended = later(after_s=float(after_s))
    host = runfolders.Host(printed=[log], samples="".join(f"{json.dumps(line)}\n" for line in lines))

    found = measurement(runfolders.finished(tmp_path, host, case=replace(CASE, device="gpu"), **ended))

    assert {each.code for each in found.findings} == codes


@pytest.mark.parametrize(("percent", "codes"), [(20.0, {"work_outside"}), (100.0, {"busy_machine"})])
def test_beside_others_processes_end_as_much_later(percent, codes, tmp_path):
    log, ended = later(after_s=25.0)
    host = runfolders.Host(printed=[log], samples=runfolders.cpu_samples(accumulate([0.1] * 180), percent=percent))

    found = measurement(runfolders.finished(tmp_path, host, case=replace(CASE, device="cpu"), **ended))

    assert {each.code for each in found.findings} & {"work_outside", "busy_machine"} == codes


@pytest.mark.parametrize(("start", "warmup", "codes"), TABLE["warmup"])
def test_cpu_seconds_before_the_window_are_held_against_those_inside(start, warmup, codes, tmp_path):
    used_s = accumulate([start / 2] * 4 + [warmup / 2] * 20 + [0.5] * 110)
    host = runfolders.Host(samples=runfolders.cpu_samples(used_s))

    found = measurement(runfolders.finished(tmp_path, host, case=replace(CASE, device="cpu", cores_per_device=1)))

    assert {each.code for each in found.findings} - {"cores_idle"} == set(codes)


@pytest.mark.parametrize(("seconds", "kinds"), [((0.004, 0.021), 1), ((0.00, 0.01), 0), ((0.0041, 0.0142), 1)])
def test_two_kinds_are_told_by_more_than_the_digits_of_a_script(seconds, kinds):
    steps = [Step(index=at, seconds=round(seconds[at % 2] + at % 7 / 10_000 * kinds, 4)) for at in range(100)]

    assert len([*doubts._two_kinds(steps)]) == kinds


def trained(devices=1, nodes=1, rate=10.0, precision="fp32", changes=(), **used):
    """A run on CPUs with these means of its utilisation."""
    size = {"batch_per_device": round(rate / devices / nodes), "nodes": nodes, "devices_per_node": devices}
    case = replace(CASE, device="cpu", cores_per_device=1, precision=precision, **size)
    throughput = Throughput(
        items_per_s=rate,
        unit="images/s",
        method="arrival times",
        window=Window(first_step=21, last_step=120, steps=100, begin_s=5.0, end_s=105.0),
    )
    readings = [
        Utilisation(resource=name, unit="%", mean=mean, p5=mean, p95=mean, samples=100, coverage=1.0)
        for name, mean in used.items()
    ]
    return measured(
        *(case, 0, rate),
        throughput=throughput,
        utilisation=tuple(readings),
        facts=(Fact(key="input_size", value="224", source="recipe"),),
        environment=Machine(nodes=(MachineNode(cpu="EPYC", cores=64.0),)),
        **dict(changes),
    )


@pytest.mark.parametrize(("run", "found"), TABLE["done"])
def test_what_a_processor_cannot_have_done_excludes_and_what_is_not_proven_is_said(run, found):
    assert {each.name for each in work_done.findings(trained(**run))} == set(found)


MEGATRON = (
    " iteration {step:8d}/     500 | consumed samples: {items:12d} | elapsed time per iteration (ms): {ms:.1f} | "
    "learning rate: {rate} | global batch size:    64 | lm loss: {loss:.6E} | loss scale: {scale} | "
    "grad norm: {norm:.3f} | number of skipped iterations: {skipped:3d} | number of nan iterations: {nan:3d} |\n"
)


@pytest.mark.parametrize(("of", "found"), TABLE["learnt"])
def test_a_log_is_asked_whether_it_learnt_and_worked_whoever_made_it(of, found, tmp_path):
    """Of `parse` alike: of an import nothing else is known."""
    line = {"ms": [250.0, 252.0, 249.0], "loss": [7.0, -0.01], "norm": [1.0, 1.1], "skipped": [0], **of}
    first, fall, turn = (*line["loss"], 0.0, 0.0)[:3]
    lines = [
        MEGATRON.format(
            step=step,
            items=of.get("counted", 64) * step,
            ms=line["ms"][step % len(line["ms"])]
            * (of.get("warm", 1.0) if step <= 20 else 1.0)
            * (of.get("save", 1.0) if step == 30 else 1.0)
            * (1 + of.get("slows", 0.0) * step),
            loss=first + fall * step + turn * (step % 2),
            rate=of.get("rate", "1.0E-04"),
            scale=of.get("scale", "1.0"),
            nan=of.get("nan", [0])[0],
            norm=line["norm"][step % len(line["norm"])],
            skipped=line["skipped"][step % len(line["skipped"])],
        )
        for step in range(1, 141)
    ]
    head = f"  global_batch_size ........... {of['head']}\n" if "head" in of else ""
    head += f"{of['lr']}\n" if "lr" in of else ""
    (path := tmp_path / "log").write_text(head + "".join(lines))

    read = read_file(path, devices=8)

    told = (*read.findings, *read.throughput.findings)
    assert [each.name for each in told if each.question in (2, 3, 7) and not each.noted] == [*found]
    assert read.status == ("doubtful" if {*found} - {"items_apart"} else "ok")
