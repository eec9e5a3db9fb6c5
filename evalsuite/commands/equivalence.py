"""`evalsuite equivalence`: do the reference workloads of several frameworks train the same thing?"""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

from evalsuite import __version__, files
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import Bar, bar, duration, line, note, print_json, table
from evalsuite.errors import EvalsuiteError, Exit
from evalsuite.launch import equivalence
from evalsuite.launch.equivalence import NotRun, ProvenWorkload
from evalsuite.registry import discover
from evalsuite.results.compare.equivalence import WorkloadDifference, WorkloadPair, pairs
from evalsuite.runs.equivalence import write
from evalsuite.workload import EquivalenceReceipt, WorkloadAnswer

SCHEMA = 1


@dataclass(frozen=True, kw_only=True)
class ProvenModel:
    model: str
    answers: tuple[WorkloadAnswer, ...]
    absent: tuple[NotRun, ...]
    pairs: tuple[WorkloadPair, ...]


def run(arguments: argparse.Namespace) -> int:
    if arguments.receipts is not None and arguments.receipts.exists() and not arguments.receipts.is_dir():
        raise EvalsuiteError.of("commands.receipts_file", path=arguments.receipts)
    adapters = discover(arguments.adapters)
    names = list(dict.fromkeys(arguments.frameworks.split(","))) if arguments.frameworks is not None else None
    asked = equivalence.models(adapters) if arguments.model == "all" else (arguments.model,)
    wanted = {model: equivalence.workloads(adapters, names, model) for model in asked}
    if all(len(workloads) < 2 for workloads in wanted.values()):
        _refuse(wanted, arguments.frameworks)
    found = [_prove(model, workloads) for model, workloads in wanted.items() if len(workloads) > 1]
    if arguments.receipts is not None:
        for one in found:
            _write_receipt(one, arguments.receipts)
    if arguments.json:
        print_json({"schema": SCHEMA, "models": [_facts(one) for one in found]})
    else:
        for one in found:
            _print(one)
    return _exit_code(found)


def _refuse(wanted: dict[str, list[ProvenWorkload]], frameworks: str | None) -> None:
    here = sorted({workload.framework for workloads in wanted.values() for workload in workloads})
    models = ", ".join(wanted)
    raise EvalsuiteError.of(
        "commands.equivalence_too_few",
        names=frameworks or "",
        models=models,
        n=len(here),
        which=f" ({here[0]})" if here else "",
    )


def _prove(model: str, workloads: Sequence[ProvenWorkload]) -> ProvenModel:
    answers, absent = [], []
    with files.scratch("equivalence") as folder, bar(len(workloads)) as shown:
        for place, workload in enumerate(workloads):
            where = {"model": model, "framework": workload.framework, "place": place + 1, "n": len(workloads)}
            _show_progress(shown, place, say("equivalence.started", **where))
            began = time.monotonic()
            found = equivalence.answer(workload, folder, note)
            took = duration(time.monotonic() - began)
            if isinstance(found, equivalence.NotRun):
                absent.append(found)
                _show_progress(
                    shown, place + 1, say("equivalence.failed", **where, reason=i18n.worded(found.reason), time=took)
                )
            else:
                answers.append(found)
                _show_progress(shown, place + 1, say("equivalence.ended", **where, time=took))
    return ProvenModel(model=model, answers=tuple(answers), absent=tuple(absent), pairs=tuple(pairs(answers)))


def _show_progress(shown: Bar | None, done: int, text: str) -> None:
    if shown:
        shown.show(done, text)
    else:
        note(text)


def _write_receipt(found: ProvenModel, folder: Path) -> None:
    if len(found.answers) < 2:
        note(say("equivalence.no_receipt", model=found.model))
        return
    day = datetime.now(UTC).date().isoformat()
    receipt = EquivalenceReceipt(model=found.model, day=day, evalsuite=__version__, answers=found.answers)
    note(say("equivalence.receipt", file=write(receipt, folder)))


def _exit_code(found: Sequence[ProvenModel]) -> int:
    every = [pair for one in found for pair in one.pairs]
    if not every:
        return Exit.NOTHING_MEASURED
    if any(pair.verdict == "differs" for pair in every):
        return Exit.CRITERION_FAILED
    return Exit.SOME_FAILED if any(one.absent for one in found) else Exit.DONE


def _facts(found: ProvenModel) -> dict[str, Any]:
    return {
        "model": found.model,
        "answers": [answer.to_json() for answer in found.answers],
        "not_run": [asdict(one) for one in found.absent],
        "pairs": [{"verdict": pair.verdict, **asdict(pair)} for pair in found.pairs],
    }


def _print(found: ProvenModel) -> None:
    names = ("pair", "verdict", "loss1", "loss2", "loss3", "gradients", "float32")
    columns = [(say(f"columns.{name}"), "left" if name in names[:2] else "right") for name in names]
    table(say("equivalence.title", model=found.model), columns, list(_rows(found)))
    columns = [(say(f"columns.{name}"), "left") for name in ("framework", "version", "counts", "timed", "modes")]
    table(say("equivalence.counted", model=found.model), columns, [_count_row(answer) for answer in found.answers])
    for pair in found.pairs:
        for difference in pair.differences:
            line(_difference_sentence(pair, difference))
    for one in found.absent:
        line(say("equivalence.absent", framework=one.framework, reason=i18n.worded(one.reason)))
    proven, limited = (sum(pair.verdict == verdict for pair in found.pairs) for verdict in ("proven", "limited"))
    expected = len(found.answers) + len(found.absent)
    said = {"model": found.model, "proven": proven, "n": expected * (expected - 1) // 2}
    line(say("equivalence.sum_limited", **said, limited=limited) if limited else say("equivalence.sum", **said))


def _rows(found: ProvenModel) -> Iterator[list[str]]:
    for pair in found.pairs:
        verdict = say(f"statuses.{pair.verdict}")
        if pair.differences:
            verdict += ": " + ", ".join(say(f"causes.{one.cause}") for one in pair.differences)
        losses = [*pair.losses, *[None] * 3][:3]
        yield [
            f"{pair.first} – {pair.second}",
            verdict,
            *(_distance(each) for each in (*losses, pair.gradient_norm, pair.float32)),
        ]
    gone = {one.framework for one in found.absent}
    names = [answer.framework for answer in found.answers] + sorted(gone)
    for two in combinations(names, 2):
        if gone & set(two):
            yield [" – ".join(two), say("statuses.not_run"), *["–"] * 5]


def _distance(value: float | None) -> str:
    return "–" if value is None else "0" if value == 0 else f"{value:.1e}"


def _count_row(answer: WorkloadAnswer) -> list[str]:
    flops = f"{answer.flops_per_item:,}" if answer.flops_per_item is not None else "–"
    counts = say(
        "equivalence.counts_of",
        parameters=f"{answer.elements:,}",
        tensors=len(answer.parameters),
        flops=flops,
        items=answer.items_per_step,
        bytes=f"{answer.bytes_reduced_per_step:,}",
    )
    modes = ", ".join(f"{name}={value}" for name, value in answer.modes.items())
    return [answer.framework, answer.version, counts, ", ".join(answer.timed), modes]


def _difference_sentence(pair: WorkloadPair, found: WorkloadDifference) -> str:
    values = {"first": pair.first, "second": pair.second, "ours": found.ours, "theirs": found.theirs}
    what = say(f"causes.{found.cause}")
    if found.relative is None or found.limit is None:
        return say("equivalence.unlike", **values, what=what, where=f" {found.where}" if found.where else "")
    return say(
        "equivalence.apart",
        **values,
        what=what,
        where=found.where,
        relative=_distance(found.relative),
        limit=f"{found.limit:.0e}",
    )
