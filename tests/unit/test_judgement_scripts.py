"""What is said of scripts that bend their own figure, and of honest ones that look odd, played (`tests/judgement`)."""

import pytest

from tests.judgement.scripts import CASES, WHAT_IFS

BOTH = {**CASES, **WHAT_IFS}
FINDINGS = {
    **{
        "one write": "printed_only",
        "queued": "steps_unfinished",
        "before": "mostly_outside",
        "warm-up": "work_in_warmup",
    },
    **{
        "every second": "two_kinds_of_steps",
        "stamps": "clocks_far_apart",
        "attempts": "restarted",
        "alone": "nothing_exchanged",
    },
    **{
        "sleeps": "cores_idle",
        "folders": "evaluated_before",
        "same loss": "loss_constant",
        "accuracy": "mostly_outside",
    },
}


@pytest.mark.parametrize("name", BOTH)
def test_no_script_is_ahead_by_what_leaves_a_trace_and_honest_ones_are(name):
    said = BOTH[name].judge()

    assert said.verdict in BOTH[name].accepted
    assert FINDINGS.get(name, "") in said.words
