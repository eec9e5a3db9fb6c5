"""What is said of scripts that bend their own figure, and of honest ones that look odd, played (`tests/judgement`)."""

import pytest

from tests.judgement import played
from tests.judgement.played import Load
from tests.judgement.scripts import CASES, CRITERIA, TABLES, WHAT_IFS

BOTH = {**CASES, **WHAT_IFS}
ROWS = {name: row for rows in TABLES.values() for name, row in rows.items()}


@pytest.mark.parametrize("name", BOTH)
def test_no_script_is_ahead_by_what_leaves_a_trace_and_honest_ones_are(name):
    said = BOTH[name].judge()

    assert said.verdict in BOTH[name].accepted
    assert ROWS[name].get("finding", "") in said.words


@pytest.mark.parametrize(
    ("load", "told"),
    [
        (Load(share=0.1, spell_s=1.0), False),
        (Load(share=0.3, spell_s=10.0), False),
        (Load(share=0.6), True),  # steady: the rounds tell
        (Load(share=0.3, each_run=True), False),
    ],
    ids=["10 %, spells of 1 s", "30 %, spells of 10 s", "60 %, steady", "30 %, another level each run"],
)
def test_honest_scripts_keep_rank_and_speed_up_beside_other_programs(tmp_path, load, told):
    """The one that is 10 % faster is ahead or undecided; what the machine did is called neither missing nor a doubt."""
    (tmp_path / "criteria.toml").write_text(CRITERIA)
    ways = {"slow": ("plain", 0.11), "fast": ("plain", 0.1)}

    summary, _ = played.compare(tmp_path, ways, "toy", "1x1,1x2", "5", load=load)

    answers, rows = summary["answers"], summary["summaries"]
    assert [len(answer["ranked"]) for answer in answers] == [2, 2]
    assert {answer["outcome"] for answer in answers} <= ({"ahead"} if told else {"ahead", "not_decided"})
    assert all(answer["ranked"][0]["framework"] == "fast" for answer in answers if answer["outcome"] == "ahead")
    assert all((row["speedup"]["value"] == 1) == (row["case"]["devices_per_node"] == 1) for row in rows)
    assert {len(row["runs"]) for row in rows} <= set(range(5, 11))
