"""Participants of a spec: who trains each matrix, in which image or environment."""

import json
import sys
from dataclasses import replace

import pytest

from evalsuite import cli
from evalsuite.contracts import registry
from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.plan import plan, spec, variants
from evalsuite.plan.plan import Machine
from evalsuite.plan.variants import Participant, varied
from evalsuite.report.sections.reproduction import provenance
from tests.toys import CASE, COMMAND, toynet

NGC = 'framework = "ngc_pytorch"\nrecipes = ["resnet50-2020", "bert-base-2020"]\nimage = "ngc:20.03"\n'
PLAIN = 'title = "PyTorch plain"\nframework = "pytorch"\nrecipes = ["examples-imagenet"]\nenvironment = "managed"\n'
TABLES = f"[[participant]]\n{NGC}[[participant]]\n{PLAIN}"
HEAD = """models = ["resnet50_v1.5", "bert_base"]
scales = ["1x1", "1x8", "2x8"]
batch_per_device = [64]
container = "docker"
repeats = 2
"""


@pytest.fixture
def planned(tmp_path, capsys):
    """(exit code, the plan as JSON or the error) of a spec with this text."""

    def planned(text, *words, commands=False):
        file = tmp_path / "lab.toml"
        file.write_text(text)
        more = ("--commands",) if commands else ("--json",)
        code = cli.main(["plan", "--spec", str(file), "--hosts", "a:8,b:8", *more, *words])
        out = capsys.readouterr()
        return code, (out.out if commands else json.loads(out.out)) if code != Exit.USAGE else out.err

    return planned


def test_each_makes_the_parts_whose_model_it_has_a_recipe_for(planned, tmp_path):
    code, found = planned(HEAD + TABLES)

    rows = {(case["framework"], case["model"]) for case in found["cases"]}
    assert (code, found["skips"]) == (Exit.DONE, [])
    assert rows == {("ngc_pytorch", "resnet50_v1.5"), ("ngc_pytorch", "bert_base"), ("PyTorch_plain", "resnet50_v1.5")}
    assert len(found["cases"]) == 9
    matrices = spec.read(tmp_path / "lab.toml").matrices()  # a matrix each: repeats of all are interleaved
    assert [matrix.frameworks for matrix in matrices] == [("ngc_pytorch",), ("PyTorch_plain",)]


def test_each_is_started_in_its_own_image_and_options_go_to_the_recipes_that_take_them(planned):
    _, shown = planned(HEAD + TABLES, "--scales", "1x1", commands=True)
    ngc, plain = (shown.split(f"# {name}-")[-1] for name in ("ngc_pytorch", "PyTorch_plain"))
    assert "docker run" in ngc and "ngc:20.03" in ngc
    assert "docker" not in plain.split("\n# ")[0] and "{python}" in plain

    _, found = planned(HEAD + f'[[participant]]\n{NGC}options = {{ data = "dali-gpu" }}\n[[participant]]\n{PLAIN}')
    ids = [case["id"] for case in found["cases"] if case["framework"] == "ngc_pytorch"]
    assert all(("data=dali-gpu" in name) == ("resnet50" in name) for name in ids)


def test_one_that_is_no_table_is_refused(tmp_path):
    (tmp_path / "s.toml").write_text("participant = [3]\n", encoding="utf-8")

    with pytest.raises(EvalsuiteError, match="participant 1: got 3; expected a table"):
        spec.read(tmp_path / "s.toml")


def test_one_is_chosen_on_the_command_line(planned):
    _, found = planned(
        HEAD + TABLES + '[[exclude]]\nframework = ["ngc_pytorch"]\nscale = ["2x8"]\n',
        *("--participant", "PyTorch plain", "--scales", "1x1,1x8"),
    )

    assert {case["framework"] for case in found["cases"]} == {"PyTorch_plain"}
    assert {case["scale"] for case in found["cases"]} == {"1x1", "1x8"}


def hosts(nodes: int) -> str:
    return ",".join(f"gpu{number:03}:8" for number in range(nodes))


@pytest.mark.parametrize(
    ("name", "nodes", "scales", "models"),
    [("tianshu", 125, {"1x1", "1x8", "125x8"}, 5), ("dlperf", 4, {"1x1", "1x4", "1x8", "2x8", "4x8"}, 5)],
)
def test_a_published_matrix_has_rows_of_every_participant_at_every_size(name, nodes, scales, models, capsys):
    code = cli.main(["plan", "--profile", name, "--hosts", hosts(nodes), "--json"])

    cases = json.loads(capsys.readouterr().out)["cases"]
    assert code == Exit.DONE
    assert {case["framework"] for case in cases} == {each.name for each in spec.profile(name).participants}
    assert scales <= {case["scale"] for case in cases} and len({case["model"] for case in cases}) == models


@pytest.mark.parametrize("name", ["tianshu", "dlperf"])
def test_a_copy_of_a_published_matrix_is_planned_as_the_original(name, tmp_path, capsys):
    text = (paths.DATA / "specs" / f"{name}.toml").read_text()
    (tmp_path / "lab.toml").write_text(text)
    found = []
    for source in (["--profile", name], ["--spec", str(tmp_path / "lab.toml")]):
        cli.main(["plan", *source, "--hosts", hosts(4), "--scales", "1x8", "--json"])
        found.append([case["id"] for case in json.loads(capsys.readouterr().out)["cases"]])

    assert found[0] == found[1]
    assert {name.rpartition("-")[2].partition("x")[0] for name in found[0]} == {"1"}


def test_two_of_one_framework_have_adapters_of_their_own():
    known = registry.discover()
    twice = Participant(title="Paddle 2", framework="paddlepaddle", recipes=("paddleclas-resnet50",), image="x")

    found = variants.with_participants(known, [twice])

    assert found["Paddle_2"].title == "Paddle 2" and found["paddlepaddle"] is known["paddlepaddle"]
    with pytest.raises(EvalsuiteError, match="recipe"):
        variants.with_participants(known, [Participant(framework="mxnet", recipes=("x",), image="y")])


def test_what_is_not_known_yet_is_priced_by_what_the_spec_says(planned, tmp_path, capsys):
    planned(HEAD + "expected_run_s = 360\n" + TABLES)

    cli.main(["plan", "--spec", str(tmp_path / "lab.toml"), "--hosts", "a:8,b:8"])

    last = capsys.readouterr().out.splitlines()[-1]  # 9 cases of 2 repeats of 0.1 h, 3 of each scale
    assert "1 h 48 min" in last and "15.00 device-hours, 2.40 node-hours" in last
    cli.main(["plan", "--spec", str(tmp_path / "lab.toml"), "--hosts", "a:8,b:8", "--steps", "20+1000"])
    assert "unknown" in capsys.readouterr().out.splitlines()[-1]


def test_a_command_for_the_reader_names_the_participants_and_leaves_the_spec_to_him():
    ran = replace(COMMAND, recipe=replace(COMMAND.recipe, participant="PyTorch plain"))

    titles = provenance.participant_titles([ran, ran, COMMAND])
    words = provenance.rerun_command([replace(CASE, framework="PyTorch_plain")], repeats=5, participants=titles)

    assert words[4:8] == ("--spec", "SPEC.toml", "--participant", "PyTorch plain")
    assert "--frameworks" not in words and "--recipe" not in words


# variants as axes of a spec: variables, arguments; and the rules that leave cases in or out


MACHINE = Machine(cores=8, accelerators=0, device="cpu")
HEAD_OF_VARIANTS = 'frameworks = ["toynet", "othernet"]\nscales = ["1x1", "1x2"]\n'
ONE_OFF = '[[variants]]\nname = "one-off"\nenvironment = { ONE = "0", TWO = 2 }\narguments = ["--fast"]\n'
PINS = {"requirements": ("Toy==1.5.0", "toyvision==0.3", "--extra-index-url"), "package": "toy"}


def asked(folder, text, head=HEAD_OF_VARIANTS):
    (folder / "mine.toml").write_text(head + text)
    request = spec.read(folder / "mine.toml")
    adapters = {"toynet": toynet(**PINS), "othernet": toynet("othernet")}
    given = varied(adapters, request.variants)
    return plan.plan(request, given, MACHINE), given


def test_each_variant_is_an_axis_beside_the_script_or_of_one_framework_alone(tmp_path):
    made, adapters = asked(tmp_path, ONE_OFF)

    assert [case.option("variant") for case in made.cases if case.framework == "toynet"] == [None, "one-off"] * 2
    plain, other = (adapters["toynet"].recipe("reference-resnet50").command(case) for case in made.cases[:2])
    assert other.argv == (*plain.argv, "--fast")
    assert dict(other.environment) == {**plain.environment, "ONE": "0", "TWO": "2"}
    assert made.cases[0].id != made.cases[1].id

    made, _ = asked(tmp_path, ONE_OFF + 'frameworks = ["toynet"]\n')
    assert {case.framework for case in made.cases if case.option("variant")} == {"toynet"}
    assert len(made.cases) == 2 * 2 + 2


def test_an_unsupported_case_stays_one_in_every_variant(tmp_path):
    adapters = {"toynet": toynet(unsupported=lambda case: "no" if case.option("variant") or case.nodes > 1 else None)}
    (tmp_path / "a.toml").write_text('frameworks = ["toynet"]\nscales = ["1x1", "2x1"]\n' + ONE_OFF)
    request = spec.read(tmp_path / "a.toml")

    made = plan.plan(request, varied(adapters, request.variants), MACHINE)

    assert (len(made.cases), len(made.skips)) == (2, 2)


def test_a_version_replaces_the_pin_of_a_participant_and_frees_the_others():
    asked = Participant(
        framework="toynet", recipes=("reference-resnet50",), title="Toy 2", environment="managed", version="2.0.1"
    )
    made = variants.with_participants({"toynet": toynet(**PINS)}, [asked])

    assert made["Toy_2"].recipe("reference-resnet50").pins("cpu") == ("Toy==2.0.1", "toyvision", "--extra-index-url")
    assert made["toynet"].recipe("reference-resnet50").pins("cpu") == PINS["requirements"]


def test_rules_leave_cases_in_and_out(tmp_path):
    out, _ = asked(tmp_path, '[[exclude]]\nframework = "othernet"\nscale = "1x2"\n')
    only, _ = asked(tmp_path, ONE_OFF + '[[include]]\nvariant = "one-off"\nframework = "toy*"\n')

    expected = [("toynet", "1x1"), ("othernet", "1x1"), ("toynet", "1x2")]
    assert [(case.framework, case.scale) for case in out.cases] == expected
    assert {(case.framework, case.option("variant")) for case in only.cases} == {("toynet", "one-off")}


@pytest.mark.parametrize(
    ("units", "said"),
    [
        (("images/s", "samples/s", "images/s"), "a, c | b (unit images/s ≠ samples/s)"),
        (("images/s", "images/s", "images/s"), None),
    ],
)
def test_plan_says_who_will_not_be_ranked_together(units, said, tmp_path, capsys):
    table = '[[participant]]\nname = "{}"\npython = "{}"\nunit = "{}"\n'
    table += 'command = "python3 t.py {{batch_per_device}} {{steps}}"\n'
    text = "".join(table.format(name, sys.executable, unit) for name, unit in zip("abc", units, strict=True))
    (tmp_path / "t.py").touch()
    (tmp_path / "lab.toml").write_text(f'models = ["toy"]\n{text}')

    assert cli.main(["plan", "--lang", "en", "--device", "cpu", "--spec", str(tmp_path / "lab.toml")]) == Exit.DONE
    out = capsys.readouterr().out
    assert (said in out) if said else "Not ranked together" not in out
