import socket

import pytest

from evalsuite.agent import rendezvous
from evalsuite.core import placeholders
from evalsuite.core.errors import EvalsuiteError
from evalsuite.schedulers.contract import unroll_nodelist
from tests import sources

SLURM = {"SLURM_NODEID": "1", "SLURM_NNODES": "4", "SLURM_JOB_NODELIST": "gpu[03-06]", "SLURM_JOB_ID": "812"}


def test_alone_on_a_machine_the_processes_meet_on_a_free_port():
    node = rendezvous.node({})

    assert (node.rank, node.nodes, node.master_addr) == (0, 1, "127.0.0.1")
    assert placeholders.FIRST_PORT <= node.master_port < placeholders.LAST_PORT
    assert placeholders.of_node(node, 2, 1)["{hosts_slots}"] == "localhost:2"


@pytest.mark.parametrize(
    ("environment", "rank", "nodes", "master"), sources.cases("rendezvous.toml")["scheduler_tells_rank"]
)
def test_a_scheduler_tells_rank_and_number_and_where_the_master_is(environment, rank, nodes, master):
    node = rendezvous.node(environment)

    assert (node.rank, node.nodes, node.master_addr) == (rank, nodes, master)


def test_a_node_has_the_schedulers_name_and_a_command_that_starts_its_own_workers_no_rank():
    assert rendezvous.host(SLURM | {"SLURMD_NODENAME": "n2"}) == "n2"
    assert rendezvous.host({}) == socket.gethostname()

    variables = rendezvous.variables(placeholders.Node(master_port=1), processes=1, local_rank=None)
    assert "RANK" not in variables


@pytest.mark.parametrize(("environments", "ports"), sources.cases("rendezvous.toml")["all_nodes_of_a_step"])
def test_all_nodes_of_a_step_work_out_the_same_port_and_two_steps_different_ones(environments, ports):
    assert len({rendezvous.node(environment).master_port for environment in environments}) == ports


HALVES = sources.table("rendezvous.toml")


@pytest.mark.parametrize(("environment", "part"), [*HALVES["half_an_answer"], *HALVES["half_a_platform"]])
def test_half_an_answer_is_an_error_that_says_what_is_missing(environment, part):
    with pytest.raises(EvalsuiteError, match="expected") as error:
        rendezvous.node(environment)

    assert part in str(error.value)


def test_ranks_count_on_from_node_to_node():
    place = placeholders.Node(rank=1, nodes=2, master_addr="a", master_port=1)

    variables = rendezvous.variables(place, processes=4, local_rank=2)

    expected = {"RANK": "6", "LOCAL_RANK": "2", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4"}
    assert {name: variables[name] for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE")} == expected


@pytest.mark.parametrize(("nodelist", "hosts"), sources.table("rendezvous.toml")["nodelists"])
def test_a_slurm_list_is_unrolled_with_its_leading_zeros(nodelist, hosts):
    assert list(unroll_nodelist(nodelist)) == hosts


def test_hosts_are_filled_in_with_their_slots_or_wished_for_in_vain():
    place = placeholders.Node(rank=1, nodes=2, master_addr="a", master_port=7, hosts=("a", "b"))
    found = placeholders.of_node(place, processes=8, threads=1)
    assert [found[name] for name in placeholders.OF_HOSTS] == ["b", "a,b", "a:8,b:8", "a:7,b:7", '["a:7", "b:7"]']

    assert "EVALSUITE_HOSTS" in placeholders.find_unfilled(["mpirun", "-H", "{hosts_slots}"])
    assert placeholders.find_unfilled(["python", "-c", "print(f'{hostname}')"]) is None


def test_a_list_in_a_shape_of_slurm_that_is_not_known_is_an_error_that_shows_it():
    with pytest.raises(EvalsuiteError, match=r'got "\[0-3x0-3\]".*EVALSUITE_HOSTS'):
        unroll_nodelist("tux[0-3x0-3]")


PLATFORMS = sources.table("platforms.toml")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_platform_that_starts_the_agent_on_every_node_says_which_this_is(platform):
    node = rendezvous.node(PLATFORMS[platform]["variables"])

    assert (node.rank, node.nodes, node.master_addr) == (1, 2, PLATFORMS[platform]["first_host"])


def test_torchruns_port_is_where_the_processes_meet_and_our_own_words_win_over_schedulers_and_platforms():
    assert rendezvous.node(PLATFORMS["torchrun"]["variables"]).master_port == 29400

    place = {"EVALSUITE_MASTER_ADDR": "10.0.0.1", "EVALSUITE_MASTER_PORT": "29500"}
    node = rendezvous.node(SLURM | {"EVALSUITE_NODE_RANK": "0", "EVALSUITE_NODES": "2", **place})
    assert node == placeholders.Node(rank=0, nodes=2, master_addr="10.0.0.1", master_port=29500)

    own = {"EVALSUITE_NODES": "1", "EVALSUITE_NODE_RANK": "0"}
    node = rendezvous.node(PLATFORMS["Volcano"]["variables"] | own)
    assert (node.rank, node.nodes, node.master_addr) == (0, 1, "127.0.0.1")


def test_an_address_is_that_of_a_name_and_one_that_no_other_host_reaches_is_refused(monkeypatch):
    known = {"a": "10.0.0.1", "b": "10.0.0.2", "debian": "127.0.1.1"}
    monkeypatch.setattr(socket, "gethostbyname", lambda name: known[name])
    monkeypatch.setattr(socket, "getfqdn", lambda name: own)
    places = [placeholders.Node(rank=rank, nodes=2, master_addr="a", master_port=1) for rank in (0, 1)]

    own = "a"
    assert [rendezvous.master_addresses(place) for place in places] == [("10.0.0.1", "127.0.0.1"), ("10.0.0.1",) * 2]

    own = "debian"
    with pytest.raises(EvalsuiteError, match=r"debian leads to 127.0.1.1 here, by which no other host reaches it"):
        rendezvous.master_addresses(places[1])
