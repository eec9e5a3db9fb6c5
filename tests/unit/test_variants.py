"""Variants as axes of a spec: variables, arguments, images, versions; and the rules that leave cases in or out."""

from evalsuite.plan import plan, spec
from evalsuite.plan.plan import Machine
from evalsuite.plan.variants import varied
from tests.toys import toynet

MACHINE = Machine(cores=8, accelerators=0, device="cpu")
HEAD = 'frameworks = ["toynet", "othernet"]\nscales = ["1x1", "1x2"]\n'
ONE_OFF = '[[variants]]\nname = "one-off"\nenvironment = { ONE = "0", TWO = 2 }\narguments = ["--fast"]\n'
PINS = {"requirements": ("Toy==1.5.0", "toyvision==0.3", "--extra-index-url"), "package": "toy"}


def asked(folder, text, head=HEAD):
    (folder / "mine.toml").write_text(head + text)
    found = spec.read(folder / "mine.toml")
    adapters = {"toynet": toynet(**PINS), "othernet": toynet("othernet")}
    given = varied(adapters, found.variants, found.versions, found.frameworks)
    return plan.plan(found, given, MACHINE), given


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
    found = spec.read(tmp_path / "a.toml")

    made = plan.plan(found, varied(adapters, found.variants, (), found.frameworks), MACHINE)

    assert (len(made.cases), len(made.skips)) == (2, 2)


def test_each_version_and_image_is_a_recipe_with_an_environment_of_its_own(tmp_path):
    made, adapters = asked(tmp_path, 'versions = ["toy==1.5.*", "toy==2.0.1"]\n')
    imaged, images = asked(tmp_path, '[[variants]]\nname = "new"\nimage = "example/toy:2"\nframeworks = ["toynet"]\n')

    names = {case.recipe for case in made.cases if case.framework == "toynet"}
    assert names == {"reference-resnet50@1.5", "reference-resnet50@2.0.1"}
    pins = adapters["toynet"].recipe("reference-resnet50@2.0.1").pins("cpu")
    assert pins == ("Toy==2.0.1", "toyvision", "--extra-index-url")
    assert {case.recipe for case in made.cases if case.framework == "othernet"} == {"reference-resnet50"}
    assert {case.recipe for case in imaged.cases} == {"reference-resnet50", "reference-resnet50@new"}
    assert images["toynet"].recipe("reference-resnet50@new").image == "example/toy:2"


def test_rules_leave_cases_in_and_out(tmp_path):
    out, _ = asked(tmp_path, '[[exclude]]\nframework = "othernet"\nscale = "1x2"\n')
    only, _ = asked(tmp_path, ONE_OFF + '[[include]]\nvariant = "one-off"\nframework = "toy*"\n')

    assert [(case.framework, case.scale) for case in out.cases] == [
        ("toynet", "1x1"),
        ("othernet", "1x1"),
        ("toynet", "1x2"),
    ]
    assert {(case.framework, case.option("variant")) for case in only.cases} == {("toynet", "one-off")}
