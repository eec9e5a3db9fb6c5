"""What every batch scheduler must do: a new one fails here by its name for each thing that it lacks. A scheduler is a
module of `evalsuite/schedulers`; what it sets and prints is a module of the same name in `tests/schedulers`."""

import importlib
import pkgutil
import subprocess
from dataclasses import replace

import pytest

from evalsuite import schedulers
from evalsuite.agent import rendezvous
from evalsuite.commands import submit
from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.launch.checks import doctor
from evalsuite.launch.remote import allocations
from evalsuite.schedulers import SCHEDULERS
from evalsuite.schedulers.contract import Allocation, NodePlace
from tests import schedulers as examples
from tests.toys import CASE

AGENT = ("python", "-m", "evalsuite", "sample")
ASKED = Allocation(
    nodes=12, spare=1, account="dl", partition="long", time="8:00:00", gres="gpu:8", constraint="a100",
    options=(("m", "e"),),
)  # fmt: skip


def modules(package):
    return {each.name for each in pkgutil.iter_modules(package.__path__)}


def test_each_module_of_the_folder_is_a_scheduler_of_its_name_and_has_an_example():
    assert set(SCHEDULERS) == modules(schedulers) - {"contract"}
    assert modules(examples) == set(SCHEDULERS), "an example of each in tests/schedulers"


@pytest.fixture(params=sorted(SCHEDULERS))
def name(request):
    return request.param


@pytest.fixture
def example(name):
    return importlib.import_module(f"tests.schedulers.{name}")


@pytest.fixture
def scheduler(name, example, monkeypatch):
    """Its programs answer as in the example."""

    def answer(argv, *others):
        printed = next((text for word, text in example.ANSWERS.items() if word in argv), None)
        assert printed is not None, f"no answer to {argv} in the example"
        return subprocess.CompletedProcess(argv, 0, stdout=printed, stderr="")

    monkeypatch.setattr(allocations, "ask_program", answer)
    return SCHEDULERS[name]


def silent(*argv):
    return None


def test_an_allocation_has_its_nodes_its_time_and_the_number_of_its_nodes(scheduler, example):
    assert scheduler.nodes(example.SHELL, allocations.ask) == example.NODES
    assert example.ENDS_S - 100 < allocations.wall_time_left_s(example.SHELL) <= example.ENDS_S
    assert allocations.wall_time_left_s({}) is None

    assert (scheduler.size(allocations.ask, None), scheduler.size(silent, None)) == (example.SIZE, None)


def test_a_task_finds_its_rank_and_all_hosts_through_the_engine(scheduler, example):
    """By its variables, or by what the engine's command line hands to it."""
    engine = allocations.engine(scheduler, example.SHELL)
    node = rendezvous.node({**example.TASK, **(engine.handed(2, "out") if engine.handed else {})})

    assert (node.rank, node.nodes, node.hosts) == (1, 2, example.NODES)
    assert bool(scheduler.place(example.TASK).hosts) == scheduler.hosts_in_place
    assert rendezvous.read_place({}) == NodePlace()


def test_jobs_that_share_nodes_meet_at_ports_of_their_own_and_the_doctor_looks_for_its_programs(scheduler, example):
    hosts = {"EVALSUITE_HOSTS": ",".join(example.NODES)}
    places = [
        rendezvous.node({**example.TASK, scheduler.job_variable: job, **hosts}).master_port for job in example.JOBS
    ]

    assert len(set(places)) == len(places) > 1

    assert scheduler.starter in " ".join(scheduler.step(1, AGENT, ()))
    assert scheduler.starter in {check.name for check in doctor.engines()}
    assert scheduler.package in {program.name: program.remedy for program in allocations.clients()}[scheduler.starter]


@pytest.mark.parametrize("page", ["README.md", "README.zh.md", "docs/clusters.md", "docs/clusters.zh.md"])
def test_the_pages_that_people_choose_by_name_it(scheduler, page):
    assert scheduler.title in (paths.PACKAGE.parent / page).read_text(encoding="utf-8")


def test_its_engine_takes_the_first_nodes_refuses_more_and_starts_nothing_outside_an_allocation(scheduler, example):
    engine = allocations.engine(scheduler, example.SHELL)

    assert (engine.name, engine.nodes) == (scheduler.name, example.NODES)
    assert engine.wrap(1, AGENT)[-4:] == AGENT
    assert [example.started(engine.wrap(nodes, AGENT)) for nodes in (1, 2)] == [example.NODES[:1], example.NODES]
    assert example.started(engine.on(engine.nodes[1:]).wrap(1, AGENT)) == example.NODES[1:]
    assert engine.on(engine.nodes[:1]).nodes == engine.nodes[:1]
    assert "the allocation has 2" in engine.refusal(replace(CASE, nodes=3))
    assert engine.unready(example.SHELL) is None and scheduler.submits_with in engine.unready({})


def test_a_script_asks_for_all_that_is_wanted_and_its_job_has_an_id(scheduler, example, tmp_path):
    """The script is run as the scheduler would: in $HOME, unless one of its directives names another folder."""
    home, folder = tmp_path / "home", tmp_path / "a folder"
    home.mkdir()
    folder.mkdir()
    lines = scheduler.directives(Allocation(nodes=12, spare=1), str(folder), "/srv/runs")
    facts = {"before": scheduler.before(str(folder)), "variables": ()}
    text = submit.script(lines, ["pwd"], submitter=scheduler.submits_with, **facts)
    named = [line.removeprefix(example.FOLDER) for line in lines if example.FOLDER and line.startswith(example.FOLDER)]
    begins = named[0].strip('"') if named else home
    done = subprocess.run(["bash", "-c", text], cwd=begins, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == str(folder), "the job starts in another folder than that of `submit`"
    assert all(line.startswith("#") for line in lines) and text.startswith("#!")
    assert "13" in "\n".join(lines) and "/srv/runs" in text
    assert allocations.submit(scheduler, tmp_path / "job", print) == example.SUBMITTED


@pytest.mark.parametrize("wish", ["account", "partition", "time", "gres", "constraint", "options"])
def test_no_wish_is_dropped_in_silence(scheduler, wish):
    plain = Allocation(nodes=12)

    try:
        asking = scheduler.directives(replace(plain, **{wish: getattr(ASKED, wish)}), "/srv/here", "/srv/runs")
    except EvalsuiteError as error:
        assert wish in str(error)
    else:
        assert asking != scheduler.directives(plain, "/srv/here", "/srv/runs")
