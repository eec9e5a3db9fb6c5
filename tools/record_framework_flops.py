"""Writes tests/published/framework_flops.csv: what frameworks' own functions count for the models of data/models.json.

    pip install torch==2.13.0 transformers==5.23.0 torchtitan==0.3.0
    python tools/record_framework_flops.py

Every model is built without memory (the device "meta"). transformers: Trainer.floating_point_ops(), that is
6 × num_parameters(exclude_embeddings=True) for a token. torchtitan: get_nparams_and_flops() of its own models.
"""

import csv
import importlib
import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[1]
MODELS = json.loads((ROOT / "data" / "models.json").read_text(encoding="utf-8"))["transformers"]
SEQUENCE = 4096
TORCHTITAN = {  # room → its name of a configuration → ours
    "llama3": {name: f"llama3_{name.lower()}" for name in ("1B", "3B", "8B", "70B", "405B")},
    "qwen3": {
        **{name: f"qwen3_{name.lower()}" for name in ("0.6B", "1.7B", "4B", "8B", "14B", "32B")},
        **{"30B-A3B": "qwen3_30b_a3b", "235B-A22B": "qwen3_235b_a22b"},
    },
    "deepseek_v3": {"16B": "deepseek_v2_lite", "671B": "deepseek_v3_without_mtp"},
    "gpt_oss": {"20b": "gpt_oss_20b", "120b": "gpt_oss_120b"},
}


def of_transformers() -> Iterator[tuple[str, int, int]]:
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

    for listed in (each for each in MODELS if "options" not in each):
        kind = {"kimi_k2": "deepseek_v3"}.get(listed["config"]["model_type"], listed["config"]["model_type"])
        with torch.device("meta"):
            fields = {name: value for name, value in listed["config"].items() if name != "model_type"}
            config = AutoConfig.for_model(kind, **fields)
            model = (AutoModelForMaskedLM if kind == "bert" else AutoModelForCausalLM).from_config(config)
        yield listed["names"][0], model.num_parameters(), 6 * model.num_parameters(exclude_embeddings=True)


def of_torchtitan() -> Iterator[tuple[str, int, int]]:
    for room, names in TORCHTITAN.items():
        registry = importlib.import_module(f"torchtitan.models.{room}").model_registry
        for name, ours in names.items():
            spec = registry(name)
            with torch.device("meta"):
                model = spec.model.build()
            yield ours, *spec.model.get_nparams_and_flops(model, SEQUENCE)


def main() -> None:
    with (ROOT / "tests" / "published" / "framework_flops.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("framework", "rule", "model", "sequence", "parameters", "flops_per_token"))
        for name, rule, rows in (("transformers", "hf", of_transformers), ("torchtitan", "torchtitan", of_torchtitan)):
            table.writerows((f"{name} {version(name)}", rule, row[0], SEQUENCE, *row[1:]) for row in rows())


if __name__ == "__main__":
    main()
