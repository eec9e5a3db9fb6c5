"""`evalsuite audit`: a finished report against its raw files, and against itself."""

import argparse
import contextlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evalsuite import __version__, files
from evalsuite.audit import own_files, raw_files, rebuilt
from evalsuite.audit.own_files import Contradicts, Gone, files_of
from evalsuite.commands import report
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line, note
from evalsuite.errors import EvalsuiteError, Exit, for_terminal
from evalsuite.files import MOST_SUMMARY_BYTES
from evalsuite.model import Evaluation
from evalsuite.report.data import finished, manifest
from evalsuite.runs import archive
from evalsuite.runs.store import Store, folder_name

LEAST_DIGITS = 12  # of a seal
FORMS = {  # beside page and tables, by the files that they write
    **{"single": "report.??.html", "md": "report.??.md", "xlsx": "report.xlsx", "pdf": "report.??.pdf"},
    **{"zip": "report-data.zip", "logs": "report-logs.zip"},
}


def run(arguments: argparse.Namespace) -> int:
    _check_seal(arguments.seal)
    report.check_files(arguments)
    found = list(dict.fromkeys((error.message, error.exit_code) for error in _mistakes(arguments)))
    for message, _ in found:
        line(for_terminal(i18n.worded(message)))
    if arguments.runs is None:
        note(say("audit.no_runs"))
    if arguments.seal is None:
        note(say("audit.no_seal"))
    if not found:
        line(say("audit.holds", report=arguments.report))
        return Exit.DONE
    line(say("audit.wrong", report=arguments.report, n=len(found)))
    return Exit.UNDETERMINED if {code for _, code in found} == {Exit.UNDETERMINED} else Exit.CRITERION_FAILED


def _check_seal(text: str | None) -> None:
    if text is not None and not re.fullmatch(f"[0-9a-f]{{{LEAST_DIGITS},64}}", text):
        raise EvalsuiteError.of("audit.seal_form", text=text, least=LEAST_DIGITS)


def _mistakes(arguments: argparse.Namespace) -> Iterator[EvalsuiteError]:
    folder: Path = arguments.report
    gone = [folder / name for name in (finished.SUMMARY, finished.PAGE) if not files.is_file(folder / name)]
    if gone:
        yield Gone.of("audit.gone", path=gone[0])
        return
    summary = folder / finished.SUMMARY
    got = files.sha256(summary)
    if arguments.seal is not None and not got.startswith(arguments.seal):
        yield Contradicts.of("audit.other_seal", path=summary, got=got, expected=arguments.seal)
    try:
        facts = files.read_json(summary, MOST_SUMMARY_BYTES)
    except EvalsuiteError as error:
        yield error
        return
    if facts.get("evalsuite") != __version__:
        raise EvalsuiteError.of("audit.version", path=folder, got=facts.get("evalsuite"), expected=__version__)
    try:
        finished.read(folder)
        yield from own_files.mistakes(folder, files_of(folder))
        if arguments.runs is not None:
            yield from _against_runs(folder, facts, arguments)
    except EvalsuiteError as error:
        yield error


def _against_runs(folder: Path, facts: Mapping[str, Any], arguments: argparse.Namespace) -> Iterator[EvalsuiteError]:
    store = Store(archive.unpack(arguments.runs))
    if not store.finished():
        yield Gone.of("audit.gone", path=arguments.runs)
        return
    yield from raw_files.mistakes(facts, store)
    cases = [finished.case_of(one["case"]) for one in facts["summaries"]]
    others = {one.path.parent for one in store.finished()} - {store.root / folder_name(case) for case in cases}
    if others:
        note(say("audit.others", n=len(others), runs=arguments.runs))
    foreign = {run.partition("/")[0] for run in _attempted(store)} - {case.id for case in cases}
    whole = not others and foreign <= {one["run"].partition("/")[0] for one in facts["superseded_attempts"]}
    evaluation = report.evaluate(
        store, arguments, only=None if whole else cases, recorded_elsewhere=facts["recorded_elsewhere"] is True
    )
    yield from raw_files.noted([run for one in evaluation.summaries for run in one.measurements], store)
    with files.scratch("audit") as again:
        _build(evaluation, folder, again, store)
        yield from rebuilt.differences(folder, again)


def _attempted(store: Store) -> Iterator[str]:
    with contextlib.suppress(EvalsuiteError):  # which is said beside
        yield from (one.run for one in store.journal.attempts())


def _build(evaluation: Evaluation, folder: Path, again: Path, store: Store) -> None:
    from evalsuite import report as report_room
    from evalsuite.report import forms

    found = manifest.read(folder)
    languages = found.languages if found else report.check_languages("zh,en")
    report_room.build(evaluation, again, languages)
    asked = [name for name, pattern in FORMS.items() if any(folder.glob(pattern))]
    forms.write(forms.parse_names(",".join(["html", *asked])), evaluation, again, languages, store.root)
