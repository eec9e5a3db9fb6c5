"""Run folders out of logs from elsewhere. What a log does not say comes from the user, or a pattern over its path. A
run is its bytes: the same bytes are never a second run. Where path and log contradict each other the log is left
out."""

import contextlib
import itertools
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalsuite import __version__
from evalsuite.contracts.dialect import Dialect
from evalsuite.core import files
from evalsuite.core.documents import RunCommand, Source, UsedRecipe
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.findings import ContradictsLog
from evalsuite.core.messages import Message, join, message_of
from evalsuite.core.model import UNKNOWN, Case, Finding, Run
from evalsuite.importing import histories, user_facts
from evalsuite.importing.exporters import Exported
from evalsuite.importing.histories import History
from evalsuite.importing.user_facts import Facts
from evalsuite.logs import catalogue, reading
from evalsuite.runs import campaign_facts, rehearsed, sampled
from evalsuite.runs.endings import Outcome
from evalsuite.runs.recordings import arrivals_of, is_recording, units
from evalsuite.runs.store import RunFolder, Store

HOST = "imported"
Content = tuple[str, ...]  # SHA-256 of each file, sorted


@dataclass(frozen=True, kw_only=True)
class Imported:
    source: str
    run: str | None = None
    status: str = "skipped"  # or that of the reading, "duplicate", "other kind", "already there", "cited"
    reason: str = ""
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Member:
    path: Path
    facts: Facts
    sha256: str
    folder: RunFolder | None = None  # of what agents recorded; there it has its name
    chosen: bool = True  # by its name or a pattern; else it may be any file that lies beside logs
    history: str | None = None  # of a tracker: where it stands

    @property
    def source(self) -> Path | str:
        return self.history or (self.folder.path if self.folder else self.path)


@dataclass
class Importer:
    """Brings logs into a store, which it knows by their bytes."""

    into: Store
    user: Mapping[str, str]  # what `--set` says
    common: Collection[str]  # the names of those facts that hold for the whole campaign
    found_by: "re.Pattern[str] | None"
    dialects: Mapping[str, Dialect]
    printed_facts: Callable[[Path], Mapping[str, str]]
    exported: Exported | None = None
    _paths: set[Path] = field(default_factory=set)  # met already
    _new: dict[Content, Path | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._depth = self.found_by.pattern.replace("[^/]", "").count("/") + 1 if self.found_by else 1  # of a path
        self._there = contents(self.into)

    def histories(self, found: Sequence[History], root: Path) -> Iterator[Imported]:
        """Nothing is written where one of them lacks an answer of the user's."""
        results: list[Imported] = []
        members: list[tuple[_Member, tuple[Case, reading.Reading]]] = []
        user = {name: value for name, value in self.user.items() if name not in histories.OWN_FACTS}
        for history in histories.of_project(found, lambda each: each.facts.get("project"), self.user.get("project")):
            if history.lack:
                yield Imported(source=history.source, reason=history.lack)
                continue
            try:
                written = histories.write(history, self.user.get("tag"), self.user.get("unit"))
                said = {**self._of_path(history.source.removeprefix(f"{root}/")), **user}
                own = histories.facts_of(history) | ({"scope": written.scope} if written.scope else {})
                told = {*said, *["run"] * bool(self.found_by and history.run in re.split("/|: ", history.source))}
                own = {name: value for name, value in own.items() if name not in ("run", "scope") or name not in told}
                facts = user_facts.merge_facts((user_facts.USER, said), (user_facts.SETTINGS, own))
                user_facts.check_facts(facts)
                of = _Member(path=written.path, facts=facts, sha256=files.sha256(written.path), history=history.source)
                read = self._case(of)
            except ValueError as error:
                results.append(Imported(source=history.source, reason=message_of(error)))
                continue
            if read[1].throughput is None or read[1].throughput.items_per_s is None:
                yield Imported(source=history.source, reason=join(written.lack, read[1].reason))
                continue
            members.append((of, read))
        waits, lacking = Message("importing.waits"), bool(results)
        yield from results
        for member, read in members:
            yield Imported(source=str(member.source), reason=waits) if lacking else self._imported([member], read)

    def logs(self, root: Path, but: Collection[Path] = ()) -> Iterator[Imported]:
        """Those below *root*, without what is *but*."""
        groups: dict[tuple[object, ...], list[_Member]] = {}
        for path in _files(root):
            if path.resolve() in self._paths or not {path, *path.parents}.isdisjoint(but):
                continue
            self._paths.add(path.resolve())
            folder = RunFolder(path) if path.is_dir() else None
            for log in [log.path for log in folder.logs()] if folder else [path]:
                rehearsed.refuse_log(log)
            below = path.relative_to(root) if path.is_relative_to(root) and path != root else None
            name = below.as_posix() if below else "/".join(path.parts[-self._depth :])
            try:
                facts = self._facts(name, folder)
                user_facts.check_facts(facts)
            except (ValueError, EvalsuiteError) as error:
                yield Imported(source=str(path), reason=message_of(error))
                continue
            ranked, chosen = "rank" in facts and folder is None, bool(path == root or self.found_by or folder)
            key = tuple(sorted((k, v) for k, v in facts.items() if k != "rank")) if ranked else (name,)
            groups.setdefault(key, []).extend(
                _Member(path=file, facts=facts, sha256=files.sha256(file), folder=folder, chosen=chosen)
                for file in (folder.by_agents() if folder else [path])
            )
        for members in groups.values():
            yield self._imported(members)

    def _of_path(self, name: str) -> Facts:
        match = self.found_by.fullmatch(name) if self.found_by else None
        if self.found_by and match is None:
            raise ValueError(Message("importing.not_pattern"))
        return match.groupdict() if match else {}

    def _facts(self, name: str, folder: RunFolder | None) -> Facts:
        said = [(user_facts.USER, self.user), (user_facts.PATH, self._of_path(name))]
        device = None
        if folder is not None:
            if lack := sampled.find_lack(folder):
                raise ValueError(lack)
            device = sampled.device(folder)
            said.append((user_facts.RECORDS, {"nodes": str(len(folder.agents()))}))
            said.append((user_facts.CASE_FILE, campaign_facts.read(folder.path)))
        facts = user_facts.merge_facts(*said)
        return {"device": device, **facts} if device else facts

    def _imported(self, members: Sequence[_Member], read: tuple[Case, reading.Reading] | None = None) -> Imported:
        content = tuple(sorted(member.sha256 for member in members))
        path = str(members[0].source)
        if content in self._new:
            twice = Message("importing.same_bytes", run=self._new[content])
            return Imported(source=path, status="duplicate", reason=twice)
        there = self._there.get(content)
        try:
            if there is not None:
                return compare_facts(path, there, members[0].facts)
            made = self._import_run(members, read or self._case(members[0]))
        except ValueError as error:
            return Imported(source=path, reason=message_of(error))
        self._new[content] = members[0].source
        return made

    def _import_run(self, members: Sequence[_Member], asked: tuple[Case, reading.Reading]) -> Imported:
        facts, (case, known) = members[0].facts, asked
        repeat = user_facts.whole_number(facts, "repeat")
        numbers = itertools.count() if repeat is None else itertools.chain((repeat,), itertools.count())
        runs = (Run(case=case, repeat=number) for number in numbers)
        sampled = self._samples(self.exported, members[0], case, known) if self.exported else {}
        run, folder = write_first_free(self.into, runs, lambda folder: self._fill(folder, members, known, sampled))
        read = reading.read_run(
            folder.logs(),
            case,
            known.dialect,
            scope=self._scope(known, facts),
            steps_per_report=user_facts.whole_number(facts, "steps_per_report"),
            shape=facts.get("shape"),
            dialects=self.dialects,
        )
        said = user_facts.scope(facts)
        if said and not self._scope(known, facts) and reading.PUBLIC_SCOPE[said] != known.scope:
            kept = Message("logs.scope_kept", given=said, own=known.scope)
            read = replace(read, reason=join(kept, read.reason))
        findings = (*read.findings, *(read.throughput.findings if read.throughput else ()))
        return Imported(
            source=str(members[0].source), run=run.id, status=read.status, reason=read.reason, findings=findings
        )

    def _case(self, first: _Member) -> tuple[Case, reading.Reading]:
        facts = first.facts
        recorded = [(log.path, log.arrivals) for log in first.folder.logs()] if first.folder else None
        logs = [(first.path, arrivals_of(first.path))] if recorded is None else recorded
        known = reading.read_file(
            *(path for path, _ in logs),
            arrivals=[arrivals for _, arrivals in logs],
            dialect=facts.get("dialect"),
            devices=user_facts.devices(facts),
            batch_per_device=user_facts.whole_number(facts, "batch"),
            scope=user_facts.scope(facts),
            steps_per_report=user_facts.whole_number(facts, "steps_per_report"),
            shape=facts.get("shape"),
            dialects=self.dialects,
        )
        against = [finding for finding in known.findings if isinstance(finding, ContradictsLog)]
        if known.status == "unrecognised" and not first.chosen:
            raise ValueError(known.reason)
        if against:
            named = [({"batch_per_device": "batch"}.get(each.what, each.what), each) for each in against]
            said = (Message("importing.said_and_logged", name=n, given=f.given, printed=f.printed) for n, f in named)
            raise ValueError(Message("importing.log_wins", reason=", ".join(said)))
        try:
            case = user_facts.case(facts, known, common=self.common)
            if case.precision == UNKNOWN and (printed := self.printed_facts(first.path).get("precision")):
                case = replace(case, precision=user_facts.precision(printed))
            return case, known
        except ValueError as error:
            if known.dialect is None and known.reason:
                raise ValueError(join(known.reason, message_of(error))) from error
            raise

    def _scope(self, known: reading.Reading, said: Facts) -> user_facts.Scope | None:
        dialect = self.dialects.get(known.dialect or "")
        return None if dialect and dialect.knows_scope else user_facts.scope(said)

    def _samples(self, exported: Exported, first: _Member, case: Case, known: reading.Reading) -> Mapping[str, str]:
        """Host → what the exporter told. Raises ValueError where the log does not say when it trained."""
        stamps = [step.stamp_s for step in known.steps if step.stamp_s is not None]
        if first.folder or len(stamps) < 2 or stamps[0] < histories.EARLIEST_S:
            raise ValueError(Message("importing.exported_when"))
        if not first.history and "zone" not in first.facts:
            raise ValueError(Message("importing.exported_zone"))
        offset_s = user_facts.offset_s(first.facts.get("zone", "UTC"))
        return exported.samples(stamps[0], stamps[-1], case.total_devices, offset_s)

    def _fill(
        self, folder: RunFolder, members: Sequence[_Member], known: reading.Reading, samples: Mapping[str, str]
    ) -> None:
        said = user_facts.recorded_facts(members[0].facts)
        for member in members:
            place = folder.log_path(HOST, user_facts.whole_number(member.facts, "rank"))
            place = folder.path / member.path.name if member.folder else place
            with open(place, "wb", opener=files.open_private) as copy, files.open_file(member.path, follow=True) as log:
                shutil.copyfileobj(log, copy)
            if files.sha256(place) != member.sha256:
                raise EvalsuiteError.of("importing.import_changed", path=member.path)
        for host, lines in samples.items():
            folder.samples_path(host).write_text(lines, encoding="utf-8")
            folder.pack_samples(host)
        copies = [Source(path=member.history or str(member.path), sha256=member.sha256) for member in members]
        made = command(self.dialects.get(known.dialect or ""), known.unit, copies, "imported")
        each = user_facts.whole_number(said, "steps_per_report")
        recipe = replace(made.recipe, scope=self._scope(known, said), steps_per_report=each, shape=said.get("shape"))
        started = next((agent.command for agent in folder.agents().values() if agent.command), ())
        folder.write_command(replace(made, command=started, recipe=recipe, stated=said))
        ended = sampled.outcome(folder) if members[0].folder else None
        folder.write_outcome(ended or Outcome(status="completed", reason="", origin="imported"))


def write_first_free(into: Store, runs: Iterator[Run], fill: Callable[[RunFolder], None]) -> tuple[Run, RunFolder]:
    """The first of *runs*, of which there is no end, that is not there yet, filled."""
    added = ((run, into.add(run, fill)) for run in runs)
    return next((run, folder) for run, folder in added if folder)


def _files(root: Path) -> list[Path]:
    """A run folder or a report that evalsuite wrote holds no log from elsewhere."""
    if root.is_dir():
        met = (path for path in units(root) if (files.is_file(path) or is_recording(path)))
        new = ((path, (path.parent, path.parent.parent)) for path in met if not RunFolder(path.parent).launched)
        return [path for path, of in new if not any({"manifest.json", "summary.json"} <= {*os.listdir(o)} for o in of)]
    if not root.is_file():
        raise EvalsuiteError.of(f"importing.no_{'regular' if os.path.lexists(root) else 'such'}", path=root)
    return [root.parent if is_recording(root.parent) else root]


def compare_facts(source: str, there: RunFolder, facts: Facts) -> Imported:
    """Of bytes that were imported before: already there, or skipped where *facts* are others than those stated then."""
    before, said = there.command().stated or {}, user_facts.recorded_facts(facts)
    changed = [
        f'{name} "{value}" (recorded: {before.get(name, "not said")})'
        for name, value in sorted(said.items())
        if before.get(name) != value
    ]
    if not changed:
        return Imported(source=source, run=there.run().id, status="already there")
    reason = Message("importing.same_bytes_differ", run=there.run().id, facts=", ".join(changed))
    return Imported(source=source, reason=reason)


def contents(store: Store) -> dict[Content, RunFolder]:
    folders: dict[Content, RunFolder] = {}
    for folder in store.finished():
        with contextlib.suppress(EvalsuiteError):  # `report` names it
            if copies := folder.command().imported:
                folders[tuple(sorted(copy.sha256 for copy in copies))] = folder
    return folders


def command(dialect: Dialect | None, unit: str | None, copies: Sequence[Source], kind: str) -> RunCommand:
    return RunCommand(
        argv=(),
        command=(),
        environment={},
        engine="replay",
        evalsuite=__version__,
        recipe=UsedRecipe(
            dialect=dialect.name if dialect else None,
            dialect_source=catalogue.source(dialect),
            unit=dialect.unit if dialect else unit,
            kind=kind,
        ),
        imported=tuple(copies),
    )
