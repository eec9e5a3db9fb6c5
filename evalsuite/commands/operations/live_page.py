"""A page of evaluations that go on: a file that is written again and again, or served to this machine alone."""

import argparse
import http.server
import itertools
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from evalsuite.commands import report
from evalsuite.commands.operations import checks
from evalsuite.commands.options import search_paths
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import duration, line
from evalsuite.core import files, paths
from evalsuite.core.errors import EvalsuiteError, NothingMeasured
from evalsuite.core.model import Run, Window
from evalsuite.core.placeholders import LOCALHOST
from evalsuite.launch.progress import EvaluationState
from evalsuite.logs import catalogue
from evalsuite.logs.catalogue import Places
from evalsuite.report.book.book import Book
from evalsuite.report.text import words
from evalsuite.results import evaluation
from evalsuite.results.measure import measurement
from evalsuite.results.samples import utilisation
from evalsuite.runs.store import RunFolder, Store

RECENT_STEPS, RECENT_S = 20, 60.0
SHOWN = ("gpu", "npu", "cpu", "memory", "gpu_memory")


def keep(
    arguments: argparse.Namespace,
    states: Callable[[], Mapping[Path, EvaluationState]],
    rows: Callable[[EvaluationState], Sequence[Sequence[str]]],
) -> None:
    """Until nothing is left to run, or, where it is served, until Ctrl-C."""
    places = search_paths(arguments)
    constant = {
        **{
            "rows": rows,
            "duration": duration,
            "worded": i18n.worded,
            "timedelta": timedelta,
            "every_s": arguments.every,
        },
        "running": lambda root, run: _now(Store(root).folder(run), run, places),
        "decided": cache(lambda root, done: _decided(root, places)),  # again once another run has ended
    }
    serving = _serve(arguments.serve) if arguments.serve is not None else None
    for turn in itertools.count():
        current = states()
        _Handler.content = checks.fill("live.html.j2", states=current, now=datetime.now().astimezone(), **constant)
        if arguments.html:
            files.write_named(arguments.html, _Handler.content)
            if not turn:
                line(str(arguments.html))
        if arguments.metrics:
            files.write_named(arguments.metrics, checks.fill("metrics.txt.j2", states=current))
        if serving and not turn:  # who asks earlier waits for the first page
            threading.Thread(target=serving.serve_forever, daemon=True).start()
            line(say("status.served", url=f"http://{LOCALHOST}:{serving.server_port}/", port=serving.server_port))
        elif not serving and all(state.runs and state.done == len(state.runs) for state in current.values()):
            return
        time.sleep(arguments.every)


def _decided(root: Path, places: Places) -> tuple[list[str], list[checks.Check]]:
    try:
        book = Book(evaluation=evaluation.evaluate(Store(root), places=places, cache=paths.cache() / "measurements"))
    except NothingMeasured:
        return [], []
    spoken = words.read((i18n.language(),), on_cpu=book.on_cpu)
    return [*report.found_sentences(book, spoken, i18n.language())], checks.of_criteria(book, spoken, i18n.language())


def _now(folder: RunFolder, run: Run, places: Places) -> Mapping[str, Any]:
    try:
        known = catalogue.known(places)
        steps = measurement.read_logs(folder.logs(), run.case, folder.command().recipe, known, False).steps
        sampled = {host: samples for host in folder.sampled_hosts() if (samples := folder.samples(host))}
    except EvalsuiteError:  # it is being written
        return {}
    last_s = max((span[1] for samples in sampled.values() if (span := samples.span_s)), default=0.0)
    window = Window(first_step=1, last_step=1, steps=1, begin_s=max(0.0, last_s - RECENT_S), end_s=last_s)
    used = utilisation.of_job(sampled, window)[0] if sampled else ()
    recent = [(step.arrival_s, step.steps) for step in steps[-RECENT_STEPS:] if step.arrival_s is not None]
    passed_s = recent[-1][0] - recent[0][0] if recent else 0.0
    return {
        "step": steps[-1].index if steps else None,
        "steps_per_s": sum(number for _, number in recent[1:]) / passed_s if passed_s > 0 else None,
        "used": {use.resource: use.mean for use in used if use.unit == "%" and use.resource in SHOWN},
    }


class _Handler(http.server.BaseHTTPRequestHandler):
    content = b""

    def do_GET(self) -> None:
        if self.headers.get("Host", "").rpartition(":")[0] not in (LOCALHOST, "localhost"):
            self.send_error(403)  # a page of the web that has itself resolved to this machine
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def _serve(port: int) -> http.server.ThreadingHTTPServer:
    try:
        return http.server.ThreadingHTTPServer((LOCALHOST, port), _Handler)
    except (OSError, OverflowError) as error:
        raise EvalsuiteError.of("commands.live_port", port=port, error=error) from error
