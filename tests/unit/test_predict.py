"""`evalsuite predict`: tables, reports and what is refused (docs/method.md#extrapolation)."""

import json

import pytest

from evalsuite import cli
from evalsuite.core.errors import Exit
from tests import sources

HEAD = "framework,model,nodes,gpus_per_node,batch_per_device,precision,throughput,unit"
WEAK = [(1, 1, 128, 100), (1, 2, 128, 198), (1, 4, 128, 392), (1, 8, 128, 776), (2, 8, 128, 1520)]


@pytest.fixture
def ask(tmp_path, capsys):
    def run(rows, *options):
        lines = [
            f"pytorch,resnet50_v1.5,{nodes},{gpus},{batch},fp32,{rate},images/s" for nodes, gpus, batch, rate in rows
        ]
        table = tmp_path / "table.csv"
        table.write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
        code = cli.main(["predict", str(table), *options])
        return code, capsys.readouterr().out

    return run


def test_a_table_of_weak_scaling_is_continued_to_twice_its_scale_with_interval_and_error_in_both_languages(ask):
    code, out = ask(WEAK, "--to", "32,8x8", "--json")

    (series,) = json.loads(out)
    (forecast,) = series["forecasts"]
    speed = forecast["items_per_s"]
    assert (code, forecast["scale"], forecast["distance"]) == (Exit.DONE, "4x8", 2.0)
    assert 2 * 1520 * 0.9 < speed["low"] < speed["value"] < 2 * 1520 < speed["high"]
    assert [each["scale"] for each in series["refused"]] == ["8x8"]
    assert forecast["validation"]["sources"] >= 10
    assert "lay inside such an interval made without their source" in ask(WEAK, "--to", "32", "--lang", "en")[1]
    assert "落在不用其来源定出的这种区间内" in ask(WEAK, "--to", "32", "--lang", "zh")[1]


@pytest.mark.parametrize(("rows", "to", "reason"), sources.cases("predict.toml")["published_series_carries"])
def test_what_no_published_series_carries_is_refused_with_its_reason(ask, rows, to, reason):
    code, out = ask(rows, "--to", to, "--lang", "en")

    assert code == Exit.UNDETERMINED
    assert reason in out
    assert "≈" not in out


def test_a_batch_that_nobody_states_is_asked(ask):
    assert ask([(nodes, gpus, "", rate) for nodes, gpus, _, rate in WEAK], "--to", "32")[0] == Exit.NOTHING_MEASURED


def test_the_series_of_a_finished_report_are_continued_as_its_own_section_does(built, capsys):
    cli.main(["predict", str(built("ladder").folder), "--to", "64", "--lang", "en"])

    assert "8x8, 2× as many devices: ≈" in capsys.readouterr().out
