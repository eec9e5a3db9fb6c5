"""What the sections on data quality and on repeating the evaluation leave out, and how they name cases."""

from dataclasses import replace

import pages
import pytest
import synthetic

from evalsuite import report


def section(evaluation, folder, name):
    report.build(evaluation, folder)
    return pages.read((folder / "report.html").read_text(encoding="utf-8")).one("section", id=name)


def noisy(batch):
    of = synthetic.case(batch_per_device=batch)
    return synthetic.summary(
        [synthetic.measured(of, repeat, value) for repeat, value in enumerate((60.0, 80.0, 100.0))]
    )


def test_two_noisy_cases_of_one_framework_and_scale_are_told_apart(tmp_path):
    found = section(synthetic.evaluation([noisy(8), noisy(16)]), tmp_path, "quality")

    table = next(one for one in found.all("table") if "CV" in one.one("caption").text("en"))
    names = [row[0] for row in pages.rows(table)]
    assert len(names) == len(set(names)) == 2
    assert all(name.startswith("PyTorch · ResNet-50 v1.5") for name in names)


@pytest.mark.parametrize(("evaluation", "failed"), [(synthetic.quick, False), (synthetic.partial, True)])
def test_a_failure_has_its_part_and_parts_with_nothing_to_show_are_one_line_and_no_heading(
    tmp_path, evaluation, failed
):
    found = section(evaluation(), tmp_path, "quality")

    headings = [head["id"] for head in found.all("h3")]
    assert ("quality-failures" in headings) is failed and "quality-skips" not in headings
    assert ("No run failed." in found.text("en")) is not failed and "No case was skipped." in found.text("en")


def test_nobody_planned_or_made_the_runs_of_published_figures(tmp_path):
    quick = synthetic.quick()
    cited = [synthetic.summary(replace(run, origin="cited") for run in one.measurements) for one in quick.summaries]
    found = section(replace(quick, summaries=tuple(cited)), tmp_path, "quality").one("dl", id="counts-table")

    assert "Runs valid" in found.text("en") and "Runs planned" not in found.text("en")


@pytest.mark.parametrize(
    ("profile", "command"),
    [("full", "make report PROFILE=full"), ("official-cpu", "make official"), ("custom", None), ("../quick", None)],
)
def test_a_command_repeats_the_whole_where_the_plan_comes_with_evalsuite(tmp_path, profile, command):
    found = section(replace(synthetic.quick(), profile=profile), tmp_path, "reproduction")

    commands = [one.text("en") for one in found.all("pre")][:1] if command else []
    assert commands == ([command] if command else [])
    assert ("no one command repeats" in found.text("en")) == (command is None)
