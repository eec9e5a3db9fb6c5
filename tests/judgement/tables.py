"""Tables of figures, bent or ambiguous, as `import` and `report` take them.

`python -m tests.judgement.tables [NAME …]` prints the table.
"""

import sys
from collections.abc import Callable, Mapping

from tests import sources
from tests.judgement.table import JudgementCase, Said
from tests.judgement.workplace import RANKED, Workplace, case, codes, ranked, show, verdict

HEAD = (
    "framework,model,nodes,gpus_per_node,batch_size_per_gpu,precision,device,throughput,unit,data,optimiser,clipping,"
    "input_size,tf32,driver_generation,host_kind,compiler,parallel_layout,machine"
)
SAID = "synthetic,sgd,none,224,off,550,bare_metal,none,DP,m"


def row(framework: str, rate: str, unit: str = "images/s", **changes: str) -> str:
    facts = {"model": "resnet50_v1.5", "nodes": "1", "gpus": "8", "batch": "64", "precision": "fp32", "device": "V100"}
    of = {**facts, **changes}
    return ",".join((framework, *(of[name] for name in facts), rate, unit, SAID))


def table(
    rows: list[str], head: str = HEAD, words: str = "", wrong: Callable[[Mapping], bool] | None = None
) -> Callable:
    """What is said of *rows*; *wrong*: whether the summary makes the wrong statement, if not by a ranking."""

    def of(work: Workplace) -> Said:
        work.write("table.csv", "\n".join((head, *rows)) + "\n")
        code = work.do(f"import table.csv --runs runs {words}")
        asked = " ".join(work.printed.strip().splitlines()[:1])[:150].replace("|", "/")
        if code == 2:
            return Said(verdict="caught", words=asked)
        _, summary = work.report()
        if not summary:
            return Said(verdict="caught", words=asked)
        bent = (
            wrong(summary)
            if wrong
            else any(answer["evidence"] in RANKED and answer["ranked"][1:] for answer in summary["answers"])
        )
        skipped = asked if "skipped" in asked else ""
        return verdict(bent, codes(summary), f"{ranked(summary)} {codes(summary)} {skipped}")

    return of


def beside(rate: str, unit: str = "images/s", **changes: str) -> Callable:
    """A row like that beside an ordinary one, of 5,990 images/s."""
    return table([row("alpha", "5990"), row("beta", rate, unit, **changes)], wrong=lambda of: first(of) == "beta")


def first(summary: Mapping) -> str | None:
    """Who is ranked first among several, by whatever word."""
    return next((answer["ranked"][0]["framework"] for answer in summary["answers"] if len(answer["ranked"]) > 1), None)


def speedup(summary: Mapping) -> bool:
    return any(row["speedup"] and row["speedup"]["value"] > 5 for row in summary["summaries"])


def other_speedup(summary: Mapping) -> bool:
    """Than 6.75, which the throughputs give."""
    return any(row["speedup"] and row["speedup"]["value"] not in (1.0, 6.75) for row in summary["summaries"])


def with_column(name: str, *cells: str, rates: tuple[str, ...] = ("700", "4725")) -> tuple[list[str], str]:
    sizes = ("1", "8")
    rows = [f"{row('alpha', rate, gpus=gpus)},{cell}" for rate, gpus, cell in zip(rates, sizes, cells, strict=True)]
    return rows, f"{HEAD},{name}"


def runs(rates: list[str], repeats: list[str], n: str | None = None, framework: str = "alpha") -> list[str]:
    more = "" if n is None else f",{n}"
    return [f"{row(framework, rate)},{repeat}{more}" for rate, repeat in zip(rates, repeats, strict=True)]


FIVE = ["6012.1", "6003.4", "6021.9", "5998.0", "6010.7"]
BEHIND = ["5912.1", "5903.4", "5921.9", "5898.0", "5910.7"]
NUMBERED = [*"12345"]
VERSIONS, NOTED = with_column("note", "measured with v1.8", "measured with v2.1")
PRINTED, SPEEDUPS = with_column("speedup", "1.00", "9.75")
PERCENT, PERCENTS = with_column("speedup", "100%", "84%")
BASES, DEVICES = [row("alpha", "700", gpus="1", device="K80"), row("alpha", "4725")], HEAD
GLOBAL = HEAD.replace("batch_size_per_gpu", "batch")
TOTAL = HEAD.replace("batch_size_per_gpu", "global_batch_size")
CASES: dict[str, JudgementCase] = {
    **{
        name: case(what, wanted, beside(rate, **dict(*more)))
        for name, (what, wanted, rate, *more) in sources.table("judgement_tables.toml")["beside"].items()
    },
    "German": case("6.012 beside 5990", "asked", table([row("beta", "5990"), row("alpha", "6.012")],
                   wrong=lambda of: len(of["summaries"]) > 1)),
    "percent": case("a speed-up in per cent", "a finding", table(PERCENT, PERCENTS, wrong=other_speedup)),
    "speed-up": case("9.75 printed for 6.75", "the computed one", table(PRINTED, SPEEDUPS, wrong=other_speedup)),
    "K80 base": case("the base on another device", "no speed-up", table(BASES, DEVICES, wrong=speedup)),
    "two versions": case("base and scale of two versions", "no speed-up",
                         table(*with_column("version", "1.8", "2.1"), wrong=speedup)),
    "noted versions": case("versions in a note", "asked", table(VERSIONS, NOTED, wrong=speedup)),
    "global": case("header batch with the global batch", "asked",
                   table([row("alpha", "700", gpus="1", batch="64"), row("alpha", "4725", batch="512")], GLOBAL)),
    "global named": case("header global_batch_size", "refused", table([row("alpha", "4725", batch="512")], TOTAL)),
    "spellings": case("one framework under three spellings", "asked",
                      table([row("alpha", "5990"), row("Alpha", "6012"), row("ALPHA", "6020")])),
    "thousands": case("6,012 in quotes beside 5990", "6012", table([row("alpha", "5990"), row("beta", '"6,012"')],
                      wrong=lambda of: len(of["summaries"]) < 2)),
    "n_runs": case("n_runs 20, five rows there", "said", table(runs(FIVE, NUMBERED, "20"), f"{HEAD},run,n_runs",
                   wrong=lambda of: any(summary["n"] > 5 for summary in of["summaries"]))),
    "chosen": case("repeats 3, 7, 11, 12, 19", "said", table(runs(FIVE, ["3", "7", "11", "12", "19"]), f"{HEAD},run",
                   wrong=lambda of: True), "footnote"),
    "no scatter": case("five values 0.01 apart", "no repeats",
                       table(runs([f"6012.0{n}" for n in range(5)], NUMBERED), f"{HEAD},run",
                             wrong=lambda of: any(summary["n"] > 1 for summary in of["summaries"]))),
    "single runs": case("medians and rows whose note says single run", "asked",
                        table([f"{row('alpha', '5990')},", f"{row('alpha', '6012')},single run"], f"{HEAD},note")),
    "cited ahead": case("cited runs, one 1.7 % ahead", "never fastest",
                        table([*runs(FIVE, NUMBERED), *runs(BEHIND, NUMBERED, framework="beta")], f"{HEAD},run",
                              wrong=lambda of: any(answer["evidence"] == "decided" for answer in of["answers"]))),
    "Simpson": case("two models, each with its own first", "no overall winner",
                    table([row("alpha", "5990"), row("beta", "5000"), row("alpha", "100", model="bert_base"),
                           row("beta", "200", model="bert_base")], wrong=lambda of: len(of["answers"]) < 2)),
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(show("Tables", CASES))
