"""The run folder: the only module that knows the names of its files. `runs/<case>/r<repeat>/` holds `case.json`,
`command.json`, for each host `environment.<host>.json`, `samples.<host>.columns` (`.jsonl` until the agent ends),
`log.<host>.txt` byte for byte (`log.<host>.r<rank>.txt` where a node has several processes) and `arrivals.<host>.csv`,
and last `outcome.json`: the run has finished. A finished run is never edited. An interrupted one is moved aside."""

import contextlib
import functools
import hashlib
import itertools
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalsuite.core import decode, locks, redaction
from evalsuite.core.documents import HostEnvironment, RunCommand
from evalsuite.core.errors import EvalsuiteError, of_machine
from evalsuite.core.files import NOT_UNPACKED, is_file, read_json, says_the_same, sha256, write_json
from evalsuite.core.messages import Message, from_json
from evalsuite.core.model import Case, Log, Run
from evalsuite.core.paths import SCRATCH
from evalsuite.runs.endings import AgentOutcome, Outcome
from evalsuite.runs.journal import CAMPAIGNS, Journal, JournalLine
from evalsuite.runs.planned import AskedRun, Planned
from evalsuite.runs.recordings import BY_AGENT

if TYPE_CHECKING:
    from evalsuite.runs.samples import Samples

CASE = "case.json"
COMMAND = "command.json"
OUTCOME = "outcome.json"
PULSE = ".evalsuite-pulse"
PLAN = "plan.json"
# what is read beside the runs
BESIDE = (PLAN, "campaign.json", f"{CAMPAIGNS}/*.json", "equivalence/*.json", "models/*.json")
LONGEST_NAME = 180  # bytes; file systems take 255, and archives and sites put more before it
SHOWN_OF_A_NAME, HASH_DIGITS = 100, 16
ABANDONED_S = 3600.0  # a temporary file exists for milliseconds
_PLAIN = re.compile(r"[\w+][\w+.,=@-]*", re.ASCII)  # safe in every file system, shell and web server
_STRANGE = re.compile(r"[^\w+.,=@-]+", re.ASCII)
_PACKED = ("gz", "xz", "bz2")  # what a user may have made of a log and its arrivals since, to save room
_PACKING = rf"\.(?:{'|'.join(_PACKED)})"
_LOG = re.compile(rf"log\.(?P<host>.+?)(?:\.r(?P<rank>\d+))?\.txt(?:{_PACKING})?")
_ASIDE = re.compile(r"r\d+\.interrupted-\d+|[a-z]+-r\d+-\d+")
_RECORDED = re.compile(rf"(?s)(?:log\..*\.txt|arrivals\..*\.csv)(?:{_PACKING})?|samples\..*\.(?:jsonl|columns)")
_READ = re.compile(rf"{_RECORDED.pattern}|(?:agent|environment|waiting)\..*|{CASE}|{COMMAND}|{OUTCOME}|engine\.txt")


def check_root(root: Path) -> None:
    if is_file(root / "manifest.json") or is_file(root / "site.json"):
        raise EvalsuiteError.of("commands.runs_other", path=root)


@dataclass(frozen=True)
class RunFolder:
    path: Path
    label: str = ""  # of its folder of runs, where there are several
    shift: int = 0  # what its repeat is raised by there
    fresh: bool = field(default=False, compare=False)  # nobody else looks into it yet

    def log_path(self, host: str, rank: int | None = None) -> Path:
        return self.path / f"log.{_label(host, rank)}.txt"

    def arrivals_path(self, host: str, rank: int | None = None) -> Path:
        return self.path / f"arrivals.{_label(host, rank)}.csv"

    def samples_path(self, host: str) -> Path:
        return self.path / f"samples.{host}.jsonl"

    def packed_samples_path(self, host: str) -> Path:
        return self.path / f"samples.{host}.columns"

    def pack_samples(self, host: str) -> None:
        """Raises OSError and EvalsuiteError; the lines stay then."""
        from evalsuite.runs import columns, samples  # slow to import, and `parse` reads none

        header, readings = samples.stream(self.samples_path(host))
        if header is not None:
            columns.write(self.packed_samples_path(host), header, readings)
            self.samples_path(host).unlink()

    def environment_path(self, host: str) -> Path:
        return self.path / f"environment.{host}.json"

    @property
    def scratch(self) -> Path:
        """For the run's own processes; removed when the run ends well."""
        return self.path / SCRATCH

    @property
    def pulse(self) -> Path:
        """The evaluator touches it while it lives; it says after how many seconds without that it is lost."""
        return self.scratch / PULSE

    def beat_path(self, host: str) -> Path:
        return self.scratch / f"{PULSE}.{host}"

    @property
    def engine_log(self) -> Path:
        return self.path / "engine.txt"

    def agents(self) -> dict[str, AgentOutcome]:
        return {host: AgentOutcome.from_json(read_json(file), file) for host, file in self._by_host("agent")}

    @property
    def launched(self) -> bool:
        return (self.path / CASE).exists()

    def by_agents(self) -> list[Path]:
        names = (name for name in sorted(self._names()) if BY_AGENT.fullmatch(name) or _LOG.fullmatch(name))
        return [file for file in map(self.path.joinpath, names) if is_file(file)]

    def ensure(self, run: Run) -> bool:
        """Makes the folder of *run* anew if it is gone, or another thing is in its place. Was it so?"""
        if self.path.is_dir() and not self.path.is_symlink():
            return False
        if os.path.lexists(self.path):
            self.path.rename(_new_name(self.path, f"{self.path.name}.interrupted-"))
        self.path.mkdir(parents=True)
        self.write_case(run)
        return True

    def write_case(self, run: Run) -> None:
        AskedRun.of(run).write(self.path / CASE, fresh=self.fresh)

    def write_command(self, command: RunCommand) -> None:
        command.write(self.path / COMMAND, fresh=self.fresh)

    def write_environment(self, environment: HostEnvironment) -> None:
        environment.write(self.environment_path(environment.host))

    def write_waiting(self, host: str, words: str | None) -> None:
        file = self.path / f"waiting.{host}.json"
        if words is None:
            file.unlink(missing_ok=True)
            return
        self.path.mkdir(parents=True, exist_ok=True)
        write_json(file, {"words": words.to_json() if isinstance(words, Message) else words})

    def waiting(self) -> str | None:
        for file in sorted(self.path.glob("waiting.*.json")):
            with contextlib.suppress(EvalsuiteError, ValueError):
                return from_json(read_json(file).get("words"))
        return None

    def write_agent(self, host: str, outcome: AgentOutcome) -> None:
        outcome.write(self.path / f"agent.{host}.json")

    def write_outcome(self, outcome: Outcome) -> None:
        """Ends the run. Adds the hash of each recorded file."""
        try:
            hashes = {file.name: sha256(file) for file in self._recorded()}
        except FileNotFoundError:  # packed meanwhile, by what a killed agent left
            hashes = {file.name: sha256(file) for file in self._recorded()}
        replace(outcome, sha256=hashes).write(self.path / OUTCOME, fresh=self.fresh)

    @property
    def finished(self) -> bool:
        return (self.path / OUTCOME).is_file()

    def run(self) -> Run:
        file = self.path / CASE
        asked = AskedRun.from_json(read_json(file), file).run
        return replace(asked, repeat=asked.repeat + self.shift)

    @property
    def place(self) -> str:
        return "/".join(filter(None, (self.label, self.path.parent.name, self.path.name)))

    def check_name(self, run: Run) -> None:
        """Raises EvalsuiteError if the folder has the name of another run than *run*, of its `case.json`."""
        if (self.path.parent.name, self.path.name) != (folder_name(run.case), f"r{run.repeat - self.shift}"):
            raise EvalsuiteError.of(
                "runs.folder_renamed",
                path=self.path / CASE,
                run=run.id,
                case=self.path.parent.name,
                name=self.path.name,
            )

    def command(self) -> RunCommand:
        file = self.path / COMMAND
        command = RunCommand.from_json(read_json(file), file)
        return replace(
            command,
            argv=redaction.redact_words(command.argv),
            command=redaction.redact_words(command.command),
            environment=redaction.redact_variables(command.environment),
            files=redaction.redact_variables(command.files) if command.files is not None else None,
        )

    def outcome(self) -> Outcome:
        file = self.path / OUTCOME
        return Outcome.from_json(read_json(file), file)

    def environments(self) -> dict[str, HostEnvironment]:
        hosts = {host: HostEnvironment.from_json(read_json(file), file) for host, file in self._by_host("environment")}
        return {
            host: replace(known, environment_variables=redaction.redact_variables(known.environment_variables))
            if known.environment_variables
            else known
            for host, known in hosts.items()
        }

    def _by_host(self, kind: str) -> list[tuple[str, Path]]:
        matches = (re.fullmatch(rf"(?s){kind}\.(.*)\.json", name) for name in sorted(self._names()))
        return [(match[1], self.path / match[0]) for match in matches if match]

    def _names(self) -> list[str]:
        with contextlib.suppress(OSError):
            return os.listdir(self.path)
        return []

    def logs(self) -> list[Log]:
        """By host and rank; a link, a pipe or a device is none, nor is a packed one beside itself."""
        logs: dict[str, Log] = {}
        for match in filter(None, map(_LOG.fullmatch, sorted(self._names()))):
            host, rank = match["host"], int(match["rank"]) if match["rank"] else None
            log, arrivals = self.path / match[0], _find_packed(self.arrivals_path(host, rank))
            name = _as_recorded(match[0])
            if is_file(log):
                logs.setdefault(name, Log(path=log, arrivals=arrivals, host=host, rank=rank, name=name))
        return sorted(logs.values(), key=lambda log: (log.host, log.rank is not None, log.rank or 0))

    def changed(self, outcome: Outcome) -> tuple[str, ...]:
        """The files that differ from the hashes in *outcome*; one without a hash there is new, and counts too."""
        held = outcome.sha256
        if held is None:
            return ()
        logs_alone = all(map(_LOG.fullmatch, held))
        there = [file.name for file in self._recorded() if not logs_alone or _LOG.fullmatch(file.name)]
        unknown = (name for name in there if held.keys().isdisjoint((name, _as_recorded(name))))
        return (*self.others(held), *unknown)

    def is_touched(self, name: str, recorded: str | None) -> bool:
        """Whether file *name*, which has not the hash *recorded*, says the same all the same, or nothing reads it."""
        path = self.path / name
        return says_the_same(path, recorded) if recorded else path.exists() and not _READ.fullmatch(name)

    def others(self, held: Mapping[str, str]) -> tuple[str, ...]:
        """The files that do not have the hashes in *held*."""
        return tuple(name for name, recorded in sorted(held.items()) if _hash(self.path / name) != recorded)

    def hash_records(self, held: Mapping[str, str] | None = None) -> dict[str, str]:
        """Name → hash of each file but those that its outcome has *held*."""
        known, others = (held or {}).keys(), (name for name in sorted(self._names()) if name[0] != ".")
        names = [name for name in others if known.isdisjoint((name, _as_recorded(name)))]
        return {name: hashed for name in names if (hashed := _hash(self.path / name))}

    def recorded(self) -> list[str]:
        return [file.name for file in (*self._recorded(), *sorted(self.path.glob("environment.*.json")))]

    def _recorded(self) -> list[Path]:
        there = [self.path / name for name in sorted(self._names()) if _RECORDED.fullmatch(name)]
        return [file for file in there if is_file(file)]

    def samples(self, host: str) -> "Samples | None":
        """None if there are none. A half-written last line is left out."""
        from evalsuite.runs import columns, samples

        packed = self.packed_samples_path(host)
        return columns.read(packed) if is_file(packed) else samples.read(self.samples_path(host))

    def sampled_hosts(self) -> list[str]:
        files = [*self.path.glob("samples.*.columns"), *self.path.glob("samples.*.jsonl")]
        return sorted({file.stem.removeprefix("samples.") for file in files})


TRIALS = "largest-batch"  # beside the runs: a store of the trials of the searches for a batch


class Store:
    def __init__(self, root: Path) -> None:
        self.root = Path(root)

    @property
    def roots(self) -> tuple[Path, ...]:
        return (self.root,)

    @property
    def journal(self) -> Journal:
        return Journal(self.root)

    def folder(self, run: Run) -> RunFolder:
        return RunFolder(self.root / folder_name(run.case) / f"r{run.repeat}")

    def hash_beside(self) -> tuple[dict[str, str], ...]:
        """Of each root: path → hash of what is read beside the run folders."""
        found = ((root, sorted(file for each in BESIDE for file in root.glob(each))) for root in self.roots)
        return tuple({file.relative_to(root).as_posix(): sha256(file) for file in files} for root, files in found)

    def ended(self) -> Callable[[Run], bool]:
        """A function that says whether a run is finished. One listing answers for cases without a folder."""
        present: frozenset[str] = frozenset()
        with contextlib.suppress(OSError):
            present = frozenset(os.listdir(self.root))
        return lambda run: folder_name(run.case) in present and self.folder(run).finished

    def missing(self, runs: Iterable[Run]) -> list[Run]:
        ended = self.ended()
        return [run for run in runs if not ended(run)]

    def finished(self) -> list[RunFolder]:
        """Also those that nobody may look into, or whose outcome is a link to nothing: who reads them is told."""
        runs = self.root.glob("*/r[0-9]*/")
        held = {run for run in runs if os.path.lexists(f"{run}/{OUTCOME}") or not os.access(run, os.R_OK | os.X_OK)}
        held |= {case / "r0" for case in self.root.glob("*-*/") if not os.access(case, os.R_OK | os.X_OK)}
        numbers = {RunFolder(run): decode.whole(run.name.removeprefix("r")) for run in held}
        return sorted(numbers, key=lambda each: (each.path.parent.name, numbers[each] is not None, numbers[each] or 0))

    def aside(self) -> list[Path]:
        """Attempts that count for nothing: given up, failed by a node, made again."""
        return sorted(path for path in self.root.glob("*/*r[0-9]*") if _ASIDE.fullmatch(path.name) and path.is_dir())

    def remove(self, path: Path, at: str) -> None:
        """After a note in the journal with the hash of each file; of a link only the link."""
        linked, name = path.is_symlink(), f"{path.parent.name}/{path.name}"
        held = {} if linked else RunFolder(path).hash_records()
        self.journal.note(JournalLine(event="removed", run=name, attempt=0, campaign="", at=at, sha256=held))
        path.unlink() if linked else shutil.rmtree(path)

    def write_plan(self, planned: Planned) -> None:
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            sweep(self.root, older_s=ABANDONED_S)
            planned.write(self.root / PLAN)
        except OSError as error:
            raise _unwritable(self.root, error) from error

    def plan(self) -> Planned | None:
        """The last plan; None: none, as with imported runs."""
        file = self.root / PLAN
        return Planned.from_json(read_json(file), file) if os.path.lexists(file) else None

    @contextlib.contextmanager
    def claim(self, run: Run, waits: Callable[[str], object] | None = None) -> Iterator[RunFolder | None]:
        """Held by us alone; None if finished or held by another, for which a caller that *waits* waits. An interrupted
        attempt is moved aside."""
        folder = self.folder(run)
        with contextlib.ExitStack() as stack:
            try:
                folder.path.parent.mkdir(parents=True, exist_ok=True)
                lock = folder.path.with_name(f".r{run.repeat}.lock")
                said = functools.partial(waits or str, Message("runs.held", run=run.id))
                ours = stack.enter_context(locks.hold_lock(lock, wait=bool(waits), waiting=said))
            except OSError as error:
                raise _unwritable(folder.path.parent, error) from error
            if ours:  # whoever gets the lock of a finished run later sees that it is finished
                stack.callback(lambda: lock.unlink(missing_ok=True) if folder.finished else None)
            if not ours or folder.finished:
                yield None
                return
            _move_aside(folder.path)
            folder.path.mkdir()
            folder.write_case(run)
            yield folder

    def add(self, run: Run, fill: Callable[[RunFolder], object]) -> RunFolder | None:
        """A finished run from elsewhere, in its place once it is whole; None if that is taken. Nothing is flushed."""
        folder = self.folder(run)
        if os.path.lexists(folder.path):
            return None
        aside = folder.path.with_name(f"{folder.path.name}.interrupted-{time.time_ns()}")
        with contextlib.ExitStack() as stack:
            try:
                aside.mkdir(parents=True)
                stack.callback(shutil.rmtree, aside, ignore_errors=True)
                (new := replace(folder, path=aside, fresh=True)).write_case(run)
                fill(new)
                aside.rename(folder.path)
            except OSError as error:
                if os.path.lexists(folder.path):  # another was faster
                    return None
                raise _unwritable(aside, error) from error
        return folder

    def again(self, folder: RunFolder, why: str) -> None:
        run = folder.run()
        self.set_aside(folder, why)
        folder.path.mkdir()
        folder.write_case(run)

    def set_aside(self, folder: RunFolder, why: str) -> Path:
        try:
            return folder.path.rename(_new_name(folder.path, f"{why}-{folder.path.name}-"))
        except OSError as error:
            raise _unwritable(folder.path, error) from error


def folder_name(case: Case) -> str:
    """The id of *case*; where that is no good name of a folder, a part of it and a hash."""
    encoded = case.id.encode("utf-8", "surrogateescape")
    if _PLAIN.fullmatch(case.id) and len(encoded) <= LONGEST_NAME:
        return case.id
    start = _STRANGE.sub("_", case.id)[:SHOWN_OF_A_NAME].strip("._-") or "case"
    return f"{start}-{hashlib.sha256(encoded).hexdigest()[:HASH_DIGITS]}"


def _as_recorded(name: str) -> str:
    return re.sub(rf"(?<=\.txt|\.csv){_PACKING}$", "", name)


def _find_packed(file: Path) -> Path:
    """*file*, or what a user made of it with gzip, xz or bzip2."""
    names = (file.name, *(f"{file.name}.{end}" for end in _PACKED))
    return next((found for name in names if _RECORDED.fullmatch(name) and is_file(found := file.with_name(name))), file)


def _hash(file: Path) -> str | None:
    """Of a log that a user packed: of what it says."""
    there = _find_packed(file)
    with contextlib.suppress(*NOT_UNPACKED):
        return sha256(there, follow=False, unpacked=there != file)
    return None


def _unwritable(path: Path, error: OSError) -> EvalsuiteError:
    where = OSError(error.errno, error.strerror, str(error.filename or path))
    return of_machine(where) or EvalsuiteError.of("runs.runs_folder", path=path, error=error)


def _label(host: str, rank: int | None) -> str:
    return host if rank is None else f"{host}.r{rank}"


def _move_aside(path: Path) -> None:
    if not path.exists():
        return
    aside = path.rename(_new_name(path, f"{path.name}.interrupted-"))
    shutil.rmtree(aside / SCRATCH, ignore_errors=True)  # may be large
    sweep(aside)


def _new_name(path: Path, start: str) -> Path:
    places = (path.with_name(f"{start}{number}") for number in itertools.count(1))
    return next(place for place in places if not place.exists())


def sweep(folder: Path, older_s: float = 0.0) -> None:
    """Removes files that a killed process left half-written, if none changed for *older_s*."""
    for path in folder.glob(f".*.json.{'?' * 8}"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime >= older_s:
                path.unlink()
