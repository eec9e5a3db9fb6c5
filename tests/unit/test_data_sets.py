"""Data sets: what is declared, what a folder must hold, what the manifest of a made-up one proves."""

import json
import re
import subprocess
from dataclasses import replace

import pytest

from evalsuite import cli
from evalsuite.commands import data
from evalsuite.contracts import registry
from evalsuite.contracts.adapter import Command, Recipe
from evalsuite.core.decode import encode
from evalsuite.core.documents import ReadData
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.model import Case
from evalsuite.launch.checks import doctor
from evalsuite.launch.provision import data_manifest, made_data, readiness
from evalsuite.launch.provision.data_manifest import Manifest
from evalsuite.plan import data_sets
from tests import goldens

DECLARED = data_sets.declared()
RECIPE = Recipe(name="r", model="m", dialect="d", command=lambda case: Command(argv=("train", "{data}/bert-npz/x")))
CASE = Case(framework="f", recipe="r", model="m", batch_per_device=2, device="cpu")
ZIP = bytes.fromhex("504b0304")


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALSUITE_DATA", str(tmp_path))
    return tmp_path


def make_set(root, name="bert-npz", shards=4, **changes):
    """A data set as `data make` leaves it, of other content."""
    declared = DECLARED.data_sets[name]
    for number in range(shards):
        for pattern in declared.layout:
            file = root / name / pattern.replace("*", str(number))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(bytes.fromhex(next(iter(declared.magic.values()), "")) + bytes([number % 256]))
    manifest = Manifest(
        name=name, source="sentences", seed=1, size="tiny", items={"train": 520}, decoded_sha256={"train": "a" * 64},
        format="gluonnlp", shards={"train": shards}, files=data_manifest.files_of(root / name), writer="plain",
        writer_sha256="b" * 64, packages={"numpy": "1"}, evalsuite="1",
    )  # fmt: skip
    text = json.dumps(encode(replace(manifest, **changes)))
    (root / name / data_manifest.NAME).write_text(text)
    return root / name


def test_every_data_set_that_a_recipe_may_read_can_be_made():
    """By the commands of each recipe, and by those of each of its cases that are kept as golden files."""
    built = {
        name
        for framework, adapter in registry.discover().items()
        for recipe in adapter.recipes
        for name in data_sets.of_recipe(framework, recipe)
    }
    kept = (file.read_text() for file in (goldens.FOLDER / "recipes").glob("*.txt"))
    written = {name for text in kept for name in re.findall(r"\{data\}/([\w.+-]+)", text)}

    assert {"imagenet", "bert-hdf5"} <= built & written
    assert built | written <= set(DECLARED.data_sets)


def test_the_profile_of_scripts_that_train_on_a_cpu_names_what_they_read(capsys, monkeypatch):
    asked = []
    monkeypatch.setattr(made_data, "make", lambda name, **how: asked.append(name))

    assert cli.main(["data", "make", "--for", "official-cpu"]) == Exit.DONE
    assert {"imagenet", "imagenet-lists", "bert-paddle", "chainer"} <= set(asked)


@pytest.mark.parametrize("name", DECLARED.data_sets)
def test_a_data_set_has_a_source_an_environment_and_a_writer_of_its_format(name):
    declared = DECLARED.data_sets[name]

    assert declared.source in DECLARED.sources
    assert declared.environment in DECLARED.environments
    assert declared.beside is None or declared.beside in DECLARED.data_sets
    writer = (data_sets.WRITERS / f"{declared.writer}.py").read_text()
    assert re.search(rf'^    "{declared.format}": |FORMATS = .*"{declared.format}": ', writer, re.MULTILINE)
    assert {*declared.magic, *filter(None, [declared.counted])} <= {*declared.layout, *declared.magic}
    for size in ("tiny", "full-shape", "full-shape/100"):
        counts, shards = (of(declared, data_sets.size(size)) for of in (data_sets.counts, data_sets.shards))
        assert all(shards[split] <= count for split, count in counts.items())


def test_every_environment_decodes_a_jpeg_by_the_same_library():
    pins = {pin for each in DECLARED.environments.values() for pin in each.pins if pin.startswith("pillow")}

    assert len(pins) == 1
    assert all(any(pin in each.pins for pin in pins) for each in DECLARED.environments.values())


def test_a_data_set_that_is_whole_serves_and_one_that_evalsuite_did_not_make_is_held_against_its_declaration(root):
    make_set(root)

    assert data_manifest.problem("bert-npz", ranks=4, thorough=True) is None
    [facts] = readiness.data_facts(CASE, RECIPE)
    assert (facts.source, facts.seed, facts.decoded_sha256) == ("sentences", 1, {"train": "a" * 64})

    (make_set(root) / data_manifest.NAME).unlink()

    assert data_manifest.problem("bert-npz") is None
    assert readiness.data_facts(CASE, RECIPE) == (ReadData(name="bert-npz"),)


@pytest.mark.parametrize(
    ("break_it", "ranks", "words"),
    [
        (lambda folder: None, 5, "has 4 files train/*.npz and 5 are wanted"),
        (lambda folder: [file.unlink() for file in (folder / "dev").iterdir()], 1, "has no dev/*.npz"),
        (lambda folder: (folder / "train" / "0.npz").write_bytes(b"text"), 1, "does not begin like the files"),
        (lambda folder: (folder / "train" / "3.npz").write_bytes(ZIP), 1, "train: it differs from the manifest"),
        (lambda folder: (folder / "train" / "3.npz").write_bytes(ZIP + b"x"), 1, "train: it differs from the manifest"),
        (lambda folder: (folder / "train" / "3.npz").rename(folder / "train" / "4.npz"), 1, "it differs from"),
        (lambda folder: (folder / data_manifest.NAME).write_text("{"), 1, "MANIFEST.json"),
    ],
)
def test_a_data_set_that_does_not_serve_is_refused_by_name(root, capsys, break_it, ranks, words):
    break_it(make_set(root))

    assert words in data_manifest.problem("bert-npz", ranks, thorough=True)
    if ranks == 1:
        assert cli.main(["data", "check", "bert-npz"]) == Exit.USAGE
        assert words in capsys.readouterr().out


def test_a_data_set_that_is_absent_can_be_made_in_its_share_and_a_recipe_names_those_of_its_axis():
    assert "evalsuite data make bert-npz makes it up" in data_manifest.problem("bert-npz")
    for elsewhere in ("my-own", "/dev/zero", "..", "../../etc"):
        assert "makes it up" not in data_manifest.problem(elsewhere)

    declared = DECLARED.data_sets["imagenet-tfrecord"]
    assert data_sets.counts(declared, data_sets.size("full-shape/100")) == {"train": 12_812, "validation": 500}
    assert str(data_sets.size("full-shape/100")) == "full-shape/100"

    recipe = replace(
        RECIPE,
        options={"data": ("synthetic", "records")},
        command=lambda case: Command(argv=("{data}/imagenet",) if case.option("data") == "records" else ()),
    )

    assert data_sets.of_recipe("f", recipe) == ["imagenet"]


def first_lack():
    lacks = readiness.lacking()
    return lambda case, recipe: next(lacks(case, recipe), None)


def test_a_case_of_more_ranks_than_shards_or_of_other_items_is_a_skip_and_data_of_another_seed_are_refused(root):
    make_set(root)
    refused = first_lack()
    assert refused(CASE.at_scale(1, 4), RECIPE) is None
    assert "bert-npz has 4 files" in refused(CASE.at_scale(2, 4), RECIPE)

    make_set(root)
    make_set(root, "bert-paddle", seed=2, decoded_sha256={"train": "c" * 64})
    other = replace(RECIPE, command=lambda case: Command(argv=("{data}/bert-paddle/train",)))

    refused = first_lack()

    assert [refused(CASE, recipe) is None for recipe in (RECIPE, other, RECIPE)] == [True, False, True]
    assert "hold different sentences" in refused(CASE, other)

    problem = data_manifest.differing(["bert-npz", "bert-paddle"])

    assert "bert-paddle (seed 2, tiny) and bert-npz (seed 1, tiny)" in problem
    assert data_manifest.differing(["bert-npz"]) is None


def test_files_that_do_not_divide_among_the_loaders_of_all_ranks_are_refused(root):
    make_set(root, "bert-lddl", shards=16)

    assert data_manifest.problem("bert-lddl", ranks=4) is None
    assert "a multiple of 12 is wanted" in data_manifest.problem("bert-lddl", ranks=3)


def test_doctor_tells_of_each_data_set_and_whether_they_hold_the_same(root):
    assert [(check.name, check.state) for check in doctor.data()] == [("data sets", "later")]
    make_set(root)
    make_set(root, "bert-paddle", seed=2, decoded_sha256={"train": "c" * 64})
    (make_set(root, "gpt2") / "gpt2-vocab.json").unlink()

    found = {check.name: (check.state, check.detail) for check in doctor.data()}

    assert found["bert-npz"] == ("ok", "made up: tiny, seed 1")
    assert found["gpt2"][0] == "broken" and "has no gpt2-vocab.json" in found["gpt2"][1]
    assert found["bert-paddle"] == ("ok", "made up: tiny, seed 2")
    assert found["data sets"][0] == "broken" and "hold different sentences" in found["data sets"][1]


@pytest.mark.parametrize("files", [(), ("train.rec", "train.idx", "val.rec", "val.idx")])
def test_submit_refuses_data_that_do_not_serve_before_a_node_is_taken(root, capsys, files):
    (root / "imagenet-recordio").mkdir()
    for name in files:
        (root / "imagenet-recordio" / name).write_bytes(bytes.fromhex("0a23d7ce"))
    asked = ["submit", "--profile", "full", "--frameworks", "ngc_mxnet", "--recipe", "resnet50", "--scales", "1x8"]
    asked += ["--option", "data=dali-gpu", "--container", "pyxis", "--device", "gpu", "--runs", str(root / "runs")]

    assert cli.main(asked) == Exit.NOTHING_MEASURED and not (root / "runs").exists()
    assert ("imagenet-recordio" in "".join(capsys.readouterr())) == (not files)


def test_what_evalsuite_did_not_make_or_made_otherwise_is_not_replaced(root):
    folder = make_set(root)

    with pytest.raises(EvalsuiteError, match="made with other settings"):
        made_data.make("bert-npz", seed=2)
    (folder / data_manifest.NAME).unlink()
    with pytest.raises(EvalsuiteError, match="did not make"):
        made_data.make("bert-npz", again=True)


def test_the_data_of_a_profile_are_those_that_the_scripts_of_its_participants_read():
    wanted = dict(data._wanted("dlperf", registry.discover()))

    assert {"imagenet-recordio", "imagenet-tfrecord"} <= {*wanted}


def test_a_data_set_has_as_many_files_as_are_asked_for_and_a_longer_pass_where_items_can_repeat():
    full, parts = data_sets.size("full-shape*25"), DECLARED.data_sets["imagenet-ofrecord"]

    assert data_sets.shards(parts, data_sets.fitting("imagenet-ofrecord", full, 1024, 0)) == {
        "train": 1024,
        "validation": 1024,  # the script names one number for both
    }
    assert data_sets.shards(parts, data_sets.fitting("imagenet-ofrecord", data_sets.TINY, None, 1024))["train"] == 256
    assert [data_sets.fitting(name, full, None, 0).times for name in ("imagenet-lists", "imagenet-ofrecord")] == [25, 1]
    with pytest.raises(EvalsuiteError, match="1024 files for 256 items"):
        data_sets.fitting("imagenet-ofrecord", data_sets.TINY, 1024, 0)


@pytest.mark.parametrize("words", [["--size", "full-shape*2"], ["--size", "full-shape*0"], ["--parts", "1024"]])
def test_what_no_data_set_can_be_is_refused_before_the_first_is_made(root, words, capsys):
    assert cli.main(["data", "make", "criteo-ofrecord", "imagenet-ofrecord", *words]) == Exit.USAGE
    assert [*root.iterdir()] == [] and re.search("Try|there are", capsys.readouterr().err)


def test_a_file_where_data_sets_are_kept_is_said(root, monkeypatch, capsys):
    (root / "file").touch()
    monkeypatch.setenv("EVALSUITE_DATA", str(root / "file"))

    assert cli.main(["data", "make", "chainer"]) == Exit.USAGE and "a folder is needed" in capsys.readouterr().err


def test_how_large_and_how_long_stands_before_the_first_is_made(root, capsys, monkeypatch):
    monkeypatch.setattr(made_data, "make", lambda name, **asked: root / name)

    assert cli.main(["data", "make", "imagenet", "bert-npz", "--size", "full-shape"]) == Exit.DONE
    said = capsys.readouterr().err
    assert "2 to make: up to 216 GB of the" in said and "about 6.5 hours of one core" in said


def test_what_a_plan_lacks_is_one_script_of_the_shell_and_what_is_there_is_not_in_it(root, capsys, monkeypatch):
    monkeypatch.setenv("EVALSUITE_CACHE", str(root / "cache"))
    asked = ["plan", "--profile", "tianshu", "--hosts", "a:8,b:8", "--scales", "1x8,2x8", "--prepare"]

    assert cli.main(asked) == Exit.DONE
    script = capsys.readouterr().out
    assert subprocess.run(["sh", "-n"], input=script, text=True).returncode == 0
    for line in (
        "evalsuite env repositories dllogger gluon-cv",
        "evalsuite data make bert-npz --size full-shape  #",
        "evalsuite data make imagenet-ofrecord --size full-shape --parts ",
        "evalsuite env create oneflow/models-resnet50",
        "insightface/partial-fc-mxnet-2020 --device gpu",
        "\nhosts=a,b\n",
        'evalsuite doctor --hosts "$hosts" -- docker pull nvcr.io/nvidia/pytorch:20.03-py3',
    ):
        assert line in script

    make_set(root, shards=16)
    cli.main(asked)
    assert "data make bert-npz" not in capsys.readouterr().out


FAR = replace(CASE, batch_per_device=128, device="gpu")  # 121 steps of it want 15,488 images a device


@pytest.mark.parametrize(
    ("epoch", "scale", "largest"),
    [
        (1_281_167, (10, 8), None),  # 125 steps
        (1_281_167, (16, 8), "10x8"),
        (50_000, (1, 8), "1x3"),
        (10_000, (1, 1), "none"),
        (None, (125, 8), None),  # it counts steps
        ("bert-npz", (125, 8), None),  # 35,000,001 of the original
    ],
)
def test_warm_up_and_window_lie_in_one_pass_over_the_data_or_the_largest_scale_is_named(epoch, scale, largest):
    found = data_sets.refusal()(FAR.at_scale(*scale), replace(RECIPE, epoch=lambda case: epoch))

    assert (found is None) if largest is None else found.values["largest"] == largest


def test_of_a_data_set_that_was_made_its_own_items_count(root):
    make_set(root)  # 520 items

    found = data_sets.refusal(data_manifest.training_items)(FAR, replace(RECIPE, epoch=lambda case: "bert-npz"))

    assert "520 items of bert-npz" in found


def test_of_a_data_set_of_others_what_its_files_tell_counts(root):
    assert data_manifest.training_items("imagenet") is None  # not there
    for name in ("train/a/1.JPEG", "train/a/2.JPEG", "train/b/3.JPEG", "val/a/4.JPEG"):
        (root / "imagenet" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "imagenet" / name).write_bytes(b"")
    (root / "imagenet-lists").mkdir()
    (root / "imagenet-lists" / "train_list.txt").write_text("train/a/1.JPEG 0\ntrain/b/3.JPEG 1\n")
    (root / "imagenet-recordio").mkdir()

    assert data_manifest.training_items("imagenet") == 3
    for scale, size in (((1, 1), "full-shape`"), ((125, 8), "full-shape*13`")):
        found = data_sets.refusal(data_manifest.training_items)(
            FAR.at_scale(*scale), replace(RECIPE, epoch=lambda case: "imagenet")
        )
        assert found.endswith(f"evalsuite data make imagenet --size {size}")
    assert data_manifest.training_items("imagenet-lists") == 2
    assert data_manifest.training_items("imagenet-recordio") is None  # a file of many


def test_each_rank_has_a_file_of_those_that_the_command_names(root):
    make_set(root, "criteo-ofrecord", shards=300)
    recipe = registry.discover()["oneflow"].recipe("wide-deep")
    case = replace(FAR, framework="oneflow", recipe=recipe.name, model=recipe.model).at_scale(64, 8)
    named = replace(case, options=(("data_parts", "512"),))

    assert "256 of criteo-ofrecord" in data_sets.refusal()(case, recipe)
    assert data_sets.refusal()(named, recipe) is None
    assert "300" in next(readiness.lacking()(named, replace(recipe, checkout="")))


def test_plan_skips_what_cannot_meet_the_protocol_and_ends_with_3_where_that_is_all(capsys):
    case = ["--recipe", "gluoncv-resnet50", "--frameworks", "mxnet", "--batch-sizes", "128", "--scales", "16x8"]
    hosts = ",".join(f"h{number}:8" for number in range(16))

    assert cli.main(["plan", "--profile", "full", *case, "--hosts", hosts, "--commands"]) == Exit.NOTHING_MEASURED
    assert "the largest scale that fits at this batch is 10x8" in capsys.readouterr().out


@pytest.mark.parametrize("longer", [False, True])
def test_each_participant_of_tianshu_has_a_full_window_at_every_scale_or_a_reason_by_name(root, capsys, longer):
    for name in ("imagenet", "imagenet-lists") if longer else ():
        make_set(root, name, source="images", size="full-shape*25", items={"train": 25 * 1_281_167}, shards=1)
    hosts = ",".join(f"gpu{number}:8" for number in range(125))

    cli.main(["plan", "--profile", "tianshu", "--hosts", hosts, "--scales", "16x8,32x8,64x8,125x8", "--json"])

    skips = json.loads(capsys.readouterr().out)["skips"]
    short = {skip["id"].split("-")[0] for skip in skips if "a pass over" in skip["reason"]}
    assert short == ({"mxnet"} if longer else {"mxnet", "ngc_pytorch", "paddlepaddle", "pytorch"})
    assert not any("want a file each" in skip["reason"] for skip in skips)
    assert all("largest scale that fits" in skip["reason"] for skip in skips if "a pass over" in skip["reason"])
