"""`evalsuite compare`: plan, run what is missing, report."""

import argparse
import os
import time
from collections.abc import Callable
from dataclasses import replace

from evalsuite.commands import report
from evalsuite.commands.launching.batch_searches import find_batches
from evalsuite.commands.launching.request import Request, read_request, say_scripts
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import note
from evalsuite.commands.run import check_runs, run_missing, set_aside
from evalsuite.core import paths
from evalsuite.core.errors import Exit
from evalsuite.plan.plan import Plan
from evalsuite.report.book import identity
from evalsuite.report.book.book import Book
from evalsuite.results.judge import criteria
from evalsuite.results.measure.summary import valid
from evalsuite.runs.store import Store

TIMES = 5  # as long as a page took, the runs of the next have taken


def run(arguments: argparse.Namespace) -> int:
    request = read_request(arguments)
    say_scripts(request.plan)
    plan, store = request.plan, request.place.store
    check(arguments, request)
    set_aside(arguments, request)
    request = find_batches(arguments, request)
    if arguments.criteria:
        options = replace(request.options, criteria=criteria.read(arguments.criteria))
        request = replace(request, options=options)
    plan, code = run_missing(request, _provisional_page(arguments, store))
    if not plan.cases:
        note(say("compare.nothing_here"))
        return Exit.NOTHING_MEASURED
    evaluation = report.write(store, arguments, only=[*plan.cases])
    if not valid(evaluation.summaries):
        note(say("compare.nothing_valid"))
        return Exit.NOTHING_MEASURED
    verdict = report.exit_code(evaluation) if arguments.fail_on_criteria else Exit.DONE
    return verdict if verdict == Exit.CRITERION_FAILED else code or verdict


def check(arguments: argparse.Namespace, request: Request) -> None:
    """Raises EvalsuiteError for all that can be refused before the first run; `submit` asks it before a job waits."""
    plan = request.plan
    report.check(arguments, [*plan.cases, *(skip.case for skip in plan.skips)])
    check_runs(arguments, request)


def _provisional_page(arguments: argparse.Namespace, store: Store) -> Callable[[Plan], None]:
    """Writes what has ended, in a process of its own: its memory and threads meet no run that is measured."""
    last_s, took_s = time.monotonic(), 4.0
    languages, cache = report.check_languages(arguments.lang), paths.cache() / "measurements"

    def write(plan: Plan) -> None:
        nonlocal last_s, took_s
        began_s = time.monotonic()
        if began_s - last_s < TIMES * took_s:
            return
        if (child := os.fork()) == 0:
            try:
                made = report.evaluate(store, arguments, languages, cache, only=plan.cases)
                book = Book(evaluation=identity.ordered(made))
                report.write_forms(book, store, arguments.out, languages, report.check_forms(arguments.forms))
                note(say("compare.provisional", page=arguments.out / "report.html"))
            except Exception as error:
                note(say("compare.no_page", page=arguments.out / "report.html", error=error))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        last_s = time.monotonic()
        took_s = last_s - began_s

    return write
