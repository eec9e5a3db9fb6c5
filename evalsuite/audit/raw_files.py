"""The raw files of a report: every hash of them in report, run folders and journal, and what the journal noted."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalsuite.core.errors import Contradicts, EvalsuiteError, Gone
from evalsuite.core.findings import RecordsDisagree
from evalsuite.core.model import Measurement, Run
from evalsuite.finished import finished
from evalsuite.runs.journal import ATTEMPTS, Journal
from evalsuite.runs.store import OUTCOME, RunFolder, Store, folder_name


def mistakes(facts: Mapping[str, Any], store: Store) -> Iterator[EvalsuiteError]:
    """What of the raw files in *store* is not as *facts*, a report's `summary.json`, has it."""
    known = set()
    for summary in facts["summaries"]:
        for run in summary["runs"]:
            folder = store.folder(Run(case=finished.case_of(summary["case"]), repeat=run["repeat"]))
            known.add(folder.path)
            yield from _of_run(folder, run.get("records"))
    names = {folder_name(finished.case_of(summary["case"])) for summary in facts["summaries"]}
    for folder in store.finished():
        if folder.path not in known and folder.path.parent.name in names:
            yield Contradicts.of("audit.added_run", path=folder.path)
    for root, there, held in zip(store.roots, store.hash_beside(), facts.get("beside_runs", ()), strict=False):
        yield from _unlike(root, {name for name, _ in there.items() ^ held.items()})
    yield from _of_journal(facts.get("journal_sha256", ()), store.journal)


def _of_run(folder: RunFolder, wanted: Mapping[str, str] | None) -> Iterator[EvalsuiteError]:
    if not folder.path.is_dir():
        yield Gone.of("audit.gone", path=folder.path)
        return
    try:
        outcome = folder.outcome()
    except EvalsuiteError as error:
        yield Contradicts(error.message) if folder.finished else Gone.of("audit.gone", path=folder.path / OUTCOME)
        return
    there = folder.hash_records(outcome.sha256)
    others = {name for name, _ in there.items() ^ (there if wanted is None else wanted).items()}
    agents: dict[str, str] = {}
    try:
        for agent in folder.agents().values():
            agents |= {} if outcome.trimmed else agent.sha256 or {}  # by us, for the house's own recordings
    except EvalsuiteError as error:
        yield Contradicts(error.message)
    yield from _unlike(folder.path, {*others, *folder.changed(outcome), *folder.others(agents)})


def _unlike(folder: Path, names: set[str]) -> Iterator[EvalsuiteError]:
    for path in (folder / name for name in sorted(names)):
        yield Contradicts.of("audit.changed", path=path) if path.exists() else Gone.of("audit.gone", path=path)


def _of_journal(sealed: Sequence[str], journal: Journal) -> Iterator[EvalsuiteError]:
    try:
        last, whole = journal.last_hashes(), journal.chained
    except EvalsuiteError as error:
        yield Contradicts(error.message)
        return
    path = journal.root / ATTEMPTS
    if not whole:
        yield Contradicts.of("audit.unchained", path=path)
    if len(last) < len(sealed):
        yield Gone.of("audit.gone", path=path)
    for expected, (path, got) in zip(sealed, last.items(), strict=False):
        if got != expected:
            yield Contradicts.of("audit.other_journal", path=path, got=got, expected=expected)


def noted(runs: Sequence[Measurement], store: Store) -> Iterator[EvalsuiteError]:
    """Where *runs*, computed again, are not what the journal noted when they ended."""
    try:
        store.journal.attempts()
    except EvalsuiteError as error:
        yield Contradicts(error.message)
    for found in (found for run in runs for found in run.findings):
        if isinstance(found, RecordsDisagree) and found.record == "journal":
            path = f"{store.journal.root / ATTEMPTS}: {found.where}"
            yield Contradicts.of("audit.other_note", path=path, got=found.other_value, expected=found.value)
