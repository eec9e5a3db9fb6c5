"""Ways to make a run say something wrong, and what is said now: what it trained, its window, its utilisation."""

from dataclasses import replace

import pytest

from evalsuite.model import Protocol
from evalsuite.results.measurement import measurement
from tests import runfolders
from tests.toys import CASE

BATCH = CASE.batch_per_device


def codes(found):
    return [finding.code for finding in found.findings]


class TestTheClock:
    def test_a_colour_code_that_begins_a_line_does_not_give_the_line_before_it_a_later_arrival(self, tmp_path):
        steady = runfolders.steps(seconds=0.5)
        coloured = [f"\x1b[32m{line}" for line in steady.lines]
        paused = [at_s + (30.0 if step >= 119 else 0.0) for step, at_s in enumerate(steady.arrivals_s)]
        host = runfolders.Host(printed=[replace(steady, lines=coloured, arrivals_s=paused)])

        found = measurement(
            runfolders.finished(tmp_path, host, replace(CASE, protocol=Protocol(warmup_steps=19, measured_steps=100)))
        )

        assert found.value == pytest.approx(BATCH / 0.5)
        assert found.throughput.window.end_s == pytest.approx(runfolders.BEGAN_S + 119 * 0.5)

    def test_two_reports_are_not_said_to_arrive_together(self, tmp_path):
        few = runfolders.steps(count=2)

        found = measurement(runfolders.finished(tmp_path, runfolders.Host(printed=[few])))

        assert found.throughput.clock_items_per_s is None
        assert "arrivals_bursty" not in codes(found)
