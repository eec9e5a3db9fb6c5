"""`evalsuite report`: the report from run folders. Nothing is started."""

import argparse
import contextlib
import functools
import gc
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from evalsuite import report
from evalsuite.commands import checks
from evalsuite.commands.options import DEFAULT_RUNS, search_paths
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import ROOMY, line, note, table
from evalsuite.core import files, findings, paths
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.messages import LANGUAGES
from evalsuite.core.model import Case, Evaluation, Finding, by_key
from evalsuite.finished import finished, manifest
from evalsuite.logs import catalogue
from evalsuite.logs.catalogue import Places
from evalsuite.plan import spec
from evalsuite.report.book import board, identity
from evalsuite.report.book.board import Board
from evalsuite.report.book.book import Book
from evalsuite.report.sections.author import author, author_file
from evalsuite.report.sections.reproduction import reproduction
from evalsuite.report.text import words
from evalsuite.report.text.words import Rendered, Words
from evalsuite.results import evaluation as results
from evalsuite.results.compare import published_rates
from evalsuite.results.judge import criteria
from evalsuite.results.measure.summary import valid
from evalsuite.results.publish import log_copies
from evalsuite.runs import equivalence, merged
from evalsuite.runs.store import Store

_OWN = re.compile(r"\.|(?:report|summary|manifest|tables)\b")  # how names begin in a report, whole or not
OF_PAGE = ("forecast", "against", "author", "criteria", "receipts", "dialects")  # without them it is another page
MOST_EDITS = 5  # sentences about changed run folders
MOST_ROWS = 40  # of the board with all its scales; of a larger one so many sheets have the scale that compares most


def run(arguments: argparse.Namespace) -> int:
    check(arguments)
    if arguments.to:
        from evalsuite.commands import trackers

        trackers.check(arguments.to[0], Path(arguments.to[1]))
    roots, code = arguments.runs or [DEFAULT_RUNS], int(Exit.DONE)
    if arguments.paths:
        from evalsuite.commands import import_

        own, code = import_.into_own_folder(arguments)
        roots = [*arguments.runs, own]
    store = merged.store(roots)
    evaluation = write(store, arguments)
    if arguments.to:
        n = trackers.write(arguments.to[0], Path(arguments.to[1]), evaluation, store, search_paths(arguments))
        note(say("report.to_written", n=n, path=arguments.to[1]))
    if not valid(evaluation.summaries):
        return Exit.NOTHING_MEASURED
    return (exit_code(evaluation) if arguments.fail_on_criteria else Exit.DONE) or code


def exit_code(evaluation: Evaluation) -> Exit:
    outcomes = {verdict.outcome for verdict in evaluation.verdicts}
    if "fail" in outcomes:
        return Exit.CRITERION_FAILED
    return Exit.UNDETERMINED if "undetermined" in outcomes else Exit.DONE


def check(arguments: argparse.Namespace, cases: Sequence[Case] | None = None) -> None:
    """Raises EvalsuiteError for what the report is asked for and cannot give, before anything is started or read.
    *cases*: those that are planned, where that is known: a criterion must be about one of them."""
    check_words(arguments)
    runs, out = arguments.runs or DEFAULT_RUNS, arguments.out.resolve()
    roots = [root.resolve() for root in (runs if isinstance(runs, list) else [runs])]
    within = any(any(each.glob("r[0-9]*/case.json")) for each in (out, *out.parents))
    of_runs = "--runs" if out in roots else "case.json" * (within or any(out.glob("*/r[0-9]*/case.json")))
    others = () if (out / manifest.NAME).exists() or not out.is_dir() else out.iterdir()
    if foreign := of_runs or min((path.name for path in others if not _OWN.match(path.name)), default=""):
        raise EvalsuiteError.of("commands.out_holds", path=arguments.out, name=foreign)
    files.try_place(arguments.out, folder=True)
    outputs = [*filter(None, (arguments.out, arguments.junit, arguments.certificate))]
    for place, file in enumerate(outputs[1:], 1):
        checks.check_place(file, *outputs[:place])
        files.try_place(file)
        if (file.parent / "outcome.json").exists():
            raise EvalsuiteError.of("commands.out_holds", path=file, name="outcome.json")
    check_files(arguments, cases)


def check_words(arguments: argparse.Namespace) -> None:
    """What can be told without a file."""
    check_languages(arguments.lang)
    check_forms(arguments.forms)
    _forecast_scales(arguments)
    if arguments.against:
        published_rates.of_reference(arguments.against)


def check_files(arguments: argparse.Namespace, cases: Sequence[Case] | None = None) -> None:
    if arguments.criteria:
        asked = criteria.read(arguments.criteria)
        if cases is not None:
            asked.check(cases, arguments.criteria)
    if arguments.receipts and not equivalence.own([arguments.receipts]):
        raise EvalsuiteError.of("commands.no_receipts", path=arguments.receipts)
    if arguments.author:
        author_file.read(arguments.author)
    if arguments.dialects:
        catalogue.known(search_paths(arguments))


def _forecast_scales(arguments: argparse.Namespace) -> tuple[tuple[int, int], ...]:
    return tuple(map(spec.scale, arguments.forecast.split(","))) if arguments.forecast else ()


def check_languages(text: str) -> tuple[str, ...]:
    languages = tuple(dict.fromkeys(map(str.strip, text.split(","))))
    if not {*languages} <= {*LANGUAGES}:
        raise EvalsuiteError.of("commands.lang", text=text)
    return languages


def check_forms(text: str) -> tuple[str, ...]:
    if text == "html":
        return (text,)  # the usual case needs no import
    from evalsuite.report import forms

    return forms.parse_names(text)


@contextlib.contextmanager
def _keeping_all() -> Iterator[None]:
    """Without garbage collection of cycles: there are few, among millions of values."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # else the next look would be at all of it; what has no circles goes as before
        if collecting:
            gc.enable()


def evaluate(
    store: Store,
    arguments: argparse.Namespace,
    languages: Sequence[str],
    cache: Path | None,
    *,
    only: Sequence[Case] | None,
    recorded_elsewhere: bool = False,
) -> Evaluation:
    authored = author_file.read(arguments.author) if arguments.author else None
    evaluation = results.evaluate(
        store,
        only=only,
        criteria_file=arguments.criteria or criteria.DEFAULT,
        recorded_elsewhere=recorded_elsewhere,
        places=search_paths(arguments),
        cache=cache,
        receipts=(arguments.receipts,) if arguments.receipts else (),
        meanwhile=lambda: report.make_ready(languages),
    )
    among = published_rates.of_reference(arguments.against) if arguments.against else ()
    compared = tuple(published_rates.compare(valid(evaluation.summaries), among))
    if arguments.against and not compared:
        note(say("report.against_nothing", name=arguments.against))
    evaluation = replace(evaluation, against=compared, forecast=_forecast_scales(arguments))
    return author.attached(evaluation, authored) if authored else evaluation


def write_forms(book: Book, store: Store, out: Path, languages: Sequence[str], names: Sequence[str]) -> list[Path]:
    """Page, tables and the forms of *names* in *out*; gives page and forms."""
    from evalsuite.report import forms

    with report.renewed(out) as new:
        page = report.build(book.evaluation, new, languages, book)[0]
        logs = functools.partial(log_copies.of, store)
        written = [page, *forms.write(names, book.evaluation, new, languages, logs)]
        (out / manifest.SIGNATURE).unlink(missing_ok=True)
    return [out / path.relative_to(new) for path in written]


@_keeping_all()
def write(store: Store, arguments: argparse.Namespace, *, only: Sequence[Case] | None = None) -> Evaluation:
    """Writes the report of *store*, says where it is, and prints the board. Returns what it is about."""
    languages, cache = check_languages(arguments.lang), paths.cache() / "measurements"
    evaluation = evaluate(store, arguments, languages, cache, only=only)
    from evalsuite.report import forms  # and all that it loads: while others measured, if any did

    for reason in dict.fromkeys(unknown_dialects(evaluation, search_paths(arguments))):
        note(reason)
    old = forms.outdated(evaluation, arguments.out, languages)
    book = Book(evaluation=identity.ordered(evaluation))
    try:
        written = write_forms(book, store, arguments.out, languages, check_forms(arguments.forms))
        for path in (path for path in old if path not in written):
            path.unlink()
            note(say("report.removed", path=path))
    except OSError as error:
        raise EvalsuiteError.of("commands.out", path=error.filename or arguments.out, error=error) from error
    spoken = words.read((language := i18n.language(),), on_cpu=book.on_cpu)
    shown = board.board(book, spoken)
    show_board(shown, spoken)
    for sentence in reproduction.sentences_against(book, spoken):
        line(_plain(sentence))
    _note_lost(book, spoken)
    _note_edits(book)
    checks.tell(checks.of_criteria(book, spoken, language), arguments)
    if arguments.certificate:
        asked = arguments.criteria or criteria.DEFAULT
        checks.certify(arguments.certificate, book, asked, arguments.out / finished.SUMMARY)
    for path in written:
        size = path.stat().st_size
        note(say("report.written", path=path, size=f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.1f} kB"))
    note(_next_step(shown, evaluation, store, arguments))
    return evaluation


def _next_step(shown: Board, evaluation: Evaluation, store: Store, arguments: argparse.Namespace) -> str:
    """Who reads the page, and what is typed next."""
    out = shlex.quote(str(arguments.out))
    if not valid(evaluation.summaries):
        brought = all(run.origin != "measured" for row in evaluation.summaries for run in row.measurements)
        return say("report.next_imported" if brought else "report.next_failed", out=out)
    if shown.again:
        typed = getattr(arguments, "typed", ())
        again = shlex.join(["evalsuite", *typed]) if [*typed[:1]] == ["compare"] else shown.again
        return say("report.next_again", out=out, command=again)
    packed = dict(zip(store.roots, arguments.runs if isinstance(arguments.runs, list) else (), strict=False))
    runs = [word for root in store.roots for word in ("--runs", os.path.relpath(packed.get(root, root)))]
    for name in OF_PAGE:
        value = getattr(arguments, name, None) or []
        for each in value if isinstance(value, list) else [value]:
            runs += [f"--{name}", str(each)]
    return say("report.next_read", out=out, command=f"evalsuite audit {out} {shlex.join(runs)}")


def unknown_dialects(evaluation: Evaluation, where: Places) -> Iterator[str]:
    for summary in evaluation.summaries:
        for measurement in summary.measurements:
            recipe = command.recipe if (command := evaluation.commands.get(measurement.run.id)) else None
            source = recipe and not recipe.line and recipe.dialect_source
            if recipe and source and recipe.dialect not in catalogue.known(where):
                yield measurement.reason


def _note_lost(book: Book, spoken: Words) -> None:
    """What the import took and the report does not count."""
    brought = [run for run in book.measurements if run.origin == "imported"]
    lost = [run for run in brought if any(found.severity == "exclude" for found in run.findings)]
    if lost:
        codes = dict.fromkeys(found.code for run in lost for found in run.findings if found.severity == "exclude")
        rules = ", ".join(f"{_plain(spoken('rules.' + code + '.title'))} ({code})" for code in codes)
        note(say("report.excluded", n=len(lost), all=len(brought), rules=rules))


def _note_edits(book: Book) -> None:
    edits: tuple[type[Finding], ...] = (findings.ChangedSinceRun, findings.UnreadableRun, findings.RunTakenAway)
    edits += (findings.RoundsMissing, findings.RivalTakenAway, findings.JournalBroken)
    edits += (findings.OwnCriteria, findings.EvaluatedBefore)
    edited = [each for each in book.findings if isinstance(each, edits)]
    said = by_key((i18n.finding(each), where) for each in edited for where in (each.where, *each.also))
    for sentence, (first, *others) in [*said.items()][:MOST_EDITS]:
        more = say("parse.more", n=len(others)) if others else ""
        note(say("report.edited", where=f"{first}{more}", finding=sentence))
    if left := sum(map(len, [*said.values()][MOST_EDITS:])):
        note(say("report.more_edited", n=left))


def _plain(text: Rendered) -> str:
    return text.plain(i18n.language()).replace("\u202f", " ").replace("\u00a0", " ")


def show_board(made: Board, spoken: Words) -> None:
    """The board in text: what was found, its tables, on what it rests, and what would make it better."""
    for found in filter(None, (made.finding, made.beside)):
        line(_plain(found))
    few = sum(len(each.rows) for sheet in made.sheets for each in sheet.tables) <= MOST_ROWS
    sides = ("left", *["right"] * 4, "left")
    columns = list(zip(map(_plain, made.heads), sides, strict=True))
    for sheet in made.sheets[:MOST_ROWS]:
        for each in sheet.in_order if few else [sheet.chosen]:
            title = " · ".join([_plain(sheet.title), _plain(each.setting), each.scale, *filter(None, [each.unit])])
            table(title, columns, [list(map(_plain, row.cells(spoken))) for row in each.rows], ROOMY)
            for sentence in made.sentences_of(each):
                line(_plain(sentence))
    if not few:
        line(say("report.more_scales"))
    if made.chips:
        line(" · ".join(_plain(chip.text) for chip in made.chips))
