"""The node agent with real processes, pipes and signals."""

import csv
import os
import signal
import subprocess
import sys
from itertools import pairwise

import psutil
import pytest

import evalsuite
from evalsuite import cli
from evalsuite.runs.store import RunFolder
from tests import runfolders, sources
from tests.processes import family, lives, soon

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="the node agent runs on Linux")
pytestmark = LINUX
LONG = 400  # seconds that nothing here waits for
QUIET = ("--for-run", "all")


@pytest.fixture(autouse=True)
def as_n(monkeypatch):
    monkeypatch.setenv("EVALSUITE_HOST", "n")


def agent(folder, *argv, options=(), **named):
    return subprocess.run(_line(folder, argv, options), capture_output=True, timeout=LONG, **named)


def started(folder, *argv, options=(), **named):
    return subprocess.Popen(_line(folder, argv, options), **named)


def _line(folder, argv, options):
    return [sys.executable, "-m", "evalsuite", "sample", "-o", str(folder), *options, "--", *argv]


def shell(folder, script, options=QUIET, **named):
    return agent(folder, "sh", "-c", script, options=options, **named)


def python(folder, program, options=QUIET, **named):
    return agent(folder, sys.executable, "-c", program, options=options, **named)


def log(folder, name="log.n.txt"):
    return (folder / name).read_bytes()


def ending(folder):
    return RunFolder(folder).agents()["n"]


def sampled(folder):
    samples = RunFolder(folder).samples("n")
    return samples.header, *runfolders.readings(samples)


def arrivals(folder, name="arrivals.n.csv"):
    with open(folder / name, newline="") as file:
        return [(int(row["end_byte"]), float(row["at_s"])) for row in csv.DictReader(file)]


@pytest.mark.parametrize(
    "output",
    [
        b"plain\n", b"no newline at the end", b"step 1\rstep 2\rstep 3\r\n", b"\xff\xfe\x00 latin \xe9 \xc3\x28\n",
        "图像/秒 100\n".encode(), b"\x1b[31mred\x1b[0m\r\n\n\n", b"", bytes(range(256)) * 5000,
    ],
    ids=["plain", "no-newline", "carriage-returns", "not-utf-8", "chinese", "escapes", "nothing", "every-byte"],
)  # fmt: skip
def test_the_log_is_byte_for_byte_what_was_printed(tmp_path, output):
    source = tmp_path / "source"
    source.write_bytes(output)

    agent(tmp_path / "run", "cat", str(source), options=QUIET)

    assert log(tmp_path / "run") == output


def test_arrivals_lead_to_the_last_byte_and_never_go_back_and_standard_error_is_in_the_order_printed(tmp_path):
    shell(tmp_path / "run", "for i in 1 2 3 4 5; do echo $i; sleep 0.05; echo err >&2; done; printf end")

    ends, times = zip(*arrivals(tmp_path / "run"), strict=True)
    assert log(tmp_path / "run") == b"".join(b"%d\nerr\n" % i for i in range(1, 6)) + b"end"
    assert ends[-1] == len(log(tmp_path / "run"))
    assert list(ends) == sorted(set(ends))
    assert list(times) == sorted(times)


@pytest.mark.alone
def test_a_line_is_stamped_when_it_comes(tmp_path):
    shell(tmp_path / "run", "echo first; sleep 1; echo second")

    (_, first), (_, second) = arrivals(tmp_path / "run")
    assert second - first == pytest.approx(1.0, abs=0.3)


def test_the_output_is_printed_too_unless_quiet(tmp_path):
    loud = shell(tmp_path / "loud", "printf 'a\\rb\\377'", options=[])
    quiet = shell(tmp_path / "quiet", "printf 'a\\rb\\377'")

    assert (loud.stdout, quiet.stdout) == (b"a\rb\xff", b"")


def test_a_watcher_who_goes_away_does_not_end_the_run(tmp_path):
    program = "import time\nfor i in range(20): print(i, flush=True); time.sleep(0.02)"
    process = started(tmp_path / "run", sys.executable, "-c", program, stdout=subprocess.PIPE)
    process.stdout.read(1)
    process.stdout.close()

    assert process.wait(LONG) == 0
    assert log(tmp_path / "run").endswith(b"19\n")


@pytest.mark.parametrize(("script", "status"), [*((f"exit {n}", n) for n in (0, 1, 3, 255)), ("kill -9 $$", 137)])
def test_the_exit_status_is_passed_on_and_a_signal_gives_128_and_its_number(tmp_path, script, status):
    done = shell(tmp_path / "run", script)

    assert done.returncode == ending(tmp_path / "run").exit_code == status
    assert ending(tmp_path / "run").signal == ("SIGKILL" if status == 137 else None)


def test_a_command_that_is_not_there_gives_127_and_one_that_is_no_program_126(tmp_path):
    (text := tmp_path / "text").write_text("no program")
    absent, done = agent(tmp_path / "run", "no-such-program"), agent(tmp_path / "other", str(text))

    assert (absent.returncode, done.returncode) == (127, 126)
    assert b"no-such-program: no such program" in absent.stderr and b"Traceback" not in absent.stderr
    assert ending(tmp_path / "run").error.startswith("no-such-program")


def test_the_time_limit_gives_124_and_ends_the_tree(tmp_path):
    done = shell(tmp_path / "run", "echo $$; sleep 1000 & sleep 1000; wait", [*QUIET, "--timeout", "1"])

    assert done.returncode == 124
    assert ending(tmp_path / "run").timed_out is True
    assert not lives(int(log(tmp_path / "run")))


def test_a_child_with_a_session_of_its_own_and_a_daemon_end_with_the_run(tmp_path):
    begun = f"{tmp_path}/begun"
    shell(
        tmp_path / "run",
        f"setsid sh -c 'echo $$; > {begun}; exec sleep 1000' & until [ -e {begun} ]; do sleep 0.1; done",
    )
    shell(tmp_path / "helped", "sleep 0.3 & exit 0")

    assert not lives(int(log(tmp_path / "run")))
    assert ending(tmp_path / "run").left_behind == 1
    assert ending(tmp_path / "helped").left_behind == 0

    assert python(tmp_path / "daemon", DAEMON).returncode == 0
    assert not lives(int(log(tmp_path / "daemon")))


DAEMON = sources.text("agent_daemon.py.in")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_signal_ends_the_whole_tree_and_the_files_are_whole(tmp_path, number):
    folder = tmp_path / "run"
    process = started(folder, "sh", "-c", "setsid sleep 1000 & echo $!; sleep 1000", options=QUIET)
    assert soon(lambda: (folder / "log.n.txt").exists() and log(folder).endswith(b"\n"))

    process.send_signal(number)

    assert process.wait(60) == 128 + number
    assert not lives(int(log(folder)))
    assert ending(folder).interrupted_by == number.name
    assert [file.name for file in folder.glob("samples.*")] == ["samples.n.columns"]
    assert sampled(folder)[0].hz == 2.0


ON_SIGNAL = "import signal, sys; signal.signal(signal.{0}, lambda *_: {1}); print('ready', flush=True); signal.pause()"


@pytest.mark.parametrize(
    ("number", "does", "code", "said"),
    [  # one that ends well still counts as interrupted; a user's signal is passed on
        (signal.SIGTERM, "(print('checkpoint'), sys.exit(0))", 128 + signal.SIGTERM, b"checkpoint"),
        (signal.SIGUSR1, "sys.exit(9)", 9, b""),
    ],
)
def test_a_signal_is_passed_to_the_command(tmp_path, number, does, code, said):
    folder = tmp_path / "run"
    process = started(folder, sys.executable, "-c", ON_SIGNAL.format(number.name, does), options=QUIET)
    assert soon(lambda: (folder / "log.n.txt").exists() and b"ready" in log(folder))

    process.send_signal(number)

    assert process.wait(60) == code
    assert said in log(folder)


ASKED_TWICE = "trap 'echo asked' INT; trap '' TERM; echo on; while :; do sleep 1; done"


def test_a_second_interrupt_kills_at_once(tmp_path):
    folder = tmp_path / "run"
    program = "from evalsuite import cli; from evalsuite.agent import agent; agent.GRACE_S = 1000; exit(cli.main())"
    line = _line(folder, ("sh", "-c", ASKED_TWICE), QUIET)
    process = subprocess.Popen([sys.executable, "-c", program, *line[3:]])

    for said in (b"on\n", b"on\nasked\n"):
        assert soon(lambda said=said: (folder / "log.n.txt").exists() and log(folder) == said)
        process.send_signal(signal.SIGINT)

    assert process.wait(60) == 128 + signal.SIGKILL


@pytest.mark.parametrize("victim", ["guard", "agent"])
def test_killing_the_agent_does_not_leave_the_command_behind(tmp_path, victim):
    folder = tmp_path / "run"
    process = started(folder, "sh", "-c", "echo $$; sleep 1000 & setsid sleep 1000", options=QUIET)
    assert soon(lambda: (folder / "log.n.txt").exists() and log(folder).endswith(b"\n"))
    command = int(log(folder))
    assert soon(lambda: len(family(command)) == 3)
    tree = family(command)

    os.kill(process.pid if victim == "guard" else psutil.Process(command).ppid(), signal.SIGKILL)

    assert soon(lambda: not any(map(lives, tree)))
    assert process.wait(60) in (-signal.SIGKILL, 128 + signal.SIGKILL)


def test_the_run_ends_with_the_launcher_if_asked_to(tmp_path):
    folder = tmp_path / "run"
    line = _line(folder, ("sh", "-c", "echo $$; sleep 1000"), QUIET)
    launcher = subprocess.Popen([sys.executable, "-c", f"import subprocess; subprocess.run({line!r})"])
    assert soon(lambda: (folder / "log.n.txt").exists() and log(folder).endswith(b"\n"))
    assert lives(int(log(folder)))

    launcher.kill()
    launcher.wait()

    assert soon(lambda: not lives(int(log(folder))))  # fails after its time
    assert soon(lambda: (folder / "agent.n.json").exists())


def test_the_command_starts_with_the_usual_signals(tmp_path):
    program = sources.text("agent_signals.py.in")

    python(tmp_path / "run", program)
    shell(tmp_path / "pipe", "yes | head -1; echo ended")

    assert log(tmp_path / "run") == b"True\nset()\n"
    assert log(tmp_path / "pipe") == b"y\nended\n"


def test_each_of_several_processes_has_its_rank_and_its_log(tmp_path):
    done = shell(
        tmp_path / "run",
        "echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $NODE_RANK $MASTER_ADDR; "
        "test $MASTER_PORT = {master_port}",
        [*QUIET, "--processes", "3"],
        env=os.environ | {"EVALSUITE_NODE_RANK": "1", "EVALSUITE_NODES": "2", "EVALSUITE_MASTER_ADDR": "10.0.0.7"},
    )

    assert done.returncode == 0
    assert [log(tmp_path / "run", f"log.n.r{rank}.txt") for rank in (3, 4, 5)] == [
        b"%d %d 6 3 1 10.0.0.7\n" % (3 + local, local) for local in range(3)
    ]


def test_where_the_command_reaches_the_other_nodes_itself_they_only_sample(tmp_path):
    places = {"EVALSUITE_NODES": "2", "EVALSUITE_MASTER_ADDR": "127.0.0.1", "EVALSUITE_MASTER_PORT": "29500"}
    options = ["--for-run", "first"]
    agents = [
        subprocess.Popen(
            _line(tmp_path / "run", ("sh", "-c", "echo trained; sleep 1"), options),
            env=os.environ | places | {"EVALSUITE_NODE_RANK": str(rank), "EVALSUITE_HOST": f"n{rank}"},
        )
        for rank in (1, 0)
    ]

    assert [agent.wait(60) for agent in agents] == [0, 0]
    assert [log(tmp_path / "run", f"log.n{rank}.txt") for rank in (0, 1)] == [b"trained\n", b""]
    assert all(len(RunFolder(tmp_path / "run").samples(f"n{rank}").tables["at_s"][""]) > 1 for rank in (0, 1))


def test_the_run_waits_for_the_last_of_several_processes_and_one_that_fails_takes_the_others_with_it(tmp_path):
    shell(tmp_path / "waits", "sleep 0.$RANK; echo done", [*QUIET, "--processes", "3"])
    done = shell(tmp_path / "run", "test $RANK = 1 && exit 5; sleep 1000", [*QUIET, "--processes", "2"])

    assert [log(tmp_path / "waits", f"log.n.r{rank}.txt") for rank in range(3)] == [b"done\n"] * 3
    assert done.returncode == 5


@pytest.mark.alone
def test_samples_come_as_often_as_asked_for_at_intervals_that_vary(tmp_path):
    shell(tmp_path / "run", "sleep 2.1", [*QUIET, "--hz", "20"])

    header, *samples = sampled(tmp_path / "run")
    between_s = [after.at_s - before.at_s for before, after in pairwise(samples[:-1])]
    assert header.hz == 20
    assert 37 <= len(samples) + ending(tmp_path / "run").samples_missed <= 50
    assert max(between_s) - min(between_s) > 0.2 * 0.05


def test_the_tree_counts_cpu_time_of_processes_that_have_ended(tmp_path):
    burn = "import time\nwhile time.process_time() < 0.4: pass"
    program = f"import subprocess, sys\nfor _ in range(2): subprocess.run([sys.executable, '-c', {burn!r}])"

    python(tmp_path / "run", program)

    _, *samples = sampled(tmp_path / "run")
    spent_s = [sample.tree.cpu_s for sample in samples]
    assert spent_s == sorted(spent_s)
    assert 0.8 <= spent_s[-1] < 2.0


def test_two_runs_never_share_a_folder_and_one_that_cannot_be_made_is_said_before_anything_starts(tmp_path):
    (tmp_path / "file").write_text("")
    shell(tmp_path / "run", "echo first")

    again = shell(tmp_path / "run", "echo second")
    inside = shell(tmp_path / "file" / "run", f"touch {tmp_path}/started")

    assert (again.returncode, inside.returncode) == (2, 2)
    assert b"never over another" in again.stderr and b"expected a folder" in inside.stderr
    assert log(tmp_path / "run") == b"first\n"
    assert not (tmp_path / "started").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_ends_the_run_with_a_clear_error_and_no_process_left(tmp_path):
    program = (
        "import os, sys\n"
        "from evalsuite.agent import recording\n"
        "opened = os.open\n"
        "os.open = lambda path, flags, *mode, **more: opened('/dev/full', os.O_WRONLY)"
        " if 'log.n' in str(path) else opened(path, flags, *mode, **more)\n"
        "from evalsuite.cli import main\n"
        f"sys.exit(main(['sample', '-o', {str(tmp_path / 'run')!r}, '--for-run', 'all', '--', 'sh', '-c',"
        f" 'echo $$ > {tmp_path}/pid; echo output; sleep 1000']))"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=LONG)

    assert done.returncode == 125
    assert b"log.n.txt: the disk is full (No space left on device)" in done.stderr
    assert b"Traceback" not in done.stderr
    assert not lives(int((tmp_path / "pid").read_text()))
    assert "No space left" in ending(tmp_path / "run").error


def test_the_agent_needs_nothing_but_the_standard_library_psutil_and_nvml(tmp_path):
    program = sources.text("agent_imports.py.in")

    done = subprocess.run([sys.executable, "-c", program, str(tmp_path / "run")], capture_output=True, timeout=LONG)

    assert done.stdout.strip() == b"set()", done.stderr


def test_a_pod_a_task_of_volcano_and_a_plain_shell_each_start_it_and_end_in_one_report(tmp_path):
    case = "framework = 'pytorch'\nmodel = 'toy'\nprecision = 'fp32'\nbatch = 8\nnodes = {0}\ndevices = {0}\n"
    line = (sys.executable, "tests/real/toy_adapters/scripts/train.py", "40")
    agents = []
    for name, host, nodes, variables in sources.table("started.toml")["by"]:
        (file := tmp_path / f"{name}.toml").write_text(case.format(nodes))
        options = ("--share", *QUIET, "--case", str(file))
        agents.append(
            started(
                tmp_path / name,
                *line,
                options=options,
                env={"PATH": os.environ["PATH"], "EVALSUITE_HOST": host, **variables},
            )
        )

    assert [agent.wait(LONG) for agent in agents] == [0] * 4
    runs, out = str(tmp_path / "runs"), str(tmp_path / "out")
    assert cli.main(["import", *(str(tmp_path / name) for name in ("pod", "shell", "task")), "--runs", runs]) == 0
    assert cli.main(["report", "--runs", runs, "--out", out]) == 0
    found = evalsuite.load(out).runs[["nodes", "repeat", "counts"]]
    assert sorted(found.itertuples(index=False, name=None)) == [(1, 0, True), (1, 1, True), (2, 0, True)]
