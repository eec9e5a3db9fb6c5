"""The node agent: starts a command, stamps its output, samples the machine, and leaves no process behind.

One thread per pipe writes the bytes as they come and notes when they came; one thread samples the sensors
on a grid that does not drift; the main thread waits for children, signals and the time limit. All times
are seconds of CLOCK_MONOTONIC since the agent started its first process.
"""

import contextlib
import fcntl
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from evalsuite import cgroups, environment, processes, rendezvous, sensors, signals
from evalsuite.errors import EvalsuiteError
from evalsuite.runs.store import RunFolder

TIMED_OUT = 124  # the exit codes of timeout(1) and env(1)
AGENT_FAILED = 125
CANNOT_EXECUTE = 126
NOT_FOUND = 127
KILLED = 128  # plus the signal's number

GRACE_S = 5.0  # between asking a process to end and killing it
KILL_S = 5.0  # for the kernel to end what was killed; after that it hangs in a driver
SETTLE_S = 1.0  # for helpers of a program that has ended to follow by themselves
DRAIN_S = 5.0  # for the last output, once no process of ours is left to write it
POLL_S = 1.0
CHUNK_BYTES = 1 << 16
PIPE_BYTES = 1 << 20  # the most that Linux gives without privilege (pipe(7))
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
FIRST_ENDED = "first-node.ended"  # tells the agents of the other nodes, over the shared folder, to end too
WAIT = "import os, sys, time\nwhile not os.path.exists(sys.argv[1]): time.sleep(0.5)"


@dataclass(frozen=True, kw_only=True)
class Order:
    """What the agent is asked to do."""

    argv: tuple[str, ...]
    folder: Path
    host: str
    hz: float = 2.0
    processes: int | None = None  # None: one process, which starts its own workers if it wants some
    devices_per_node: int = 1
    threads: int | None = None  # CPU threads for each process; None: the usable cores shared out
    timeout_s: float | None = None
    echo: bool = False  # print the output too
    first_node_only: bool = False  # the command reaches the other nodes by itself; there the agent only samples


class CannotStart(EvalsuiteError):
    """The command could not be started."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class CannotRecord(EvalsuiteError):
    """The log or the samples could not be written; the run was ended for it."""

    exit_code = AGENT_FAILED


def run(order: Order) -> dict:
    """Does what *order* asks; returns what `agent.<host>.json` holds.

    Raises CannotStart or CannotRecord, with no process left behind. Must be called on the main thread.
    """
    place = rendezvous.node(os.environ)
    folder = _prepared(order)
    with signals.held() as watched:
        processes.adopt_orphans()
        try:
            folder.write_environment(order.host, environment.facts(order.host, place.rank))
            with contextlib.closing(_Agent(order, folder, place, watched)) as agent:
                return agent.run()
        except OSError as error:
            raise _cannot_record(error) from error


def threads(order: Order) -> int:
    """CPU threads for each process: the usable cores shared out among the devices of the node."""
    share = order.processes or order.devices_per_node
    return order.threads or max(1, int(sensors.usable_cpus()) // share)


class _Agent:
    """One order being carried out."""

    def __init__(self, order: Order, folder: RunFolder, place: rendezvous.Node, watched: set) -> None:
        self.order = order
        self.folder = folder
        self.place = place
        self.watched = watched
        self.failure: BaseException | None = None
        self.children: dict[int, int | None] = {}  # process id → wait status, once it has ended
        self.first_failure: int | None = None  # wait status
        self.interrupted_by: int | None = None
        self.impatient = False
        self.timed_out = False
        self.complete = False  # every process ended by itself
        self.readers: list[_Reader] = []
        self.sampler = _Sampler(order, folder, self._fail)
        self.started_at = datetime.now().astimezone().isoformat(timespec="milliseconds")
        self.cpu_before_s = time.process_time()
        self.start_s = time.monotonic()

    def run(self) -> dict:
        self.sampler.start(self.start_s)
        self._start_children()
        self._watch()
        ended = self._end_tree()
        if self.order.first_node_only and self.place.rank == 0:
            (self.folder.path / FIRST_ENDED).touch()
        duration_s = time.monotonic() - self.start_s
        self._drain()
        self.sampler.stop()
        facts = self._facts(ended, duration_s)
        if self.failure is None:
            self.folder.write_agent(self.order.host, facts)
            return facts
        with contextlib.suppress(OSError):  # the disk may be full, and the first failure says so
            self.folder.write_agent(self.order.host, facts)
        raise self.failure

    def close(self) -> None:
        """Ends what an exception has left running."""
        if self._running():
            processes.end_descendants(first=signal.SIGKILL, grace_s=0.0, kill_s=KILL_S, wait=self._wait)
        self.sampler.stop()

    def _start_children(self) -> None:
        for local_rank in range(self.order.processes or 1):
            rank = None if self.order.processes is None else self._rank(local_rank)
            reader = _Reader(self.folder, self.order.host, rank, self.start_s, self.order.echo, self._fail)
            self.readers.append(reader)
            try:
                self.children[self._spawn(local_rank, reader.write_end)] = None
            except CannotStart as error:
                self.failure = error
                return
            finally:
                reader.start()

    def _spawn(self, local_rank: int, output: int) -> int:
        per_process = self.order.processes is not None
        argv, variables = command(self.order, self.place, local_rank if per_process else None, os.environ)
        quiet_input = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)] if per_process else []
        try:
            return os.posix_spawnp(
                argv[0],
                argv,
                variables,
                file_actions=[*quiet_input, (os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)],
                setsid=True,  # Ctrl-C on a terminal reaches the agent alone, which ends the tree in order
                setsigmask=(),
                setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),  # Python ignores them; a program does not
            )
        except (OSError, ValueError) as error:
            raise _cannot_start(argv[0], error) from error

    def _rank(self, local_rank: int) -> int:
        return self.place.rank * (self.order.processes or 1) + local_rank

    def _running(self) -> bool:
        return None in self.children.values()

    def _watch(self) -> None:
        """Until all children have ended, one has failed, the time is up or a signal says so."""
        limit_s = self.order.timeout_s
        deadline = None if limit_s is None else self.start_s + limit_s
        while self._running() and not self.first_failure and not self.interrupted_by and self.failure is None:
            left_s = POLL_S if deadline is None else deadline - time.monotonic()
            if left_s <= 0:
                self.timed_out = True
                return
            self._wait(min(left_s, POLL_S))

    def _wait(self, seconds: float) -> bool:
        """Takes the next signal, if one comes in *seconds*; true once a second one asked us to end."""
        caught = signal.sigtimedwait(self.watched, seconds)
        self._reap()
        number = caught.si_signo if caught else None
        if number in signals.PASSED_ON:
            processes.send([pid for pid, status in self.children.items() if status is None], number)
        elif number in signals.ENDING:
            self.impatient = self.interrupted_by is not None
            self.interrupted_by = self.interrupted_by or number
        return self.impatient

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                if pid in self.children:
                    self.children[pid] = status
                    self.first_failure = self.first_failure or status

    def _end_tree(self) -> processes.Ended:
        """Leaves no process behind; a program that ended by itself gives its helpers a moment first."""
        self.complete = not self._running()
        deadline = time.monotonic() + (SETTLE_S if self.complete else 0.0)
        while processes.descendants() and time.monotonic() < deadline and not self.interrupted_by:
            self._wait(processes.POLL_S)
        return processes.end_descendants(
            first=self.interrupted_by or signal.SIGTERM, grace_s=GRACE_S, kill_s=KILL_S, wait=self._wait
        )

    def _drain(self) -> None:
        """Waits for the last bytes of each pipe. Somebody outside our tree may hold its other end."""
        deadline = time.monotonic() + DRAIN_S
        for reader in self.readers:
            reader.join(max(0.0, deadline - time.monotonic()))

    def _fail(self, error: BaseException) -> None:
        """Called on another thread: the run must end, and the main thread must wake to end it."""
        self.failure = self.failure or error
        os.kill(os.getpid(), signal.SIGCHLD)

    def _facts(self, ended: processes.Ended, duration_s: float) -> dict:
        status = self.first_failure or 0
        killer = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        return {
            "exit_code": self._exit_code(status),
            "signal": signals.name(killer),
            "timed_out": self.timed_out,
            "interrupted_by": signals.name(self.interrupted_by),
            "error": None if self.failure is None else str(self.failure),
            "started_at": self.started_at,
            "duration_s": round(duration_s, 6),
            "cpu_s": round(time.process_time() - self.cpu_before_s, 6),
            "left_behind": ended.asked if self.complete else 0,
            "survivors": ended.survivors,
            "samples": self.sampler.taken,
            "samples_missed": self.sampler.missed,
        }

    def _exit_code(self, status: int) -> int:
        if self.failure is not None:
            return getattr(self.failure, "exit_code", AGENT_FAILED)
        if self.timed_out:
            return TIMED_OUT
        if os.WIFSIGNALED(status):
            return KILLED + os.WTERMSIG(status)
        if self.interrupted_by and not self.complete and status == 0:
            return KILLED + self.interrupted_by  # it ended well, but not because it was done
        return os.WEXITSTATUS(status)


class _Reader:
    """Writes what comes out of one pipe, byte for byte, and when it came."""

    def __init__(
        self,
        folder: RunFolder,
        host: str,
        rank: int | None,
        start_s: float,
        echo: bool,
        fail: Callable[[BaseException], None],
    ) -> None:
        self._read_end, self.write_end = os.pipe()
        with contextlib.suppress(OSError):  # a user near the system's limit gets the usual 64 KiB
            fcntl.fcntl(self._read_end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._log = _File(folder.log_path(host, rank))
        self._arrivals = _File(folder.arrivals_path(host, rank))
        self._start_s = start_s
        self._echo = echo
        self._fail = fail
        self._thread = threading.Thread(target=self._copy, name="reader", daemon=True)

    def start(self) -> None:
        """Begins reading; call it once the process that writes has been started."""
        os.close(self.write_end)
        self._thread.start()

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _copy(self) -> None:
        try:
            self._arrivals.write(b"end_byte,at_s\n")
            written = 0
            while chunk := os.read(self._read_end, CHUNK_BYTES):
                at_s = time.monotonic() - self._start_s
                self._log.write(chunk)
                written += len(chunk)
                self._arrivals.write(b"%d,%.6f\n" % (written, at_s))
                self._print(chunk)
        except BaseException as error:
            self._fail(error)
            self._swallow()
        finally:
            os.close(self._read_end)
            self._log.close()
            self._arrivals.close()

    def _print(self, chunk: bytes) -> None:
        if not self._echo:
            return
        try:
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
        except OSError:
            self._echo = False  # whoever watched has gone; the log goes on

    def _swallow(self) -> None:
        """Keeps the pipe empty, so that a program that shall end is not held up by a full one."""
        with contextlib.suppress(OSError):
            while os.read(self._read_end, CHUNK_BYTES):
                pass


class _Sampler:
    """Reads the sensors at start + k/hz. A deadline that was missed is skipped, not made up for."""

    def __init__(self, order: Order, folder: RunFolder, fail: Callable[[BaseException], None]) -> None:
        self.taken = 0
        self.missed = 0
        self._period_s = 1.0 / order.hz
        self._fail = fail
        self._node = NodeSensors(order)
        self._file = _File(folder.samples_path(order.host))
        self._hz = order.hz
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="sampler", daemon=True)

    def start(self, start_s: float) -> None:
        self._start_s = start_s
        self._thread.start()

    def stop(self) -> None:
        """Ends with one last sample. May be called twice, and before `start`."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(DRAIN_S)
        self._node.close()

    def _sample(self) -> None:
        try:
            started_at_unix_s = time.time() - (time.monotonic() - self._start_s)
            self._write({"header": True, "hz": self._hz, "started_at_unix_s": started_at_unix_s} | self._node.facts())
            k = 0
            while True:
                self._write(self._node.reading(self._start_s))
                self.taken += 1
                if self._stopped.is_set():
                    return
                elapsed_periods = (time.monotonic() - self._start_s) / self._period_s
                self.missed += max(0, int(elapsed_periods) - k)
                k = max(k, int(elapsed_periods)) + 1
                self._stopped.wait(self._start_s + k * self._period_s - time.monotonic())
        except BaseException as error:
            self._fail(error)
        finally:
            self._file.close()

    def _write(self, facts: Mapping) -> None:
        self._file.write(json.dumps(facts, separators=(",", ":")).encode() + b"\n")


class NodeSensors:
    """All sensors of this node in one reading, the shape of a line of `samples.<host>.jsonl`."""

    def __init__(self, order: Order) -> None:
        limits = cgroups.limits()
        self._cpu = sensors.Cpu(limits)
        self._memory = sensors.Memory(limits)
        self._disks = sensors.Disks()
        self._network = sensors.Network()
        self._gpus = sensors.Gpus()
        self._tree = processes.Tree()
        self._devices = order.devices_per_node

    def facts(self) -> dict:
        """The header: what the readings are measured against."""
        return {
            "cpu_count": self._cpu.capacity,
            "cpu_scope": self._cpu.scope,
            "cores": self._cpu.cores,
            "memory_total_bytes": self._memory.total_bytes,
            "memory_scope": self._memory.scope,
            "disks": self._disks.names,
            "interfaces": self._network.facts,
            "gpus": self._gpu_facts(),
            "pcie_period_s": self._gpus.pcie_period_s,
        }

    def reading(self, start_s: float) -> dict:
        """One sample. CPU percentages hold from the sample before to this one."""
        at_s = time.monotonic() - start_s
        percent, per_core = self._cpu.reading()
        return {
            "at_s": round(at_s, 6),
            "cpu_percent": _rounded(percent),
            "cpu_percent_per_core": None if per_core is None else [_rounded(core) for core in per_core],
            "memory_used_bytes": self._memory.used_bytes(),
            "disks": self._disks.reading(),
            "interfaces": self._network.reading(),
            "tree": self._tree.reading(),
            "gpus": self._gpus.reading(),
        }

    def close(self) -> None:
        self._gpus.close()

    def _gpu_facts(self) -> list[dict]:
        """The devices, and which of them the job uses: the first of those that its programs see."""
        gpus = self._gpus.facts()
        seen = sensors.visible(gpus, os.environ.get("CUDA_VISIBLE_DEVICES"))[: self._devices]
        return [gpu | {"of_job": gpu in seen} for gpu in gpus]


class _File:
    """A new file whose bytes are with the kernel when `write` returns."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)

    def write(self, content: bytes) -> None:
        view = memoryview(content)
        while view:
            try:
                view = view[os.write(self._descriptor, view) :]
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(self._path)) from error

    def close(self) -> None:
        with contextlib.suppress(OSError):  # what close can complain of, write has said before
            os.close(self._descriptor)


def command(
    order: Order, place: rendezvous.Node, local_rank: int | None, inherited: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment of one process, with all placeholders filled."""
    count = threads(order)
    known = rendezvous.placeholders(place, order.processes or order.devices_per_node, count)
    variables = {name: _filled(value, known) for name, value in inherited.items()}
    variables |= rendezvous.variables(place, order.processes or 1, local_rank)
    defaults = {name: variables.get("OMP_NUM_THREADS", str(count)) for name in THREAD_VARIABLES} | {
        "PYTHONUNBUFFERED": "1",
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",  # so that CUDA numbers the devices as NVML does
    }
    argv = [_filled(token, known) for token in order.argv]
    if order.first_node_only and place.rank > 0:
        argv = [sys.executable, "-c", WAIT, str(order.folder / FIRST_ENDED)]
    if reason := rendezvous.unfilled(argv):
        raise CannotStart(reason, CANNOT_EXECUTE)
    return argv, defaults | variables


def _prepared(order: Order) -> RunFolder:
    """The run folder, with nothing of this host in it yet."""
    folder = RunFolder(order.folder)
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EvalsuiteError(
            f"{folder.path}: {error.strerror}; expected a folder to write into. Try -o with one of yours."
        ) from error
    if folder.samples_path(order.host).exists():
        raise EvalsuiteError(
            f"{folder.samples_path(order.host)}: the file exists; a run is recorded once and never over another. "
            "Try -o with a new folder."
        )
    return folder


def _filled(token: str, known: Mapping[str, str]) -> str:
    for name, value in known.items():
        token = token.replace(name, value)
    return token


def _cannot_start(program: str, error: OSError | ValueError) -> CannotStart:
    if isinstance(error, FileNotFoundError):
        return CannotStart(f"{program}: no such program; expected one on the PATH, or a path.", NOT_FOUND)
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return CannotStart(f"{program}: {reason}; expected a program that can be executed.", CANNOT_EXECUTE)


def _cannot_record(error: OSError) -> CannotRecord:
    return CannotRecord(
        f"{error.filename}: {error.strerror}; what was written up to there stays, and the run was ended. Make room, "
        "or try -o (--runs) on another disk."
    )


def _rounded(percent: float | None) -> float | None:
    return None if percent is None else round(percent, 2)
