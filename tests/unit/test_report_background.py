"""Section 2: what stands in it of frameworks, machines, settings and rules."""

from dataclasses import replace

import pages
import pytest
import synthetic

from evalsuite import report
from evalsuite.core.documents import HostEnvironment, Interface
from evalsuite.core.model import Fact
from evalsuite.report.book import blocks
from evalsuite.report.book.book import Book
from evalsuite.report.book.participants import participants
from evalsuite.report.sections.background import background, machines
from evalsuite.report.sections.common.section import Subject
from evalsuite.report.text import words
from tests import sources

GPUS = HostEnvironment.from_json({"schema": 1, "host": "a", "gpus": [{"name": "V100"}] * 4}, "here").gpus


@pytest.fixture(scope="module")
def section(tmp_path_factory):
    folder = tmp_path_factory.mktemp("background")
    report.build(synthetic.quick(), folder)
    return pages.read((folder / "report.html").read_text(encoding="utf-8")).one("section", id="background")


def with_commands(evaluation, **recipe):
    commands = {
        run: replace(command, recipe=replace(command.recipe, **recipe)) for run, command in evaluation.commands.items()
    }
    return replace(evaluation, commands=commands)


def facts_of(evaluation):
    return machines.machines(Book(evaluation=evaluation))["facts"]


def on(evaluation, **changes):
    """The evaluation on one machine that is changed so."""
    [(key, host)] = evaluation.environments.items()
    return replace(evaluation, environments={key: replace(host, **changes)})


@pytest.mark.parametrize(("language", "words"), sources.cases("report_background.toml")["batch_sizes_xla_amp"])
def test_batch_sizes_the_largest_scale_and_the_options_in_use_are_explained(section, built, language, words):
    text, used = (part.text(language) for part in (section, built("options").page.one("section", id="background")))

    assert [word for word in words if word not in text] == []
    assert ["XLA" in used, "AMP" in used, "XLA" in text, "AMP" in text] == [True, True, False, False]


def test_facts_of_the_machine_are_those_of_packages_and_cards_and_what_nobody_recorded_is_said():
    interfaces = {name: Interface(speed_mbit_s=100_000) for name in ("ib0", "ibp65s0", "eth0", "InfiniBand 4X EDR")}
    interfaces |= {"lib-veth": Interface(), "bridge": Interface()}
    [cards] = facts_of(on(synthetic.quick(), interfaces=interfaces))["infiniband"]
    assert [card.partition(" (")[0] for card in cards.split("), ")] == ["InfiniBand 4X EDR", "ib0", "ibp65s0"]

    quick, packages = synthetic.quick(), {"nvidia-nccl-cu12": "2.27.5", "mpi4py": "4.1.0", "numpy": "2.3"}
    commands = {run: replace(command, packages=packages) for run, command in quick.commands.items()}
    found = facts_of(replace(quick, commands=commands))
    assert found["nccl"] == ("nvidia-nccl-cu12 2.27.5",) and found["mpi"] == ("mpi4py 4.1.0",)

    gpus = facts_of(on(synthetic.quick(), gpus=GPUS))
    assert gpus["nccl"] == (None,) and gpus["mpi"] == (None,) and gpus["infiniband"] == (None,)
    assert not {"nccl", "mpi", "infiniband"} & facts_of(synthetic.quick()).keys()


def test_features_and_source_are_those_of_the_script_and_not_the_axes_that_were_tested():
    quick, horovod, v1 = (
        with_commands(synthetic.quick(), **recipe)
        for recipe in ({}, {"features": ("Horovod",)}, {"source": "mxnet.gluon.model_zoo.vision.ResNetV1"})
    )
    [model] = blocks.models(Book(evaluation=quick))

    def of(evaluation, name):
        return {getattr(each, name) for each in participants(Book(evaluation=evaluation), "resnet50_v1.5")}

    assert of(horovod, "features") == {("Horovod",)} and not model.features
    assert (of(v1, "builds_v15"), of(quick, "builds_v15")) == ({True}, {False})


def test_the_data_of_a_model_are_those_that_its_runs_are_said_to_read_and_the_repeats_those_that_it_has():
    evaluation = synthetic.quick()
    first, second, _ = evaluation.summaries[0].measurements
    read = (Fact(key="data", value="criteo", source="log"),)
    runs = (replace(first, facts=read), replace(second, facts=()))
    changed = synthetic.summary(runs)
    book = Book(evaluation=replace(evaluation, summaries=(changed, *evaluation.summaries[1:])))
    subject = Subject(book=book, words=words.read())

    [section] = background.sections(subject)

    assert section.facts()["data_sets"][changed.case.model].plain("zh") == "Criteo、合成数据、部分未记录"
    assert section.facts()["repeats"] == {2: 1, 3: 7}


def test_the_links_between_gpus_are_shown_as_the_driver_prints_them(tmp_path):
    evaluation = on(synthetic.quick(), gpus=GPUS, topology=synthetic.TOPOLOGY)
    report.build(evaluation, tmp_path)

    text = pages.read((tmp_path / "report.html").read_text(encoding="utf-8")).one("section", id="background")
    assert "\x1b" not in synthetic.TOPOLOGY or "\x1b" not in text.text("en")
    assert all(word in text.text("zh-CN") for word in ("GPU3", "NV12", "PXB", "mlx5_0"))
