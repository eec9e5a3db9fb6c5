"""The look for what slows training, on a host with a link of a container beside its own."""

import os
import subprocess
import sys

import pytest

from evalsuite.core import paths
from tests import namespaces

LOOK = (
    "import os; from evalsuite.machine import pitfalls; "
    "print([sorted(one.seen.values['names']) for one in pitfalls.network(os.environ)])"
)
LINK = "ip link add veth7a type veth peer name vetheb && ip link set veth7a up && ip link set vetheb up"


def test_a_veth_that_nccl_would_take_beside_the_hosts_own_link_is_named():
    def look(**variables):
        environment = {**os.environ, "PYTHONPATH": str(paths.PACKAGE.parent), **variables}
        return subprocess.check_output(hosts["a"].enter(sys.executable, "-c", LOOK), env=environment, text=True).strip()

    if why := namespaces.missing():
        pytest.skip(why)
    with namespaces.network("a") as hosts:
        before = look()
        subprocess.run(hosts["a"].enter("sh", "-c", LINK), check=True)
        after, asked = look(), look(EVALSUITE_INTERFACE="auto")

    assert (before, after, asked) == ("[]", "[['veth7a', 'vetheb']]", "[]")
