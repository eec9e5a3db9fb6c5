"""Ways to read samples over other steps: clocks of hosts that are apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsuite.core.findings import HostClocksDiffer
from evalsuite.report.text.findings import english
from evalsuite.results.measure.plausibility import clocks_apart
from evalsuite.runs.samples import Header, Sample
from tests import runfolders


def host(start_s, seconds, hz=2.0):
    readings = (Sample(at_s=k / hz) for k in range(round(seconds * hz) + 1))
    return runfolders.sampled(Header(hz=hz, started_at_unix_s=start_s), readings)


class TestTheClocksOfHosts:
    def test_a_host_whose_clock_is_half_a_minute_ahead_is_named(self):
        (found,) = clocks_apart({"a": host(1000, 60), "b": host(1030, 61)})

        assert found == HostClocksDiffer(host="b", first="a", offset_s=30.0)
        assert english(found).startswith("by the clock of b its part of the run was 30.00\u202fs earlier or later than")

    @pytest.mark.parametrize("other", [host(1020, 40), host(1000, 90), host(980, 100), host(1004, 60), host(None, 60)])
    def test_a_node_that_starts_or_ends_late_or_recorded_no_start_has_no_other_clock(self, other):
        assert not list(clocks_apart({"a": host(1000, 60), "b": other}))

    @given(st.floats(5.1, 1e6), st.floats(0, 4), st.floats(0, 4))
    def test_an_offset_is_found_in_either_direction_whatever_the_start_and_the_end_add(self, offset, late, later):
        for sign in (1, -1):
            moved = host(1000 + sign * (offset + late), 60 + sign * later)
            assert list(clocks_apart({"a": host(1000, 60), "b": moved}))
