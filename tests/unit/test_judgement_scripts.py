"""What is said of scripts that bend their own figure, and of honest ones that look odd, played (`tests/judgement`)."""

import pytest

from tests.judgement.scripts import CASES, WHAT_IFS

BOTH = {**CASES, **WHAT_IFS}
FINDINGS = {
    **dict.fromkeys(("queued", "accuracy", "slow batches", "child"), "steps_unfinished"),
    **dict.fromkeys(("sleeps", "sleeps fast"), "cores_idle"),
    **{"one write": "printed_only", "before": "mostly_outside", "warm-up": "work_in_warmup", "fading": "D10"},
    **{"every second": "two_kinds_of_steps", "stamps": "clocks_far_apart", "attempts": "restarted"},
    **{"alone": "nothing_exchanged", "folders": "evaluated_before", "same loss": "loss_constant"},
    "beside": "busy_machine",
}


@pytest.mark.parametrize("name", BOTH)
def test_no_script_is_ahead_by_what_leaves_a_trace_and_honest_ones_are(name):
    said = BOTH[name].judge()

    assert said.verdict in BOTH[name].accepted
    assert FINDINGS.get(name, "") in said.words
