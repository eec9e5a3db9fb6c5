"""`evalsuite equivalence`: do the reference workloads of several frameworks train the same thing?"""

import argparse
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from evalsuite import __version__
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import duration, line, note, print_json, table
from evalsuite.contracts.adapter import Recipe
from evalsuite.contracts.registry import discover
from evalsuite.core import files
from evalsuite.core.errors import EvalsuiteError, Exit
from evalsuite.core.workload import EquivalenceReceipt, WorkloadAnswer
from evalsuite.launch import equivalence
from evalsuite.results.compare.equivalence import WorkloadDifference, WorkloadPair, pairs


@dataclass(frozen=True, kw_only=True)
class ProvenModel:
    model: str
    answers: tuple[WorkloadAnswer, ...]
    absent: Mapping[str, str]  # framework → why it did not run
    pairs: tuple[WorkloadPair, ...]


def run(arguments: argparse.Namespace) -> int:
    if arguments.receipts is not None:
        files.try_place(arguments.receipts, folder=True)
    adapters = discover(arguments.adapters)
    names = list(dict.fromkeys(arguments.frameworks.split(","))) if arguments.frameworks is not None else None
    asked = equivalence.models(adapters) if arguments.model == "all" else (arguments.model,)
    wanted = {model: equivalence.workloads(adapters, names, model) for model in asked}
    if all(len(workloads) < 2 for workloads in wanted.values()):
        here = ", ".join(sorted({framework for workloads in wanted.values() for framework in workloads})) or "–"
        facts = {"names": arguments.frameworks or "", "models": ", ".join(wanted), "here": here}
        raise EvalsuiteError.of("commands.equivalence_too_few", **facts)
    proofs = [_prove(model, workloads) for model, workloads in wanted.items() if len(workloads) > 1]
    for proof in proofs if arguments.receipts is not None else ():
        if len(proof.answers) > 1:
            day = datetime.now(UTC).date().isoformat()
            receipt = EquivalenceReceipt(model=proof.model, day=day, evalsuite=__version__, answers=proof.answers)
            arguments.receipts.mkdir(parents=True, exist_ok=True)
            file = arguments.receipts / f"{proof.model}.json"
            files.write_json(file, receipt.to_json())
            note(say("equivalence.receipt", file=file))
        else:
            note(say("equivalence.no_receipt", model=proof.model))
    if arguments.json:
        print_json({"schema": 1, "models": [_facts(proof) for proof in proofs]})
    else:
        for proof in proofs:
            _print(proof)
    every = [pair for proof in proofs for pair in proof.pairs]
    if any(pair.verdict == "differs" for pair in every):
        return Exit.CRITERION_FAILED
    return Exit.of(len(every), len(every) + sum(len(proof.absent) for proof in proofs))


def _prove(model: str, workloads: Mapping[str, Recipe]) -> ProvenModel:
    answers, absent = [], {}
    with files.scratch("equivalence") as folder:
        for place, (framework, recipe) in enumerate(workloads.items(), 1):
            where = {"model": model, "framework": framework, "place": place, "n": len(workloads)}
            note(say("equivalence.started", **where))
            began = time.monotonic()
            try:
                answers.append(equivalence.answer(framework, recipe, folder, note))
            except EvalsuiteError as error:
                absent[framework] = error.message
            where["time"] = duration(time.monotonic() - began)
            if framework in absent:
                note(say("equivalence.failed", **where, reason=i18n.worded(absent[framework])))
            else:
                note(say("equivalence.ended", **where))
    return ProvenModel(model=model, answers=tuple(answers), absent=absent, pairs=tuple(pairs(answers)))


def _facts(proof: ProvenModel) -> dict[str, object]:
    return {
        "model": proof.model,
        "answers": [answer.to_json() for answer in proof.answers],
        "not_run": [{"framework": name, "reason": reason} for name, reason in proof.absent.items()],
        "pairs": [{"verdict": pair.verdict, **asdict(pair)} for pair in proof.pairs],
    }


def _print(proof: ProvenModel) -> None:
    names = ("pair", "verdict", "loss1", "loss2", "loss3", "gradients", "float32")
    columns = [(say(f"columns.{name}"), "left" if name in names[:2] else "right") for name in names]
    table(say("equivalence.title", model=proof.model), columns, [_row(pair) for pair in proof.pairs])
    for pair in proof.pairs:
        for difference in pair.differences:
            line(_difference_sentence(pair, difference))
    for framework, reason in proof.absent.items():
        line(say("equivalence.absent", framework=framework, reason=i18n.worded(reason)))
    proven, limited = (sum(pair.verdict == verdict for pair in proof.pairs) for verdict in ("proven", "limited"))
    expected = len(proof.answers) + len(proof.absent)
    facts = {"model": proof.model, "proven": proven, "n": expected * (expected - 1) // 2}
    line(say("equivalence.sum_limited", **facts, limited=limited) if limited else say("equivalence.sum", **facts))


def _row(pair: WorkloadPair) -> list[str]:
    causes = ", ".join(i18n.report_word("values.fact", difference.cause) for difference in pair.differences)
    verdict = ": ".join(filter(None, (say(f"statuses.{pair.verdict}"), causes)))
    distances = (*[*pair.losses, *[None] * 3][:3], pair.gradient_norm, pair.float32)
    return [f"{pair.first} – {pair.second}", verdict, *map(_distance, distances)]


def _distance(value: float | None) -> str:
    return "–" if value is None else "0" if value == 0 else f"{value:.1e}"


def _difference_sentence(pair: WorkloadPair, difference: WorkloadDifference) -> str:
    values = {"first": pair.first, "second": pair.second, "ours": difference.ours, "theirs": difference.theirs}
    what = i18n.report_word("values.fact", difference.cause)
    if difference.relative is None or difference.limit is None:
        return say("equivalence.unlike", **values, what=what, where=f" {difference.where}" if difference.where else "")
    limits = {"relative": _distance(difference.relative), "limit": f"{difference.limit:.0e}"}
    return say("equivalence.apart", **values, what=what, where=difference.where, **limits)
