import importlib.util
import json

import pytest

from evalsuite import paths

EXAMPLES = paths.DATA.parent / "docs" / "examples"


@pytest.fixture(scope="module")
def rebuilt():
    spec = importlib.util.spec_from_file_location("rebuild_recorded", paths.DATA.parent / "tools/rebuild_recorded.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.evaluations()


@pytest.mark.parametrize("name", ["cpu-quick", "recorded"])
def test_the_example_shows_what_the_recorded_runs_give_today(name, rebuilt):
    kept = json.loads((EXAMPLES / name / "summary.json").read_text(encoding="utf-8"))

    shown = {one["case"]["id"]: one["throughput"] and one["throughput"]["value"] for one in kept["summaries"]}

    assert shown == {one.case.id: one.items_per_s and one.items_per_s.value for one in rebuilt[name].summaries}
    assert len(shown) >= 8
