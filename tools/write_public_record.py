"""Writes data/reference/recounted.csv, and the tables of docs/public-record.md and docs/public-record.zh.md.

    python tools/write_public_record.py

Each row of data/reference/published.csv that prints tokens/s and TFLOP/s is counted again by every rule of
data/models.json. Of those within 1 % it follows the one that fits most rows of its source and release.
"""

import csv
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from evalsuite.core import paths
from evalsuite.results.measure import flops
from evalsuite.results.rules import flops_and_energy

PUBLISHED = paths.DATA / "reference" / "published.csv"
PAGES = [ROOT / "docs" / f"public-record{end}" for end in (".md", ".zh.md")]
TABLE = paths.DATA / "reference" / "recounted.csv"
NEAR = 0.01
# of a gated feed-forward part; the layers' forward pass, counted again; weights without gradients (LoRA)
TWO, AGAIN, FROZEN = ", two matrices of three", " + recomputed", " × 2/3"
COLUMNS = ("source", "release", "model", "device", "precision", "devices", "sequence", "tokens_per_s", "tflops")
COUNTED = ("rule", "off", "causal_tflops", "mfu")


def pairs() -> Iterator[dict[str, Any]]:
    """The rows that print both; LLM Foundry prints its TFLOP/s in a remark."""
    lines: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in paths.read_rows(PUBLISHED):
        lines.setdefault(tuple(row[name] for name in ("source", "commit", "path", "line", "model")), []).append(row)
    for rows in lines.values():
        rates = [row for row in rows if re.match("tokens/s/(GPU|device)", row["unit_as_printed"])]
        said = [float(row["value"]) for row in rows if re.match("TFLOPS?(/s)?/GPU", row["unit_as_printed"])]
        noted = [re.search(r"model TFLOP (\d+)", row["notes"]) for row in rows]
        for row, tflops in zip(rates, said or [float(match[1]) for match in noted if match], strict=False):
            length = re.match(r"[\d,]+", row["input_as_printed"] or row["input_size"])
            values = (row["source"], row["framework_version"], row["model"], row["device"], row["precision"])
            values += (row["total_devices"], length and int(length[0].replace(",", "")), float(row["value"]), tflops)
            yield {**dict(zip(COLUMNS, values, strict=True)), "task": row["task"]}


def variants(name: str) -> dict[str, flops.Transformer]:
    """The model by that name, and as tables have been seen to count it; empty where it is not known."""
    plain = flops.plain(name)
    known = (each["config"] for each in flops.listed()["transformers"] if plain in map(flops.plain, each["names"]))
    if (config := next(known, None)) is None:
        return {}
    changes = {"": {}, ", without MTP": {"num_nextn_predict_layers": 0}, TWO: {"gated": False}}
    if not config.get("num_nextn_predict_layers"):
        del changes[", without MTP"]
    if config["model_type"] != "gpt_oss":
        del changes[TWO]
    return {kind: flops.from_config({**config, **change}, name) for kind, change in changes.items()}


def candidates(row: dict[str, Any]) -> Iterator[tuple[str, str, float]]:
    """(rule, what else was done, how far off TFLOP/s are)."""
    for kind, model in variants(row["model"]).items():
        long = replace(model, places=model.hidden * row["sequence"]) if model.places else model
        head = 6 * model.hidden * model.vocabulary
        for rule in (name for name, of in flops.listed()["rules"].items() if not of.get("again")):
            each = long.flops_per_token(row["sequence"], rule)
            for more, counted in (("", each), (AGAIN, each + (each - head) / 3), (FROZEN, each * 2 / 3)):
                yield rule, kind + more, counted * row["tokens_per_s"] / 1e12 / row["tflops"] - 1


def recounted() -> list[dict[str, Any]]:
    rows = [(row, [each for each in candidates(row) if abs(each[2]) <= NEAR]) for row in pairs()]
    plainly = [(row, {rule for rule, kind, _ in found if kind == ""}) for row, found in rows]
    liked = Counter((row["source"], row["release"], rule) for row, rules in plainly for rule in rules)
    order, counted = [*flops.listed()["rules"]], []
    for row, found in rows:
        often = {rule: liked[row["source"], row["release"], rule] for rule in order}
        found.sort(key=lambda each: (each[1].endswith((AGAIN, FROZEN)), -often[each[0]], order.index(each[0]), each[1]))
        rule, kind, off = found[0] if found else ("none", "", None)
        model = variants(row["model"]).get("")
        of_token = model.flops_per_token(row["sequence"], frozen=FROZEN in kind) if model else 0
        causal = of_token * row["tokens_per_s"] / 1e12
        peak = flops_and_energy.peak_tflops(row["device"], row["precision"])
        row |= {"rule": rule + kind, "off": "" if off is None else f"{off:+.4f}"}
        row |= {
            "causal_tflops": f"{causal:.1f}" if causal else "",
            "mfu": f"{causal / peak:.3f}" if causal and peak else "",
        }
        counted.append(row)
    return counted


def changes(rows: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """(before, after) of one model on one device in releases that follow each other, by different rules."""
    series: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        name = re.sub(r"[^a-z0-9]", "", row["model"].lower().partition("(")[0].replace("3.1", "3"))
        if row["rule"] != "none" and row["device"] and row["release"] and row["task"].startswith("pre"):
            series.setdefault((name, row["device"]), []).append(row)
    for each in series.values():
        each.sort(key=lambda row: (re.search(r"\d\d\.\d\d(\.\d+)?", row["release"]) or [row["release"]])[0])
        known = [
            next(row for row in each if row["release"] == release)
            for release in dict.fromkeys(row["release"] for row in each)
        ]
        yield from ((a, b) for a, b in pairwise(known) if a["rule"] != b["rule"])


def latest(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of each model, device and precision the row that its source prints first: that of the newest release."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in (row for row in rows if row["mfu"]):
        found.setdefault(tuple(row[name] for name in ("source", "model", "device", "precision")), row)
    return sorted(found.values(), key=lambda row: (row["source"], row["model"], -float(row["mfu"])))


def tables(rows: list[dict[str, Any]]) -> Iterator[tuple[str, Iterable[Iterable[object]]]]:
    """The rows of each table of the page, whose heads and sentences are written by hand."""
    rules = {row["source"]: Counter[str]() for row in rows}
    for row in rows:
        rules[row["source"]][row["rule"]] += 1
    by_size = sorted(rules.items(), key=lambda each: -each[1].total())
    follow = [
        (source, n.total(), ", ".join(f"{rule}: {many}" for rule, many in n.most_common())) for source, n in by_size
    ]
    known = sum(row["rule"] != "none" for row in rows)
    yield "follow", [*follow, ("Σ", len(rows), f"{known} + none: {len(rows) - known}")]
    yield (
        "changed",
        [
            (b["model"], b["device"], _told(a), _told(b), f"{a['causal_tflops']} → {b['causal_tflops']}")
            for a, b in changes(rows)
        ],
    )
    shown = ("source", "model", "device", "precision", "sequence", "tokens_per_s", "tflops", "rule", "causal_tflops")
    yield "now", [(*(row[name] for name in shown), f"{float(row['mfu']):.1%}") for row in latest(rows)]


def _told(row: dict[str, Any]) -> str:
    return f"{row['release']}, {row['precision']}: {row['tokens_per_s']:,.0f} · {row['tflops']:g} · {row['rule']}"


def filled(page: str, tables: Iterable[tuple[str, Iterable[Iterable[object]]]]) -> str:
    for name, cells in tables:
        lines = (
            "| " + " | ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in row) for row in cells
        )
        before, begin, rest = page.partition(f"<!-- {name} -->\n")
        head, after = re.match(r"((?:\|.*\n){2})(?:\|.*\n)*", rest).group(1), re.sub(r"^(\|.*\n)+", "", rest)
        page = before + begin + head + "".join(f"{line} |\n" for line in lines) + after
    return page


def main() -> None:
    rows = recounted()
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [*COLUMNS, *COUNTED], extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8"), tables(rows)), encoding="utf-8")


if __name__ == "__main__":
    main()
