"""`env repositories` over a real transport: git's own daemon on this machine."""

import contextlib
import shutil
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from evalsuite.launch.provision import checkouts
from evalsuite.launch.provision.git import CannotFetch
from evalsuite.plan.repositories import Repository
from tests.processes import soon
from tests.unit.test_checkouts import git

GIT = shutil.which("git")
DAEMON = GIT and Path(subprocess.run([GIT, "--exec-path"], capture_output=True, text=True).stdout.strip(), "git-daemon")
pytestmark = [pytest.mark.skipif(not DAEMON or not DAEMON.is_file(), reason="git daemon is not on this machine")]
START_S = 60.0


@pytest.fixture
def server(tmp_path, monkeypatch):
    """The address of a server of `lab/toynet`, a repository of three commits."""
    monkeypatch.setenv("EVALSUITE_CACHE", str(tmp_path / "cache"))
    work = tmp_path / "work"
    work.mkdir()
    git(work, "init", "--quiet")
    (work / "train").mkdir()
    (work / "train" / "weights.bin").write_bytes(bytes(range(256)) * 4096)
    for text in ("first", "second", "third"):
        (work / "train" / "train.py").write_text(f"print('{text}')\n")
        git(work, "add", ".")
        git(work, "commit", "--quiet", "-m", text)
    (tmp_path / "served" / "lab").mkdir(parents=True)
    git(tmp_path, "clone", "--quiet", "--bare", str(work), "served/lab/toynet")
    with served(tmp_path / "served") as port:
        yield f"git://127.0.0.1:{port}"


@contextlib.contextmanager
def served(folder):
    """git daemon over *folder*; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    options = ("--export-all", "--reuseaddr", "--listen=127.0.0.1", f"--port={port}", f"--base-path={folder}")
    daemon = subprocess.Popen([DAEMON, *options, str(folder)], stderr=subprocess.DEVNULL)
    try:
        assert soon(lambda: answers(port), START_S)
        yield port
    finally:
        daemon.terminate()
        daemon.wait()


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True


@pytest.fixture
def repository(tmp_path, server):
    commit = git(tmp_path / "work", "rev-parse", "HEAD~1")
    return Repository(name="toynet", repository=f"{server}/lab/toynet", commit=commit, licence="MIT")


@pytest.mark.parametrize("protocol", ["0", "2"])
@pytest.mark.parametrize("allowed", ["true", "false"])
def test_one_commit_that_no_branch_ends_at_is_fetched_from_a_server(
    tmp_path, repository, monkeypatch, protocol, allowed
):
    for name in ("allowReachableSHA1InWant", "allowFilter"):
        git(tmp_path / "served" / "lab" / "toynet", "config", f"uploadpack.{name}", allowed)
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "protocol.version")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", protocol)

    folder = checkouts.get(repository)

    assert (folder / "train" / "train.py").read_text() == "print('second')\n"
    assert checkouts.state(repository).clean
    assert checkouts.get(repository) == folder
    assert allowed == "false" or git(folder, "rev-list", "--count", "HEAD") == "1"  # and is asked for no other


def test_what_a_killed_evalsuite_left_behind_is_thrown_away(repository):
    making = repository.folder.with_name(f"{repository.folder.name}.making")
    (making / ".git").mkdir(parents=True)
    (making / ".git" / "HEAD").write_text("half")

    checkouts.get(repository)

    assert checkouts.state(repository).clean
    assert not making.exists()


def test_a_commit_that_the_server_has_not_and_one_that_does_not_answer_are_errors_that_show_it(repository):
    with pytest.raises(CannotFetch, match=r"(?s)git (fetch|checkout).*0{40}|not our ref"):
        checkouts.get(replace(repository, commit="0" * 39 + "1"))
    assert list(repository.folder.parent.iterdir()) == []

    with socket.create_server(("127.0.0.1", 0)) as probe:
        closed = f"git://127.0.0.1:{probe.getsockname()[1]}/lab/toynet"
    with pytest.raises(CannotFetch, match=r"(?s)try --mirror with a folder of clones.*Connection refused"):
        checkouts.get(replace(repository, repository=closed))
