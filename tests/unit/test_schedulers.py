"""What every batch scheduler must say: a new one fails here by its name for each thing that it lacks."""

import time
from dataclasses import replace

import pytest

from evalsuite.agent import rendezvous
from evalsuite.launch.checks import doctor
from evalsuite.launch.remote import schedulers
from evalsuite.launch.remote.schedulers import SCHEDULERS
from tests.toys import CASE

AGENT = ("python", "-m", "evalsuite", "sample")
SLURM = {"SLURM_JOB_NODELIST": "n[1-2]", "SLURM_NODEID": "1", "SLURM_NNODES": "2"}
ON_A_NODE = {  # scheduler → what a task finds on the second of two nodes, ten hours before the end; its job's number
    "slurm": (SLURM | {"SLURM_JOB_END_TIME": str(int(time.time()) + 36_000)}, "SLURM_JOB_ID"),
}


def test_each_scheduler_has_an_example_here():
    assert set(ON_A_NODE) == set(SCHEDULERS)


@pytest.fixture(params=ON_A_NODE)
def name(request, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))  # no program of it answers
    return request.param


def environment(name, job="812"):
    variables, number = ON_A_NODE[name]
    return variables | {number: job}


def test_it_says_which_allocation_this_is_its_nodes_and_its_time(name):
    scheduler, here = SCHEDULERS[name], environment(name)

    assert (scheduler.job_id(here), scheduler.job_id({})) == ("812", None)
    assert (len(scheduler.nodes(here)), scheduler.nodes({})) == (2, ())
    assert 32_000 < schedulers.wall_time_left_s(here) <= 36_000
    assert schedulers.wall_time_left_s({}) is None


def test_the_agent_learns_its_place_and_each_job_has_a_port_of_its_own(name):
    places = [rendezvous.node(environment(name, job)) for job in ("812", "813")]

    assert [(place.rank, place.nodes, len(place.hosts)) for place in places] == [(1, 2, 2)] * 2
    assert places[0].master_port != places[1].master_port


def test_its_engine_takes_the_first_nodes_refuses_more_and_starts_nothing_outside_an_allocation(name):
    scheduler = SCHEDULERS[name]
    engine = scheduler.engine(scheduler.nodes(environment(name)))

    assert engine.name == name and engine.nodes == scheduler.nodes(environment(name))
    assert engine.nodes[0] in " ".join(engine.wrap(1, AGENT)) and engine.wrap(1, AGENT)[-4:] == AGENT
    assert engine.on(engine.nodes[:1]).nodes == engine.nodes[:1]
    assert "the allocation has 2" in engine.refusal(replace(CASE, nodes=3))
    assert engine.unready(environment(name)) is None and "submit" in engine.unready({})


def test_its_queue_is_silent_without_its_programs_and_the_doctor_looks_for_them(name):
    assert SCHEDULERS[name].jobs() is None
    found = {check.name: check for check in doctor.engines()}

    assert SCHEDULERS[name].client.remedy == found[SCHEDULERS[name].client.name].remedy
