import itertools
import json
import sys
from types import SimpleNamespace

import pytest

from evalsuite import cli
from evalsuite.commands import isolate
from evalsuite.core.errors import Exit
from evalsuite.launch.checks import slow_nodes

NODES = tuple("abcdefgh")


@pytest.mark.parametrize("slow", ["", "a", "f", "h", "af", "ab", "be", "ah"])
@pytest.mark.parametrize("number", [1, 4, 5, 8])
def test_nodes_that_slow_a_job_down_are_found_by_halving(slow, number):
    nodes = NODES[:number]
    there = set(slow) & set(nodes) if number > 1 else set()

    found, trials = slow_nodes.find_slow(nodes, lambda part: 3.0 if there & set(part) else 1.0, 0.5)

    assert found == there
    assert len(trials) <= 8 * max(1, len(there)) and all(set(trial.nodes) < set(nodes) for trial in trials)


def test_a_node_on_which_the_job_fails_is_slow():
    assert slow_nodes.find_slow(NODES, lambda part: None if "c" in part else 1.0, 0.5)[0] == {"c"}


SSH = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do [ "$1" = -o ] && shift; shift; done
host=$1; shift
[ $host = n3 ] && echo slower >> CLOCK
exec sh -c "$*"
"""


def test_the_slowed_one_of_four_played_hosts_is_named_ready_to_leave_out(tmp_path, monkeypatch, capsys):
    (ssh := tmp_path / "ssh").write_text(SSH.replace("CLOCK", str(tmp_path / "clock")))
    ssh.chmod(0o755)
    (tmp_path / "clock").touch()
    began = itertools.count()  # a trial takes one second, with n3 in it three: what else runs here takes none
    at_s = SimpleNamespace(monotonic=lambda: next(began) + 2 * (tmp_path / "clock").read_text().count("slower"))
    monkeypatch.setattr(isolate, "time", at_s)
    monkeypatch.setenv("EVALSUITE_SSH", str(ssh))
    job = ["--", sys.executable, "-m", "evalsuite", "on-hosts", "--hosts", "{hosts}", "--", "true"]
    words = ["isolate", "--hosts", "n1,n2,n3,n4", "--repeats", "1", "--limit", "0.8"]

    assert cli.main([*words, *job]) == Exit.CRITERION_FAILED
    assert "--exclude=n3\n" in capsys.readouterr().out
    assert cli.main([*words, "--json", "--", "true", "{hosts}"]) in (Exit.DONE, Exit.CRITERION_FAILED)
    assert all(trial["seconds"] < 60 for trial in json.loads(capsys.readouterr().out)["trials"])
    for undecided in ([*words, "--", "false", "{hosts}"], ["isolate", "--hosts", "n1", *job]):
        assert cli.main(undecided) == Exit.UNDETERMINED
    assert cli.main([*words, "--", "true"]) == cli.main([*words, "--", "no-such-program", "{hosts}"]) == Exit.USAGE
