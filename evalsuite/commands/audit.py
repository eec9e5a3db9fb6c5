"""`evalsuite audit`: a finished report against its raw files, and against itself."""

import argparse
import contextlib
import itertools
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evalsuite import __version__
from evalsuite.audit import own_files, raw_files
from evalsuite.commands import checks, report
from evalsuite.commands.options import add_arguments, search_paths
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import line, note
from evalsuite.core import files
from evalsuite.core.errors import Contradicts, EvalsuiteError, Exit, Gone, NothingMeasured, did_you_mean, for_terminal
from evalsuite.core.files import MOST_SUMMARY_BYTES
from evalsuite.core.findings import BusyMachine
from evalsuite.core.messages import LANGUAGES
from evalsuite.core.model import INPUTS, Summary
from evalsuite.finished import finished, history, manifest
from evalsuite.logs.text import logfile
from evalsuite.report import forms
from evalsuite.report.book import identity
from evalsuite.report.book.book import Book
from evalsuite.report.sections.reproduction.provenance import rerun_command
from evalsuite.results import evaluation
from evalsuite.results.measure.summary import valid
from evalsuite.results.publish import log_copies
from evalsuite.runs import archive, merged
from evalsuite.runs.store import Store, folder_name

LEAST_DIGITS = 12  # of a seal
PRINTS = 2  # one print of some forty by a busy browser had other bytes
Wrong = list[tuple[str, int]]


def run(arguments: argparse.Namespace) -> int:
    if arguments.archive and len(arguments.runs) != 1:
        raise EvalsuiteError.of("audit.archive_of", n=len(arguments.runs))
    if arguments.archive and arguments.archive.exists():
        raise EvalsuiteError.of("audit.archive_there", path=arguments.archive)
    if files.is_file(arguments.report / history.MARKER):
        if given := next((name for name in ("runs", "seal", "archive") if getattr(arguments, name)), None):
            raise EvalsuiteError.of("commands.option_needs", option=f"--{given}", others="REPORT")
        stored = history.read_reports(arguments.report)
        return _print_outcome([(each.broken, int(Exit.CRITERION_FAILED)) for each in stored if each.broken], arguments)
    checks.check_place(arguments.archive, arguments.report, *arguments.runs)
    report.check_files(arguments)
    report.check_words(argparse.Namespace(**{**vars(arguments), "lang": "en", "forms": "html"}))
    facts, mistakes = checked(arguments)
    code = _print_outcome(mistakes, arguments)
    if not arguments.runs:
        note(say("audit.no_runs"))
    if arguments.seal is None:
        note(say("audit.no_seal"))
    if not mistakes:
        if gone := sum(each["code"] == "taken_away" and each["severity"] != "note" for each in facts["findings"]):
            line(say("audit.runs_gone", n=gone))
        if arguments.archive:
            _pack(arguments)
    return code


def _print_outcome(wrong: Wrong, arguments: argparse.Namespace) -> Exit:
    code, values = print_wrong(wrong, arguments.runs or ()) if wrong else Exit.DONE, {"report": arguments.report}
    line(say("audit.wrong", **values, n=len(wrong)) if wrong else say("audit.holds", **values))
    return code


def _pack(arguments: argparse.Namespace) -> None:
    [root], file = arguments.runs, arguments.archive
    try:
        packed, left = archive.pack(root, file, _holds_secret if arguments.redact else lambda _: False)
    except OSError as error:
        raise EvalsuiteError.of("core.out_file", path=file, error=error) from error
    for name in left:
        note(say("archive.left_out", path=root / name))
    line(say("archive.written", path=file, n=packed))


def _holds_secret(file: Path) -> bool:
    try:
        raw, other = itertools.tee(piece for piece, _ in logfile.pieces(file))
        return any(line != masked for line, masked in zip(raw, log_copies.masked(other), strict=True))
    except logfile.Unreadable:
        return True


def print_wrong(wrong: Wrong, roots: Sequence[Path] = ()) -> Exit:
    for message, _ in wrong:
        text = i18n.worded(message)
        for root in roots:  # files of an archive by its name, not by the folder that it was unpacked in
            with contextlib.suppress(EvalsuiteError):
                text = text.replace(str(archive.unpack(root)), str(root))
        line(for_terminal(text))
    return Exit.UNDETERMINED if {code for _, code in wrong} == {Exit.UNDETERMINED} else Exit.CRITERION_FAILED


def checked(arguments: argparse.Namespace) -> tuple[Mapping[str, Any], Wrong]:
    """Its `summary.json`, and what does not hold of the report with the code of each. Raises EvalsuiteError."""
    if arguments.seal is not None and not re.fullmatch(f"[0-9a-f]{{{LEAST_DIGITS},64}}", arguments.seal):
        raise EvalsuiteError.of("audit.seal_form", text=arguments.seal, least=LEAST_DIGITS)
    facts = read_facts(arguments.report)
    return facts, list(dict.fromkeys((error.message, error.exit_code) for error in _mistakes(facts, arguments)))


def read_facts(folder: Path) -> Mapping[str, Any]:
    if not any(files.is_file(folder / name) for name in (finished.PAGE, finished.SUMMARY, manifest.NAME)):
        raise EvalsuiteError.of("report.no_report", folder=folder, page=finished.PAGE, summary=finished.SUMMARY)
    for file in (folder / finished.PAGE, summary := folder / finished.SUMMARY):
        if not files.is_file(file):
            raise Gone.of("audit.gone", path=file)
    try:
        facts = files.read_json(summary, MOST_SUMMARY_BYTES)
    except EvalsuiteError as error:
        raise Contradicts(error.message) from error
    if facts.get("evalsuite") != __version__:
        raise EvalsuiteError.of("audit.version", path=folder, got=facts.get("evalsuite"), expected=__version__)
    return facts


def _mistakes(facts: Mapping[str, Any], arguments: argparse.Namespace) -> Iterator[EvalsuiteError]:
    folder: Path = arguments.report
    got = files.sha256(summary := folder / finished.SUMMARY)
    if arguments.seal is not None and not got.startswith(arguments.seal):
        yield Contradicts.of("audit.other_seal", path=summary, got=got, expected=arguments.seal)
    try:
        finished.read(folder)
        yield from own_files.mistakes(folder, manifest.files_of(folder))
        if getattr(arguments, "runs", ()):
            yield from _against_runs(folder, facts, arguments)
    except EvalsuiteError as error:
        yield error


def _against_runs(folder: Path, facts: Mapping[str, Any], arguments: argparse.Namespace) -> Iterator[EvalsuiteError]:
    store = merged.store(arguments.runs)
    if not store.finished():
        raise Gone.of("audit.gone", path=store.root)
    mistakes = list(raw_files.mistakes(facts, store))
    names = [name for name, pattern in forms.FILES.items() if any(folder.glob(pattern))]
    try:
        forms.parse_names(",".join(["html", *names]))
    except EvalsuiteError as error:  # what writes a form is not here
        mistakes.append(Gone(error.message))
    yield from mistakes
    elsewhere = facts["recorded_elsewhere"] is True
    if any(isinstance(mistake, Gone) for mistake in mistakes):
        yield Gone.of("audit.not_again")
        return
    cases = [finished.case_of(summary["case"]) for summary in facts["summaries"]]
    if others := {folder.path.parent.name for folder in store.finished()} - set(map(folder_name, cases)):
        note(say("audit.others", n=len(others), runs=store.root))
    languages = written.languages if (written := manifest.read(folder)) else LANGUAGES
    for only in [cases] if others else [None, cases]:  # of report, of compare
        evaluated = report.evaluate(store, arguments, languages, None, only=only, recorded_elsewhere=elsewhere)
        if identity.build_hash(evaluated) == facts["input_sha256"]:
            break
    if unknown := next(report.unknown_dialects(evaluated, search_paths(arguments)), None):
        yield Gone(unknown)
        return
    yield from raw_files.noted([run for summary in evaluated.summaries for run in summary.measurements], store)
    book = Book(evaluation=identity.ordered(evaluated))
    for _ in range(PRINTS if "pdf" in names else 1):
        with files.scratch("audit") as again:
            report.write_forms(book, store, again, languages, names)
            if files.is_file(signature := folder / manifest.SIGNATURE):
                shutil.copy(signature, again)
            found = list(own_files.differences(folder, again))
        if not found:
            break
    yield from found


def run_again(arguments: argparse.Namespace, measure: Callable[[argparse.Namespace], int]) -> int:
    """*measure*: runs what is missing of the cases that arguments of `run` name."""
    folder, case = Path(arguments.again[0]), arguments.again[1]
    _, wrong = checked(argparse.Namespace(report=folder, seal=None))
    if wrong:
        return print_wrong(wrong)
    published = {summary.case.id: summary for summary in valid(finished.read(folder).summaries)}
    if case not in published:
        near = did_you_mean(case, published)
        raise EvalsuiteError.of("commands.reproduce_case", path=folder, case=case, n=len(published), near=near)
    words = rerun_command([published[case].case], repeats=published[case].n)
    parser = argparse.ArgumentParser(prog="evalsuite run", allow_abbrev=False, add_help=False)
    add_arguments(parser, "run")
    given = parser.parse_args(words[words.index("compare") + 1 :])
    for name, value in vars(arguments).items():
        if value != parser.get_default(name):
            setattr(given, name, value)
    measure(given)
    here = evaluation.evaluate(Store(given.runs), only=[published[case].case], places=search_paths(given))
    if not (measured := valid(here.summaries)):
        raise NothingMeasured.of("commands.reproduce_nothing", path=given.runs, case=case)
    return _print_beside(published[case], measured[0])


def _print_beside(published: Summary, here: Summary) -> int:
    interval, value = published.items_per_s, here.items_per_s.value
    state, between = "no_interval", f"{interval.value:.6g}"
    if interval.low is not None and interval.high is not None:
        state = "inside" if interval.low <= value <= interval.high else "outside"
        between = f"{interval.low:.6g}–{interval.high:.6g}"
    line(say(f"again.{state}", case=here.case.id, value=f"{value:.6g}", unit=here.unit, published=between))
    if busy := sum(isinstance(found, BusyMachine) for run in here.measurements for found in run.findings):
        line(say("again.busy", n=busy))
    for theirs, ours in zip(_made_of(published), _made_of(here), strict=True):
        if theirs != ours:
            line(say("again.differs", theirs=theirs, ours=ours))
    return {"inside": Exit.DONE, "outside": Exit.CRITERION_FAILED}.get(state, Exit.UNDETERMINED)


def _made_of(summary: Summary) -> list[str]:
    runs = (run for run in summary.measurements if run.counts)
    each = [(run.environment, run.framework_version, *map(run.inputs.get, INPUTS)) for run in runs]
    return [", ".join(dict.fromkeys(str(value or "—") for value in values)) for values in zip(*each, strict=True)]
