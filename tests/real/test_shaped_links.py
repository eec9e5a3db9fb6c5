"""Hosts whose links have a rate and whose cores have a quota: what tools/measure_links.py stands on."""

import subprocess
import sys

import pytest

from tests import links, namespaces, sources

BYTES = 5_000_000
LISTEN = sources.text("shaped_links_listen.py.in")
SEND = f"""
import socket, time
begun = time.monotonic()
with socket.create_connection(("b", 5001)) as peer:
    peer.sendall(bytes({BYTES}))
    peer.shutdown(socket.SHUT_WR)
    peer.recv(1)
print(time.monotonic() - begun)
"""
SPIN = "import time; end = time.monotonic() + 2\nwhile time.monotonic() < end: pass\nprint(time.process_time())"


@pytest.fixture(scope="module")
def hosts():
    if why := namespaces.missing() or links.missing():
        pytest.skip(why)
    with namespaces.network("a", "b", "c") as found:
        yield found


def test_a_link_gives_its_rate_and_another_one_after_that(hosts):
    with subprocess.Popen(hosts["b"].enter(sys.executable, "-c", LISTEN), stdout=subprocess.PIPE) as server:
        server.stdout.readline()
        seconds = {}
        for mbit in (20, 200):
            links.shape(hosts.values(), mbit)
            line = hosts["a"].enter(sys.executable, "-c", SEND)
            said = subprocess.run(line, check=True, capture_output=True, text=True, timeout=60)
            seconds[mbit] = float(said.stdout)

    assert 0.9 * BYTES * 8 / 20e6 < seconds[20] < 3 * BYTES * 8 / 20e6
    assert seconds[200] < seconds[20] / 3


def test_a_host_has_its_share_of_the_cores_alone_and_beside_others(hosts):
    with links.shares(list(hosts.values()), 0.25) as shares:
        lines = {name: host.enter(*shares[name], sys.executable, "-c", SPIN) for name, host in hosts.items()}
        alone = float(subprocess.run(lines["a"], check=True, capture_output=True, text=True).stdout)
        started = [subprocess.Popen(line, stdout=subprocess.PIPE, text=True) for line in lines.values()]
        together = [float(process.communicate(timeout=60)[0]) for process in started]

    assert all(
        0.25 < cpu_s < 0.8 for cpu_s in (alone, *together)
    )  # a quarter of two seconds, and the interpreter's start
