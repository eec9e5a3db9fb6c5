"""Checks each official recipe's arguments against the script itself, and writes the evidence.

python tools/verify_recipes.py [--models DIR] [--files DIR] [--out data/verification.json]

The script and its imports of the same repository are parsed, never run, at the pinned commit. Every argument of the
recipe must be declared, every required one given. Checkouts are those of `evalsuite repositories get`; without one,
`--files DIR` has files `DIR/<model>/<path>`, and `DIR/<model>/SOURCE` says where from. Runs in `data/recorded.zip`
raise the level to "ran here".
"""

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOUSE))

from evalsuite import paths, registry
from evalsuite.adapter import Recipe
from evalsuite.launch.provision import checkouts
from evalsuite.plan import repositories
from evalsuite.runs import archive
from evalsuite.runs.store import Store
from tools.recipe_cases import points

# of a library: model → (who, which)
LIBRARIES = {
    "transformers": (
        "transformers.TrainingArguments, in the library",
        {
            *("per_device_train_batch_size", "max_steps", "logging_steps", "save_strategy", "output_dir", "report_to"),
            *("do_train", "fp16", "bf16", "no_cuda"),
        },
    ),
    "deepspeed-examples-2020": ("deepspeed.add_config_arguments, in the library", {"deepspeed", "deepspeed_config"}),
}
# arguments from YAML keys or dataclass fields
GENERATED = {"mindspore-models", "megatron", "transformers"}
CONSOLE = {"{bin}/elasticdl": "elasticdl_client/main.py"}  # installed by the package


@dataclass
class Declared:
    """Name of an argument or key → place."""

    arguments: dict[str, str] = field(default_factory=dict)  # "--batch-size" → "main.py:41"
    keys: dict[str, str] = field(default_factory=dict)  # "batch_size" → "config.yaml:3"
    required: dict[str, str] = field(default_factory=dict)
    by_hand: dict[str, str] = field(default_factory=dict)  # "--module" → where the script looks for that text


def main() -> int:
    options = _parser().parse_args()
    models = repositories.known()
    evidence = {}
    for framework, each in sorted(registry.discover().items()):
        for recipe in each.recipes:
            if recipe.kind == "official":
                evidence[f"{framework}/{recipe.name}"] = _checked(framework, recipe, models, options.files)
    _raise_what_ran(evidence)
    options.out.write_text(json.dumps(evidence, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    for name, facts in evidence.items():
        missing = f": {', '.join(facts['missing'])}" if facts.get("missing") else ""
        print(f"{facts['level']:18} {name}{missing}{': ' + facts['reason'] if facts.get('reason') else ''}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=Path, help="single files of repositories that cannot be cloned")
    parser.add_argument("--out", type=Path, default=HOUSE / "data" / "verification.json")
    return parser


def _checked(framework: str, recipe: Recipe, models, files: Path | None) -> dict:
    """The level, and where each argument was found."""
    served = [case for _, case in points(framework, recipe) if not recipe.refusal(case)]
    commands = [recipe.command(case) for case in served]
    root, origin = _root(recipe, models, files)
    facts = {"date": datetime.now(UTC).date().isoformat(), "origin": origin}
    if root is None:
        return {"level": "unchecked", "reason": origin, **facts}
    found, missing, scripts, needed = {}, set(), set(), {}
    for command in commands:
        for script, words in _scripts(command, root):
            scripts.add(str(script.relative_to(root)))
            declared = _declared(script, root, words, command)
            for word in words:
                place = _place(word, declared, recipe)
                place = re.sub(r":\d+", "", place) if place and "excerpt" in origin else place
                found.update({word: place} if place else {})
                missing |= set() if place else {word}
            needed |= {name: place for name, place in declared.required.items() if not _given(name, words)}
    if not scripts:
        return {"level": "unchecked", "reason": "no script of the command lies in the repository", **facts}
    missing |= {f"{name} is required ({place}) and not given" for name, place in needed.items()}
    level = "unchecked" if missing else "arguments checked"
    return {"level": level, **facts, "scripts": sorted(scripts), "arguments": dict(sorted(found.items())),
            "missing": sorted(missing)}  # fmt: skip


def _root(recipe: Recipe, models, files: Path | None) -> tuple[Path | None, str]:
    """The folder for `{checkout}`, and its origin."""
    name = recipe.checkout or recipe.name
    if recipe.checkout:
        model = models[recipe.checkout]
        state = checkouts.state(model)
        if state.present and state.clean and state.commit == model.commit:
            return model.folder, f"{model.address} at {model.commit}"
    if files and (files / name).is_dir():
        source = files / name / "SOURCE"
        return files / name, source.read_text().strip() if source.is_file() else "single files"
    return None, f"the repository could not be had; run `evalsuite repositories get {name}`"


def _scripts(command, root: Path) -> Iterator[tuple[Path, list[str]]]:
    """(script, its arguments): scripts of the repository, and modules started with -m."""
    script, words, argv = None, [], list(command.argv)
    for place, token in enumerate(argv):
        started = _script(token, argv[place - 1] if place else "", command, root)
        if started:
            if script:
                yield script, _names(words)
            script, words = started, []
        elif script:
            words.append(token)
    if script:
        yield script, _names(words)


def _script(token: str, before: str, command, root: Path) -> Path | None:
    if token in CONSOLE and (root / CONSOLE[token]).is_file():
        return root / CONSOLE[token]
    if token.startswith("{checkout}/") and token.endswith(".py") and before not in ("-c", "--config-file", "--config"):
        return root / token.removeprefix("{checkout}/")
    if before == "-m" and not token.startswith(("torch.", "paddle.", "oneflow.")):
        folders = [root / part.removeprefix("{checkout}").strip("/") for part in _python_path(command)]
        files = [folder / (token.replace(".", "/") + ".py") for folder in (*folders, root)]
        return next((file for file in files if file.is_file()), None)
    return None


def _python_path(command) -> list[str]:
    return [part for part in command.environment.get("PYTHONPATH", "").split(":") if part.startswith("{checkout}")]


def _names(words: list[str]) -> list[str]:
    """Arguments, and keys in `-o`, JSON and `a.b=c`."""
    names = []
    for place, word in enumerate(words):
        if word.startswith("--params_override="):
            names += ["--params_override", *_leaves(json.loads(word.split("=", 1)[1]))]
        elif re.match(r"--?[A-Za-z]|[A-Za-z_]+(\.\w+)+=", word) or (place and words[place - 1] == "-o"):
            names.append(word.split("=", 1)[0])
    return names


def _leaves(tree, prefix: str = "") -> list[str]:
    if not isinstance(tree, dict):
        return [prefix]
    return [leaf for name, value in tree.items() for leaf in _leaves(value, f"{prefix}.{name}" if prefix else name)]


def _place(word: str, declared: Declared, recipe: Recipe) -> str | None:
    bare = word.lstrip("-")
    for name in (word, f"-{bare}", f"--{bare}", f"--{bare.replace('_', '-')}", f"--{bare.replace('-', '_')}"):
        if name in declared.arguments and (name == word or "." in word or "DEFINE" in declared.arguments[name]):
            return declared.arguments[name]
    if word in declared.by_hand:
        return declared.by_hand[word]
    if bare.startswith("no") and f"--{bare[2:]}" in declared.arguments:
        return declared.arguments[f"--{bare[2:]}"]
    leaf = [part for part in bare.split(".") if not part.isdigit()][-1].replace("-", "_")
    if leaf in declared.keys and ("." in word or not word.startswith("-") or recipe.checkout in GENERATED):
        return declared.keys[leaf]
    library, names = LIBRARIES.get(recipe.checkout, ("", ()))
    return library if bare in names else None


def _given(name: str, words: Iterable[str]) -> bool:
    return any(alias in words for alias in name.split("|"))


def _declared(script: Path, root: Path, words: list[str], command) -> Declared:
    declared = Declared()
    for file in _closure(script, root, command):
        required = dict(declared.required)
        _read_python(file, root, declared)
        if file != script:
            declared.required = required  # a module's own requirements do not count
    for token in command.argv:
        named = re.search(r"\{checkout\}/(\S+\.(?:ya?ml|toml|py))$", token)
        if named and (root / named[1]).is_file() and root / named[1] != script:
            _read_configuration(root / named[1], root, declared)
    return declared


def _closure(script: Path, root: Path, command) -> list[Path]:
    """The script and its imports from its repository."""
    folders = [root / part.removeprefix("{checkout}").strip("/") for part in _python_path(command)]
    found, waiting = [], [script]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.append(file)
        waiting += _imported(file, [script.parent, *folders, root, *_path_additions(root, script)])
    return found


def _path_additions(root: Path, script: Path) -> list[Path]:
    """Parent folders that scripts put on sys.path."""
    return [parent for parent in script.parents if parent.is_relative_to(root)][:4]


def _imported(file: Path, folders: list[Path]) -> list[Path]:
    try:
        tree = ast.parse(file.read_text(errors="replace"))
    except SyntaxError:
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [(alias.name, 0) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            modules = [(base, node.level), *((f"{base}.{alias.name}".strip("."), node.level) for alias in node.names)]
        else:
            continue
        for module, level in modules:
            bases = [file.parents[level - 1]] if level else [*folders, file.parent]
            found += [hit for base in bases for hit in _files(base, module)][:4]
    return found


def _files(base: Path, module: str) -> list[Path]:
    path = base / module.replace(".", "/")
    return [file for file in (path.with_suffix(".py"), path / "__init__.py") if module and file.is_file()]


def _read_python(file: Path, root: Path, declared: Declared) -> None:
    text = file.read_text(errors="replace")
    try:
        tree = ast.parse(text)
    except SyntaxError:  # Python 2
        for number, line in enumerate(text.splitlines(), 1):
            for name in re.findall(r"add_arg\w*\(\s*['\"](-{0,2}[\w-]+)['\"]", line):
                declared.arguments.setdefault(f"--{name.lstrip('-')}", f"{file.relative_to(root)}:{number}")
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            _read_call(node, f"{file.relative_to(root)}:{node.lineno}", declared)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"--[\w-]+", node.value):
            declared.by_hand.setdefault(node.value, f"{file.relative_to(root)}:{node.lineno} (read by hand)")
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            declared.keys.setdefault(node.target.id, f"{file.relative_to(root)}:{node.lineno}")
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    declared.keys.setdefault(target.attr, f"{file.relative_to(root)}:{node.lineno}")


def _read_call(node: ast.Call, where: str, declared: Declared) -> None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    words = [item.value for item in node.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    keywords = {each.arg: each.value for each in node.keywords if each.arg}
    if name == "add_argument" or name.endswith("_argument"):
        named = keywords.get("name")
        flags = [word for word in words if word.startswith("-")]
        if "bool" in name or (not flags and isinstance(named, ast.Constant)):
            value = words[:1] or ([named.value] if isinstance(named, ast.Constant) else [])
            flags = flags or [f"--{each}" for each in value]
        for flag in flags:
            declared.arguments.setdefault(flag, where)
        required = keywords.get("required")
        if flags and isinstance(required, ast.Constant) and required.value is True:
            declared.required["|".join(flags)] = where
    elif name.startswith("DEFINE_") and (words or "name" in keywords):
        flag = words[0] if words else getattr(keywords["name"], "value", None)
        declared.arguments.setdefault(f"--{flag}", f"{where} (DEFINE)")
    elif name.startswith("mark_flag") and name.endswith("_as_required"):
        for flag in (each.value for each in ast.walk(node) if isinstance(each, ast.Constant)):
            declared.required[f"--{flag}"] = where
    elif name in ("add_arg", "add_arguments") and words:
        declared.arguments.setdefault(f"--{words[0]}", where)
    elif name in ("ParamSpec", "_bool_flag", "define_flag") and words:
        declared.arguments.setdefault(f"--{words[0]}", f"{where} (DEFINE)")
    elif name in ("dict", "ConfigDict", "LazyCall"):
        for key in keywords:
            declared.keys.setdefault(key, where)


def _read_configuration(file: Path, root: Path, declared: Declared) -> None:
    for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
        for key in re.findall(r"(?:^|[.\s{(,])['\"]?(\w+)['\"]?\s*[:=]", line):
            declared.keys.setdefault(key, f"{file.relative_to(root)}:{number}")
    if file.suffix == ".py":
        for module in _imported(file, [file.parent, root]):
            _read_python(module, root, declared)


def _raise_what_ran(evidence: dict) -> None:
    """A completed run beats any reading."""
    for folder in Store(archive.unpack(paths.DATA / "recorded.zip")).finished():
        case, outcome = folder.run().case, folder.outcome()
        facts = evidence.get(f"{case.framework}/{case.recipe}")
        if facts is None or outcome.status != "completed":
            continue
        run = {"case": case.id, "date": outcome.started_at[:10], "repeat": folder.run().repeat}
        ran = sorted([*facts.get("ran", []), run], key=lambda each: (each["case"], each["repeat"]))
        facts.update(level="ran here", ran=ran)
        facts["date"] = max(each["date"] for each in facts["ran"])


if __name__ == "__main__":
    sys.exit(main())
