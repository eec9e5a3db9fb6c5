"""The time of a step, taken apart: from lines of a log to phases, and what cannot be (D19)."""

import pytest

from evalsuite.core.model import Breakdown, Case, Log, Phase, Protocol, Window
from evalsuite.logs import reading
from evalsuite.logs.scan.collectors import OWN_TIMERS, TimerCollector
from evalsuite.logs.text.logfile import Chunk, Piece
from evalsuite.results.measure import latency
from tests import sources

ELASTICDL = sources.text("timers_elasticdl.txt")
WORKLOAD = {"framework": "pytorch", "recipe": "reference-cifar10-resnet50", "model": "resnet50_cifar10"}
CASE = Case(**WORKLOAD, devices_per_node=2, batch_per_device=64, protocol=Protocol(warmup_steps=2, measured_steps=4))


def log_of_our_own(steps, *, without=()):
    """A log of the CIFAR-10 workload: data 0.01 s, the passes 0.2 s and 0.01 s more in each step, 0.05, 0.02."""
    lines = ["reference workload: framework=pytorch batch_per_device=64 processes=2"]
    for step in range(1, steps + 1):
        passes_s = 0.2 + 0.01 * step
        waited = "" if step in without else "allreduce_s=0.050000 "
        lines += [
            f"reference workload: step={step} data_s=0.010000 forward_backward_s={passes_s:.6f} {waited}"
            f"optimiser_s=0.020000 step_s={0.081 + passes_s:.6f}",
            f"Epoch: [0][{step}/{steps}]\tTime  0.300000 (  0.300000)\tData  0.010000 (  0.010000)\tLoss 2.3e+00 (2.3)",
        ]
    return "\n".join(lines) + "\n"


def read(tmp_path, text, name="pytorch_examples"):
    (path := tmp_path / "log.txt").write_text(text)
    return reading.read_run(
        [Log(host="a", rank=None, name="log.txt", path=path, arrivals=tmp_path / "none.csv")], CASE, name
    )


def test_the_parts_of_a_step_are_means_over_the_measured_steps_alone(tmp_path):
    found = read(tmp_path, log_of_our_own(8)).breakdown

    assert (found.of, found.reports) == ("step", 4)
    assert [phase.name for phase in found.phases] == ["data", "forward_backward", "allreduce", "optimiser"]
    assert found.seconds_of("forward_backward") == pytest.approx(0.2 + 0.01 * (3 + 4 + 5 + 6) / 4)
    assert latency.rest(found) == pytest.approx(0.001)


def test_a_part_that_some_of_the_steps_lack_is_not_recorded_and_not_zero_and_without_timers_there_is_none(tmp_path):
    found = read(tmp_path, log_of_our_own(8, without=(4,))).breakdown
    plain = "".join(line + "\n" for line in log_of_our_own(8).splitlines() if "step_s=" not in line)

    assert (found.seconds_of("allreduce"), latency.seconds_of(found, latency.COMMUNICATION)) == (None, None)
    assert read(tmp_path, plain).breakdown is None


def test_elasticdl_times_a_task_whose_copies_lie_inside_the_all_reduce(tmp_path):
    found = read(tmp_path, ELASTICDL, "elasticdl").breakdown

    assert (found.of, found.seconds, found.reports) == ("task", 12.5577, 1)
    expected = [("get_model", None), ("allreduce", None), ("tensor_copy", "allreduce")]
    assert [(phase.name, phase.parent) for phase in found.phases] == expected
    assert latency.rest(found) == pytest.approx(12.5577 - 9.77168 - 5.48363e-05)


def test_tasks_make_a_rate_where_their_steps_are_given_and_their_parts_are_those_of_the_window(tmp_path):
    (path := tmp_path / "log.txt").write_text(
        ELASTICDL.replace("12.5577", "25").replace("9.77168", "5") + 2 * ELASTICDL, encoding="utf-8"
    )

    found = reading.read_file(path, devices=2, batch_per_device=64, steps_per_report=50)

    assert found.throughput and found.throughput.items_per_s == pytest.approx(2 * 64 * 50 / 12.5577)
    assert found.breakdown and (found.breakdown.seconds, found.breakdown.reports) == (12.5577, 2)
    assert found.breakdown.seconds_of("allreduce") == 9.77168


def test_a_step_trained_again_after_a_restart_is_counted_once_and_a_window_without_a_timed_step_has_no_breakdown():
    text = b"reference workload: step=1 data_s=1.0 step_s=4.0\nreference workload: step=1 data_s=2.0 step_s=3.0\n"
    again = TimerCollector(OWN_TIMERS)
    again.add(Piece(chunk=Chunk(text=text, first_line=1, offset=0, complete=True, line_ends=2)))

    found = again.breakdown(None)

    assert OWN_TIMERS.line.compiled.search(OWN_TIMERS.line.sample)
    assert (found.reports, found.seconds, found.seconds_of("data")) == (1, 3.0, 2.0)
    assert again.breakdown(Window(first_step=2, last_step=5, steps=4)) is None


def test_an_all_reduce_that_holds_tensor_numpy_and_a_nested_phase_longer_than_its_own_break_d19():
    """Four phases of ElasticDL's MobileNetV2 on two workers, of which one lies inside another."""
    seconds = {"allreduce": 3.0, "tensor_numpy": 2.0, "apply_gradients": 2.5, "forward_backward": 4.0}

    def published(parent):
        inside = {"tensor_numpy": parent}
        phases = tuple(Phase(name=name, seconds=took, parent=inside.get(name)) for name, took in seconds.items())
        return Breakdown(seconds=10.0, phases=phases, of="task")

    assert [finding.code for finding in latency.findings(published(None))] == ["D18"]
    assert list(latency.findings(published("allreduce"))) == []

    phases = (Phase(name="allreduce", seconds=2.0), Phase(name="tensor_copy", seconds=2.1, parent="allreduce"))

    (finding,) = latency.findings(Breakdown(seconds=9.0, phases=phases))

    assert (finding.code, finding.severity) == ("D18", "note")
