"""The node agent's work. All times are seconds of CLOCK_MONOTONIC since it started its first process.

One thread per pipe writes bytes and arrival times, one samples the sensors; the main thread waits for children, signals
and the time limit.
"""

import contextlib
import os
import signal
import statistics
import time
from collections.abc import Iterator, Mapping
from datetime import datetime

from evalsuite.agent import rendezvous
from evalsuite.agent.node_lock import NodeLock
from evalsuite.agent.order import CannotStart, Order, bound_to, cannot_start, command, visible_devices
from evalsuite.agent.recording import Quota, Reader
from evalsuite.agent.sampling import DRAIN_S, Sampler
from evalsuite.core import files, placeholders, redaction
from evalsuite.core.errors import EvalsuiteError, of_machine
from evalsuite.core.messages import Message
from evalsuite.core.paths import FIRST_ENDED
from evalsuite.machine import environment, interfaces, process_tree
from evalsuite.machine.heartbeat import Heartbeat
from evalsuite.runs.endings import AGENT_FAILED, AgentOutcome
from evalsuite.runs.store import RunFolder, check_root

TIMED_OUT = 124  # as timeout(1)
KILLED = 128  # plus the signal's number

GRACE_S = 5.0  # between asking a process to end and killing it
KILL_S = 5.0  # after that it hangs in a driver
SETTLE_S = 1.0  # for helpers of an ended program
POLL_S = 1.0


class CannotRecord(EvalsuiteError):
    exit_code = AGENT_FAILED


def run(order: Order, lock: NodeLock | None = None) -> AgentOutcome:
    """Does what *order* asks and says how that ended. Must be called on the main thread. Raises EvalsuiteError, with
    no process left behind."""
    place = rendezvous.node(os.environ)
    os.environ.update(interfaces.variables(os.environ, place))
    os.environ.update(visible_devices(order, place.nodes, os.environ))
    folder = prepare_folder(order)
    with process_tree.hold_signals() as watched:
        process_tree.adopt_orphans()
        try:
            folder.write_environment(environment.read_environment(order.host, place.rank))
            facts = folder.environment_path(order.host)
            held = {facts.name: files.sha256(facts)}
            with contextlib.closing(_Agent(order, folder, place, watched, lock, held)) as agent:
                return agent.run()
        except FileExistsError as error:  # by another `sample` at the same moment
            raise EvalsuiteError.of("agent.record_once", path=error.filename) from error
        except OSError as error:
            known, path = of_machine(error), error.filename or Message("agent.the_run_folder")
            reason = known.message if known else Message("agent.record_elsewhere", path=path, error=error)
            raise CannotRecord.of("agent.record_ended", error=reason) from error


class _Agent:
    def __init__(
        self,
        order: Order,
        folder: RunFolder,
        place: placeholders.Node,
        watched: set[int],
        lock: NodeLock | None,
        held: Mapping[str, str],
    ) -> None:
        self.order = order
        self.lock = lock
        self.held = dict(held)  # name of each file that we wrote → its hash
        self.folder = folder
        self.place = place
        self.watched = watched
        self.failure: BaseException | None = None
        self.children: dict[int, int | None] = {}
        self.first_failure: int | None = None  # wait status
        self.interrupted_by: int | None = None
        self.impatient = False
        self.timed_out = False
        self.complete = False
        self.readers: list[Reader] = []
        self.heartbeat = Heartbeat(folder.beat_path(order.host), folder.pulse, self._fail)
        self.quota = Quota(order.most_log_bytes)
        self.cores = bound_to(order)
        self.sampler = Sampler(order, folder, self._fail, sorted({core for share in self.cores for core in share}))
        self.started_at = datetime.now().astimezone().isoformat(timespec="milliseconds")
        self.cpu_before_s = time.process_time()
        self.cpu_s = 0.0
        self.waited_before_s = process_tree.waited_for_s()
        self.start_s = time.monotonic()

    def run(self) -> AgentOutcome:
        self.heartbeat.start()
        self.sampler.start(self.start_s)
        self._start_children()
        self._watch()
        ended = self._end_tree()
        if self.order.first_node_only and self.place.rank == 0:
            (self.folder.path / FIRST_ENDED).touch()
        duration_s = time.monotonic() - self.start_s
        deadline = time.monotonic() + DRAIN_S
        for reader in self.readers:  # a process outside the tree may hold the other end of its pipe open
            reader.join(max(0.0, deadline - time.monotonic()))
        self.sampler.stop()
        self.cpu_s = time.process_time() - self.cpu_before_s  # what follows takes nothing from the training
        self._pack_samples()
        outcome = self._outcome(ended, duration_s)
        if self.failure is None:
            self.folder.write_agent(self.order.host, outcome)
            return outcome
        with contextlib.suppress(OSError):  # the disk may be full, and the first failure says so
            self.folder.write_agent(self.order.host, outcome)
        raise self.failure

    def close(self) -> None:
        if self._running():
            process_tree.end_descendants(first=signal.SIGKILL, grace_s=0.0, kill_s=KILL_S, wait=self._wait)
        self.sampler.stop()
        self.heartbeat.stop()

    def _start_children(self) -> None:
        count = self.order.processes or 1
        for local_rank in range(count):
            rank = None if self.order.processes is None else self.place.rank * count + local_rank
            reader = Reader(self.folder, self.order.host, rank, self.start_s, self.order.echo, self._fail, self.quota)
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
        variables |= self.lock.variables if self.lock else {}
        quiet_input = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)] if per_process else []
        try:
            with self._bound(local_rank if per_process else None):
                return os.posix_spawnp(
                    argv[0],
                    argv,
                    variables,
                    file_actions=[*quiet_input, (os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)],
                    setsid=True,  # Ctrl-C reaches the agent alone, which ends the tree in order
                    setsigmask=(),
                    setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),  # Python ignores them; a program does not
                )
        except (OSError, ValueError) as error:
            raise cannot_start(argv[0], error) from error

    @contextlib.contextmanager
    def _bound(self, local_rank: int | None) -> Iterator[None]:
        """What is started meanwhile is bound to the cores of its device; without a rank, to those of all."""
        if not self.cores:
            yield
            return
        own = self.cores if local_rank is None else (self.cores[local_rank],)
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {core for share in own for core in share})
        try:
            yield
        finally:
            os.sched_setaffinity(0, before)

    def _running(self) -> bool:
        return None in self.children.values()

    def _watch(self) -> None:
        limit_s = self.order.timeout_s
        deadline = None if limit_s is None else self.start_s + limit_s
        while self._running() and not self.first_failure and not self.interrupted_by and self.failure is None:
            left_s = POLL_S if deadline is None else deadline - time.monotonic()
            if left_s <= 0:
                self.timed_out = True
                return
            self._wait(min(left_s, POLL_S))

    def _wait(self, seconds: float) -> bool:
        caught = signal.sigtimedwait(self.watched, seconds)
        self._reap()
        number = caught.si_signo if caught else None
        if number in process_tree.PASSED_ON:
            process_tree.send([pid for pid, status in self.children.items() if status is None], number)
        elif number in process_tree.ENDING:
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

    def _end_tree(self) -> process_tree.EndedTree:
        """Helpers of a program that ended by itself have a moment to follow."""
        self.complete = not self._running()
        deadline = time.monotonic() + (SETTLE_S if self.complete else 0.0)
        while process_tree.descendants() and time.monotonic() < deadline and not self.interrupted_by:
            self._wait(process_tree.POLL_S)
        return process_tree.end_descendants(
            first=self.interrupted_by or signal.SIGTERM, grace_s=GRACE_S, kill_s=KILL_S, wait=self._wait
        )

    def _pack_samples(self) -> None:
        written, packed = self.sampler.hashes, self.folder.packed_samples_path(self.order.host)
        self.held |= written
        if not self.sampler.ended or self.folder.others(written) or packed.exists():
            return
        with contextlib.suppress(OSError, EvalsuiteError):
            self.folder.pack_samples(self.order.host)
        if packed.is_file():
            self.held = {name: digest for name, digest in self.held.items() if name not in written}
            self.held[packed.name] = files.sha256(packed)

    def _fail(self, error: BaseException) -> None:
        self.failure = self.failure or error
        os.kill(os.getpid(), signal.SIGCHLD)

    def _outcome(self, ended: process_tree.EndedTree, duration_s: float) -> AgentOutcome:
        status = self.first_failure or 0
        killer = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        return AgentOutcome(
            exit_code=self._exit_code(status),
            signal=process_tree.signal_name(killer),
            timed_out=self.timed_out,
            interrupted_by=process_tree.signal_name(self.interrupted_by),
            error=None if self.failure is None else str(self.failure),
            started_at=self.started_at,
            duration_s=round(duration_s, 6),
            cpu_s=round(self.cpu_s, 6),
            left_behind=ended.asked if self.complete else 0,
            survivors=ended.survivors,
            samples=len(self.sampler.took_s),
            reading_s=round(statistics.median(self.sampler.took_s), 6) if self.sampler.took_s else None,
            samples_missed=self.sampler.missed,
            cores=self.cores or None,
            group_cpu_s=round(process_tree.waited_for_s() - self.waited_before_s, 6),
            beside=self.lock.count_beside() if self.lock else None,
            sha256=self.held | {name: digest for reader in self.readers for name, digest in reader.hashes.items()},
            nodes=self.place.nodes,
            command=redaction.redact_words(self.order.argv),
        )

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


def prepare_folder(order: Order) -> RunFolder:
    """Raises EvalsuiteError where it cannot be made, or holds a record already."""
    folder = RunFolder(order.folder)
    check_root(folder.path)
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise EvalsuiteError.of("agent.record_folder", path=folder.path, error=error) from error
    for file in (folder.samples_path(order.host), folder.packed_samples_path(order.host)):
        if file.exists():
            raise EvalsuiteError.of("agent.record_once", path=file)
    return folder
