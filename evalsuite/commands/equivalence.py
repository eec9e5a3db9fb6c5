"""`evalsuite equivalence`: do the reference workloads of several frameworks train the same thing?"""

import argparse
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

from evalsuite import __version__
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import Bar, bar, duration, line, note, print_json, table
from evalsuite.contracts.registry import discover
from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.workload import EquivalenceReceipt, WorkloadAnswer
from evalsuite.launch import equivalence
from evalsuite.launch.equivalence import NotRun, ProvenWorkload
from evalsuite.results.compare.equivalence import WorkloadDifference, WorkloadPair, pairs
from evalsuite.runs.equivalence import write

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
    proofs = [_prove(model, workloads) for model, workloads in wanted.items() if len(workloads) > 1]
    if arguments.receipts is not None:
        for proof in proofs:
            _write_receipt(proof, arguments.receipts)
    if arguments.json:
        print_json({"schema": SCHEMA, "models": [_facts(proof) for proof in proofs]})
    else:
        for proof in proofs:
            _print(proof)
    return _exit_code(proofs)


def _refuse(wanted: dict[str, list[ProvenWorkload]], frameworks: str | None) -> None:
    here = sorted({workload.framework for workloads in wanted.values() for workload in workloads})
    raise EvalsuiteError.of(
        "commands.equivalence_too_few",
        names=frameworks or "",
        models=", ".join(wanted),
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
            answer = equivalence.answer(workload, folder, note)
            took = duration(time.monotonic() - began)
            if isinstance(answer, equivalence.NotRun):
                absent.append(answer)
                _show_progress(
                    shown, place + 1, say("equivalence.failed", **where, reason=i18n.worded(answer.reason), time=took)
                )
            else:
                answers.append(answer)
                _show_progress(shown, place + 1, say("equivalence.ended", **where, time=took))
    return ProvenModel(model=model, answers=tuple(answers), absent=tuple(absent), pairs=tuple(pairs(answers)))


def _show_progress(shown: Bar | None, done: int, text: str) -> None:
    if shown:
        shown.show(done, text)
    else:
        note(text)


def _write_receipt(proof: ProvenModel, folder: Path) -> None:
    if len(proof.answers) < 2:
        note(say("equivalence.no_receipt", model=proof.model))
        return
    day = datetime.now(UTC).date().isoformat()
    receipt = EquivalenceReceipt(model=proof.model, day=day, evalsuite=__version__, answers=proof.answers)
    note(say("equivalence.receipt", file=write(receipt, folder)))


def _exit_code(proofs: Sequence[ProvenModel]) -> int:
    every = [pair for proof in proofs for pair in proof.pairs]
    if not every:
        return Exit.NOTHING_MEASURED
    if any(pair.verdict == "differs" for pair in every):
        return Exit.CRITERION_FAILED
    return Exit.SOME_FAILED if any(proof.absent for proof in proofs) else Exit.DONE


def _facts(proof: ProvenModel) -> dict[str, Any]:
    return {
        "model": proof.model,
        "answers": [answer.to_json() for answer in proof.answers],
        "not_run": [asdict(absent) for absent in proof.absent],
        "pairs": [{"verdict": pair.verdict, **asdict(pair)} for pair in proof.pairs],
    }


def _print(proof: ProvenModel) -> None:
    names = ("pair", "verdict", "loss1", "loss2", "loss3", "gradients", "float32")
    columns = [(say(f"columns.{name}"), "left" if name in names[:2] else "right") for name in names]
    table(say("equivalence.title", model=proof.model), columns, list(_rows(proof)))
    columns = [(say(f"columns.{name}"), "left") for name in ("framework", "version", "counts", "timed", "modes")]
    table(say("equivalence.counted", model=proof.model), columns, [_count_row(answer) for answer in proof.answers])
    for pair in proof.pairs:
        for difference in pair.differences:
            line(_difference_sentence(pair, difference))
    for absent in proof.absent:
        line(say("equivalence.absent", framework=absent.framework, reason=i18n.worded(absent.reason)))
    proven, limited = (sum(pair.verdict == verdict for pair in proof.pairs) for verdict in ("proven", "limited"))
    expected = len(proof.answers) + len(proof.absent)
    said = {"model": proof.model, "proven": proven, "n": expected * (expected - 1) // 2}
    line(say("equivalence.sum_limited", **said, limited=limited) if limited else say("equivalence.sum", **said))


def _rows(proof: ProvenModel) -> Iterator[list[str]]:
    for pair in proof.pairs:
        verdict = say(f"statuses.{pair.verdict}")
        if pair.differences:
            verdict += ": " + ", ".join(say(f"causes.{difference.cause}") for difference in pair.differences)
        losses = [*pair.losses, *[None] * 3][:3]
        yield [
            f"{pair.first} – {pair.second}",
            verdict,
            *(_distance(each) for each in (*losses, pair.gradient_norm, pair.float32)),
        ]
    gone = {absent.framework for absent in proof.absent}
    names = [answer.framework for answer in proof.answers] + sorted(gone)
    for two in combinations(names, 2):
        if gone & set(two):
            yield [" – ".join(two), say("statuses.not_run"), *["–"] * 5]


def _distance(value: float | None) -> str:
    return "–" if value is None else "0" if value == 0 else f"{value:.1e}"


def _count_row(answer: WorkloadAnswer) -> list[str]:
    counts = say(
        "equivalence.counts_of",
        parameters=f"{answer.elements:,}",
        tensors=len(answer.parameters),
        flops=f"{answer.flops_per_item:,}" if answer.flops_per_item is not None else "–",
        items=answer.items_per_step,
        bytes=f"{answer.bytes_reduced_per_step:,}",
    )
    modes = ", ".join(f"{name}={value}" for name, value in answer.modes.items())
    return [answer.framework, answer.version, counts, ", ".join(answer.timed), modes]


def _difference_sentence(pair: WorkloadPair, difference: WorkloadDifference) -> str:
    values = {"first": pair.first, "second": pair.second, "ours": difference.ours, "theirs": difference.theirs}
    what = say(f"causes.{difference.cause}")
    if difference.relative is None or difference.limit is None:
        return say("equivalence.unlike", **values, what=what, where=f" {difference.where}" if difference.where else "")
    return say(
        "equivalence.apart",
        **values,
        what=what,
        where=difference.where,
        relative=_distance(difference.relative),
        limit=f"{difference.limit:.0e}",
    )
