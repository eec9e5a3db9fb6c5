"""A training that runs in a container: by ch-run, which needs no privilege, in an image of this machine's Python."""

import json
from pathlib import Path

import pytest

from evalsuite import cli
from evalsuite.core.errors import Exit
from evalsuite.core.messages import from_json
from tests import charliecloud

TOYS = Path(__file__).resolve().parent / "toy_adapters"
TOYNET = ("--frameworks", "toynet", "--models", "toy", "--adapters", str(TOYS), "--scales", "1x1", "--repeats", "1")
TOYNET += ("--quiet-rounds", "0")

pytestmark = pytest.mark.skipif(charliecloud.missing() is not None, reason=str(charliecloud.missing()))


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    return charliecloud.make(tmp_path_factory.mktemp("image") / "toy", {"pip": "9.9"}, {"OMP_NUM_THREADS": "7"})


def compared(tmp_path, image, *words):
    """The exit code, and what the run recorded of its command and its end."""
    where = ("--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "report"), "--steps", "5+20")
    code = cli.main(["compare", *TOYNET, "--container", "charliecloud", "--image", str(image), *where, *words])
    run = next((tmp_path / "runs").glob("*/r0"))
    return code, *(json.loads((run / f"{name}.json").read_text()) for name in ("command", "outcome"))


def test_a_script_trains_in_the_image_and_its_versions_are_recorded(tmp_path, image, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", f"{Path.cwd()}:/nonsense")  # the host's own is no business of the image

    code, command, outcome = compared(tmp_path, image)

    assert (code, outcome["status"], outcome["exit_code"]) == (Exit.DONE, "completed", 0)
    assert (command["container"], command["recipe"]["image"]) == ("charliecloud", str(image))
    assert (command["packages"], command["framework_version"]) == ({"pip": "9.9"}, "9.9")
    value = json.loads((tmp_path / "report" / "summary.json").read_text())["summaries"][0]["throughput"]["value"]
    assert 100 < value <= 200  # 4 images in 20 ms


def test_an_image_that_cannot_start_is_the_platform_s_failure_in_the_runtime_s_words(tmp_path, image):
    empty = tmp_path / "empty"
    empty.mkdir()

    code, _, outcome = compared(tmp_path, empty, "--retries", "0")

    assert (code, outcome["fault"]) == (Exit.NOTHING_MEASURED, "infrastructure")
    assert from_json(outcome["reason"]).startswith("charliecloud: ch-run[")


def test_an_image_that_is_not_there_is_said_before_anything_runs(tmp_path, capsys):
    where = ("--runs", str(tmp_path / "runs"), "--out", str(tmp_path / "report"))

    code = cli.main(["compare", *TOYNET, "--container", "charliecloud", "--image", "/no/such/image", *where])

    assert code == Exit.NOTHING_MEASURED
    assert "/no/such/image does not exist here" in capsys.readouterr().err
