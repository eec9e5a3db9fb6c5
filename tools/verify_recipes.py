"""Checks each official recipe's arguments against the script itself, and writes the evidence.

python tools/verify_recipes.py [--files DIR] [--out data/verification.json]
python tools/verify_recipes.py --table        # every recipe at 1x1 … 125x8: devices, steps, shards, ranks, imports

The script and its imports of the same repository are parsed, never run, at the pinned commit. Every argument of the
recipe must be declared, every required one given, and each value of the type and among the choices that the parser
names. Checkouts are those of `evalsuite env repositories`; without one, `--files DIR` has files `DIR/<model>/<path>`,
and `DIR/<model>/SOURCE` says where from. What cannot be had stays as it was found, where the recipe gives no other
arguments than then. Runs in `data/recorded.zip` raise the level to "ran here".
"""

import argparse
import ast
import contextlib
import itertools
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOUSE))

from evalsuite.contracts import registry
from evalsuite.contracts.adapter import Command, Recipe
from evalsuite.core import paths
from evalsuite.core.model import Case, by_key
from evalsuite.core.placeholders import VISIBLE
from evalsuite.launch.checks import imports
from evalsuite.launch.provision import checkouts, virtualenvs
from evalsuite.launch.provision.recipe_locks import PinnedEnvironment, distribution, read_lock
from evalsuite.plan import data_sets, repositories
from evalsuite.rehearsal import evidence as rehearsals
from evalsuite.runs import archive
from evalsuite.runs.store import Store
from tools.recipe_cases import base, points

NOWHERE = Path("/nonexistent")
WHOLE_NUMBERS = ("{node_rank}", "{nodes}", "{processes_per_node}", "{master_port}", "{threads}")
# of a library: model → (who, which)
LIBRARIES = {
    "transformers": (
        "transformers.TrainingArguments, in the library",
        {
            *("per_device_train_batch_size", "max_steps", "logging_steps", "save_strategy", "output_dir", "report_to"),
            *("do_train", "fp16", "bf16", "no_cuda", "optim", "max_grad_norm"),
        },
    ),
    "lightning": (
        "lightning.pytorch.Trainer, in the library",
        {
            *("trainer.accelerator", "trainer.devices", "trainer.num_nodes", "trainer.strategy", "trainer.precision"),
            "trainer.default_root_dir",
        },
    ),
    "deepspeed-examples-2020": ("deepspeed.add_config_arguments, in the library", {"deepspeed", "deepspeed_config"}),
}
# arguments from YAML keys, dataclass fields or a module's variables
GENERATED = {"mindspore-models", "megatron", "nanogpt", "transformers"}
# subprocess.run(["make", "-C", path]); torch.utils.cpp_extension.load(…, build_directory=…)
BUILDS = re.compile(r"""["']make["'],\s*["']-C["']|cpp_extension\.load\([^)]*build_directory""")
CONSOLE = {"{bin}/elasticdl": "elasticdl_client/main.py"}  # installed by the package
# calls by which a script asks how many devices there are; it may read the variable, too
COUNTS = {"device_count", "local_device_count", "get_cuda_device_count", "cuda_places", "num_gpus", *VISIBLE["gpu"]}
OF_PACKAGES = {"litgpt/train": ["litgpt/utils.py:557 torch.cuda.device_count"]}  # which no repository here holds


@dataclass(frozen=True)
class Values:
    place: str
    kind: str | None = None  # "int", "float", "bool", "none" (a switch, which takes no value); None: not said
    choices: tuple[str, ...] = ()

    def refusal(self, value: str | None) -> str | None:
        """Why the script would not take *value*; None if it would, or nobody can say."""
        if self.kind == "none":
            return f"is a switch and gets {value}" if value is not None else None
        if value is None or (self.kind is None and not self.choices):
            return None
        if value in WHOLE_NUMBERS:
            return None if self.kind in (None, "int", "float") else f"takes {self.kind} and gets {value}"
        if self.kind and not KINDS[self.kind].fullmatch(value):
            return f"takes {self.kind} and gets {value}"
        return (
            f"takes {', '.join(self.choices)} and gets {value}" if self.choices and value not in self.choices else None
        )


KINDS = {
    "int": re.compile(r"[+-]?\d+"),
    "float": re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"),
    "bool": re.compile(r"true|false|t|f|yes|no|y|n|1|0", re.IGNORECASE),
}
OF_ABSL = {"integer": "int", "float": "float", "bool": "bool", "boolean": "bool"}


@dataclass
class Declared:
    """Name of an argument or key → place."""

    arguments: dict[str, str] = field(default_factory=dict)  # "--batch-size" → "main.py:41"
    keys: dict[str, str] = field(default_factory=dict)  # "batch_size" → "config.yaml:3"
    required: dict[str, str] = field(default_factory=dict)
    values: dict[str, Values] = field(default_factory=dict)  # "--batch-size" → what its parser says
    by_hand: dict[str, str] = field(default_factory=dict)  # "--module" → where the script looks for that text


# The table: whether a case of a recipe can be what it says, at the scales of the report. Each cell begins with "ok", or
# is the reason why not; "unknown" is what a test refuses.

SCALES = ((1, 1), (1, 8), (2, 8), (16, 8), (125, 8))
COLUMNS = ("devices", "steps", "shards", "ranks", "imports")
# What starts the processes → what a node must be told, where there are several
LAUNCHERS = {
    **dict.fromkeys(("torch.distributed.run", "torch.distributed.launch"), ("{node_rank}", "{master_addr}")),
    "oneflow.distributed.launch": ("{node_rank}", "{master_addr}"),
    "multiproc.py": ("{node_rank}", "{master_addr}"),
    "--cluster_node_ips={hosts}": ("{host}",),  # Paddle 1.8
    **dict.fromkeys(("paddle.distributed.launch", "msrun"), ("{node_rank}", "{master_address}")),  # they take no names
    **dict.fromkeys(("mpirun", "{bin}/horovodrun", "{bin}/bfrun", "{bin}/deepspeed"), ("{hosts_slots}",)),
    "tools/launch.py": ("{hosts}", "{master_address}"),  # by ssh, to addresses
    "{bin}/elasticdl": (),  # its master starts a pod for each rank
    "--multiprocessing-distributed": ("{node_rank}", "{master_addr}"),  # a process for each device that it sees
    "TF_CONFIG": ("{node_rank}", "{hosts_ports_json}"),  # a process a node
    "worker_endpoints": ("{hosts_ports}", "{host}"),  # likewise
    "NPROC_PER_NODE": ("{node_rank}", "{master_addr}"),  # by torchrun, which the script starts
    "JAX_PROCESS_COUNT": ("{master_addr}",),  # a process a device
    "--ctrl_port={master_port}": ("{hosts}",),  # OneFlow 0.2, likewise
    "--ctrl-port": ("{hosts}",),
}


@dataclass(frozen=True)
class Row:
    recipe: str
    data: str  # value of the axis `data`; "": it has none
    scale: str
    cells: dict[str, str]  # column → "ok…" or the reason


def table() -> Iterator[Row]:
    for framework, each in sorted(registry.discover().items()):
        for recipe in (one for one in each.recipes if one.kind == "official"):
            values = (recipe.options or {}).get("data", ("",))
            imported = _imports(framework, recipe, base(framework, recipe))
            counts = _counts(framework, recipe)
            for data, (nodes, devices) in itertools.product(values, SCALES):
                case = base(framework, recipe).at_scale(nodes, devices)
                precisions = (replace(case, precision=name) for name in ("fp32", "amp"))
                case = next((one for one in precisions if not recipe.refusal(one)), case)
                case = replace(case, options=(("data", data),) if data else ())
                yield Row(f"{framework}/{recipe.name}", data, case.scale, _cells(recipe, case, imported, counts))


def _cells(recipe: Recipe, case: Case, imported: str, counts: str) -> dict[str, str]:
    if refused := recipe.refusal(case):
        return dict.fromkeys(COLUMNS, str(refused))
    command, epoch, shards = recipe.command_of(case), data_sets.epoch(recipe, case), data_sets.parts(recipe, case)
    short = data_sets.refusal()(case, recipe)
    few = short if any(files < case.total_devices for files in shards.values()) else None
    read = [name for name in data_sets.names(command) if data_sets.data_set(name).counted]
    steps = f"ok: {epoch[0] // case.global_batch} in a pass" if epoch else "ok: counted"
    return {
        "devices": _devices(recipe, case, counts),
        "steps": short if short and not few else steps,
        "shards": few or ("ok: named" if shards else "ok: a folder is checked" if read else "ok: none"),
        "ranks": _ranks(case, command),
        "imports": imported,
    }


def _devices(recipe: Recipe, case: Case, counts: str) -> str:
    """Whether the script is told how many devices are its own, or counts those that the agent shows."""
    if case.nodes > 1 and "TF_CONFIG" in recipe.command_of(case).environment:
        return "ok: TensorFlow's strategy of several workers takes those of each node that are shown"
    if told := _told(recipe, case):
        return f"ok: told by {told}"
    if counts:
        return counts
    other = recipe.refusal(replace(case, devices_per_node=2 * case.devices_per_node))
    return "ok: it takes no other number" if other else "unknown"


def _told(recipe: Recipe, case: Case) -> str:
    """The word behind which more devices change a number that counts neither items nor loaders; "": there is none."""

    def words(**changes: int) -> list[str]:
        command = recipe.command_of(replace(case, **changes))
        parts = (*command.argv, *(f"{name}={value}" for name, value in command.environment.items()))
        return re.findall(r"[\w.{}/-]+", " ".join((*parts, *command.files.values())))

    now, devices = words(), words(devices_per_node=2 * case.devices_per_node)
    if len(devices) != len(now):
        return "the launcher's line"
    items = words(batch_per_device=2 * case.batch_per_device)
    changed = (place for place, pair in enumerate(zip(now, devices, strict=True)) if pair[0] != pair[1])
    return next((now[place - 1] for place in changed if now[place] == items[place] and now[place - 1] != "-j"), "")


def _counts(framework: str, recipe: Recipe) -> str:
    """How the script counts devices, and how it is known that it finds those alone that the agent shows."""
    name = f"{framework}/{recipe.name}"
    read = json.loads((paths.DATA / "verification.json").read_text())[name].get("counts") or OF_PACKAGES.get(name)
    if not read:
        return ""
    seen = rehearsals.of_recipe(framework, recipe)
    held = seen and seen.stand_ins and "1x1" in seen.scales and rehearsals.level(seen) == "rehearsed"
    how = "rehearsed with eight devices, one shown" if held else "read, and gives those alone that are shown"
    return f"ok: {', '.join(read)}; {how}"


def _ranks(case: Case, command: Command) -> str:
    words = " ".join((*command.argv, *command.environment, *command.environment.values()))
    launcher = next((name for name in LAUNCHERS if name in words), None)
    if case.nodes == 1:
        return f"ok: {launcher or 'one process'}"
    if launcher is None:
        return "unknown"
    absent = [place for place in LAUNCHERS[launcher] if place not in words]
    if absent:
        return f"{launcher} is given no {' nor '.join(absent)}: every node would be the first"
    return f"ok: {launcher}"


def _imports(framework: str, recipe: Recipe, case: Case) -> str:
    """Whether what its scripts import is there: by the lock of its environment; an image is asked before a run."""
    names = sorted(imports.needed(framework, recipe, case))
    words = ", ".join(names)
    if not names:
        return "unknown"
    if pins := recipe.pins("gpu") or recipe.pins("cpu"):
        device = "gpu" if recipe.pins("gpu") else "cpu"
        wanted = PinnedEnvironment(recipe=recipe, device=device, pins=pins)
        lock = read_lock(wanted)
        if lock is None:
            return f"no lock of {wanted.name} says what its environment holds"
        held = {virtualenvs.module(name) for name in (*map(distribution, wanted.every_pin), *lock.lines)}
        held |= {each.split("_")[0] for each in held} | ({"chainermn", "chainerx"} if "chainer" in held else set())
        lacking = sorted({*names} - held)
        return f"its environment lacks {', '.join(lacking)}" if lacking else f"ok: its environment has {words}"
    if recipe.image:
        return f"{recipe.image} is asked before the first run, and by doctor --spec, for {words}"
    return f"its image is the user's own, and is asked before the first run for {words}"


def print_table() -> int:
    every = [*table()]
    for recipe, rows in by_key(((row.recipe, row.data), row) for row in every).items():
        print(" ".join(filter(None, (recipe[0], recipe[1] and f"data={recipe[1]}"))))
        for row in rows:
            print(f"  {row.scale:6} " + "; ".join(f"{name}: {text}" for name, text in row.cells.items()))
    cells = [(name, text) for row in every for name, text in row.cells.items()]
    for name in COLUMNS:
        texts = [text for column, text in cells if column == name]
        ok = sum(text.startswith("ok") for text in texts)
        print(f"{name}: {ok} of {len(texts)} ok, {sum(text == 'unknown' for text in texts)} unknown")
    return 0


def main() -> int:
    options = _parser().parse_args()
    if options.table:
        return print_table()
    models = repositories.known()
    before = json.loads(options.out.read_text()) if options.out.is_file() else {}
    evidence = {}
    for framework, each in sorted(registry.discover().items()):
        for recipe in each.recipes:
            if recipe.kind == "official":
                facts = _checked(framework, recipe, models, options.files)
                evidence[f"{framework}/{recipe.name}"] = _as_it_was(facts, before.get(f"{framework}/{recipe.name}", {}))
    _raise_what_ran(evidence)
    options.out.write_text(json.dumps(evidence, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    for name, facts in evidence.items():
        missing = f": {', '.join(facts['missing'])}" if facts.get("missing") else ""
        print(f"{facts['level']:18} {name}{missing}{': ' + facts['reason'] if facts.get('reason') else ''}")
    return 0


def _as_it_was(facts: dict, before: dict) -> dict:
    given = facts.pop("given", None)
    if given is None or not before or not given <= before.get("arguments", {}).keys():
        return facts
    return {name: fact for name, fact in before.items() if name != "ran"} | {"level": "arguments checked"}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true", help="print what each recipe can be at each scale")
    parser.add_argument("--files", type=Path, help="single files of repositories that cannot be cloned")
    parser.add_argument("--out", type=Path, default=HOUSE / "data" / "verification.json")
    return parser


def _checked(framework: str, recipe: Recipe, models, files: Path | None) -> dict:
    served = [case for _, case in points(framework, recipe) if not recipe.refusal(case)]
    commands = [recipe.command_of(case) for case in served]
    root, origin = _root(recipe, models, files)
    facts = {"date": datetime.now(UTC).date().isoformat(), "origin": origin}
    facts["imports"] = imported(framework, recipe, root or NOWHERE)
    facts["counts"] = counted(commands, root or NOWHERE)
    if root is None:
        given = {name for each in commands for _, words in _scripts(each, Path("/")) for name in _names(words)}
        return {"level": "unchecked", "reason": origin, "given": given, **facts}
    files_of, missing, scripts, needed = {}, set(), set(), {}
    for command in commands:
        for script, given in _scripts(command, root):
            scripts.add(str(script.relative_to(root)))
            words = _names(given)
            declared = _declared(script, root, words, command)
            missing |= set(_wrong_values(given, declared, recipe))
            for word in words:
                place = _place(word, declared, recipe)
                place = re.sub(r":\d+", "", place) if place and "excerpt" in origin else place
                files_of.update({word: place} if place else {})
                missing |= set() if place else {word}
            needed |= {name: place for name, place in declared.required.items() if not _given(name, words)}
            missing |= set() if recipe.builds_in_checkout else set(_builds(script, root, command))
    if not scripts:
        return {"level": "unchecked", "reason": "no script of the command lies in the repository", **facts}
    missing |= {f"{name} is required ({place}) and not given" for name, place in needed.items()}
    level = "unchecked" if missing else "arguments checked"
    return {"level": level, **facts, "scripts": sorted(scripts), "arguments": dict(sorted(files_of.items())),
            "missing": sorted(missing)}  # fmt: skip


def imported(framework: str, recipe: Recipe, root: Path) -> list[str]:
    """What the lines of one device and of eight import."""
    cases = [base(framework, recipe).at_scale(1, devices) for devices in (1, 8)]
    return sorted({name for case in cases for name in imports.packages(recipe, recipe.command_of(case), root)})


def counted(commands: Iterable[Command], root: Path) -> list[str]:
    """Where scripts, or what they import of their repository, ask for the number of devices: the first place each."""
    found: dict[str, str] = {}
    each = ((script, command) for command in commands for script, _ in _scripts(command, root) if script.is_file())
    for file in dict.fromkeys(file for script, command in each for file in _closure(script, root, command)):
        with contextlib.suppress(SyntaxError):  # Python 2
            for node in ast.walk(ast.parse(file.read_text(errors="replace"))):
                asked = ast.unparse(node.func) if isinstance(node, ast.Call) else getattr(node, "value", "")
                if isinstance(asked, str) and asked.rpartition(".")[2] in COUNTS:
                    found.setdefault(asked, f"{file.relative_to(root)}:{node.lineno} {asked}")
    return sorted(found.values())


def _builds(script: Path, root: Path, command) -> Iterator[str]:
    """Where the script or an import of its repository compiles beside its sources, which are mounted read-only."""
    for file in _closure(script, root, command):
        if BUILDS.search(file.read_text(encoding="utf-8", errors="replace")):
            yield f"{file.relative_to(root)} compiles beside its sources, and the recipe has no builds_in_checkout"


def _root(recipe: Recipe, models, files: Path | None) -> tuple[Path | None, str]:
    name = recipe.checkout or recipe.name
    if recipe.checkout:
        model = models[recipe.checkout]
        state = checkouts.state(model)
        if state.present and state.clean and state.commit == model.commit:
            return model.folder, f"{model.address} at {model.commit}"
    if files and (files / name).is_dir():
        source = files / name / "SOURCE"
        return files / name, source.read_text().strip() if source.is_file() else "single files"
    return None, f"the repository could not be had; run `evalsuite env repositories {name}`"


def _scripts(command, root: Path) -> Iterator[tuple[Path, list[str]]]:
    script, words, argv = None, [], list(command.argv)
    for place, token in enumerate(argv):
        started = _script(token, argv[place - 1] if place else "", command, root)
        if started:
            if script:
                yield script, words
            script, words = started, []
        elif script:
            words.append(token)
    if script:
        yield script, words


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
    names = []
    for place, word in enumerate(words):
        if word.startswith("--params_override="):
            names += ["--params_override", *_leaves(json.loads(word.split("=", 1)[1]))]
        elif re.match(r"--?[A-Za-z]|[A-Za-z_]+(\.\w+)+=", word) or (place and words[place - 1] == "-o"):
            names.append(word.split("=", 1)[0])
    return names


def _wrong_values(words: list[str], declared: Declared, recipe: Recipe) -> Iterator[str]:
    for place, word in enumerate(words):
        if not re.match(r"--?[A-Za-z]", word):
            continue
        name, joined, value = word.partition("=")
        after = words[place + 1] if place + 1 < len(words) else ""
        known = declared.values.get(_declared_name(name, declared) or "")
        takes_next = (
            not joined and after and not re.match(r"--?[A-Za-z]", after) and known and known.kind not in TOLD_BY_NAME
        )
        reason = known.refusal(value if joined else after if takes_next else None) if known else None
        if reason:
            yield f"{name} {reason} ({known.place})"


TOLD_BY_NAME = ("none", "bool")  # a switch, and absl's flags for true and false, are alone


def _declared_name(word: str, declared: Declared) -> str | None:
    bare = word.lstrip("-")
    names = (word, f"--{bare}", f"--{bare.replace('_', '-')}", f"--{bare.replace('-', '_')}")
    return next((name for name in names if name in declared.arguments), None)


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
    folders = [root / part.removeprefix("{checkout}").strip("/") for part in _python_path(command)]
    closure, waiting = [], [script]
    while waiting:
        file = waiting.pop()
        if file in closure:
            continue
        closure.append(file)
        waiting += _imported(file, [script.parent, *folders, root, *_path_additions(root, script)])
    return closure


def _path_additions(root: Path, script: Path) -> list[Path]:
    return [parent for parent in script.parents if parent.is_relative_to(root)][:4]


def _imported(file: Path, folders: list[Path]) -> list[Path]:
    try:
        tree = ast.parse(file.read_text(errors="replace"))
    except SyntaxError:
        return []
    imported = []
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
            imported += [hit for base in bases for hit in _files(base, module)][:4]
    return imported


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
                elif isinstance(target, ast.Name) and node in tree.body:
                    declared.keys.setdefault(target.id, f"{file.relative_to(root)}:{node.lineno}")


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
            if flag not in declared.arguments:
                declared.values[flag] = _of_argparse(name, keywords, where)
            declared.arguments.setdefault(flag, where)
        required = keywords.get("required")
        if flags and isinstance(required, ast.Constant) and required.value is True:
            declared.required["|".join(flags)] = where
    elif name.startswith("DEFINE_") and (words or "name" in keywords):
        flag = words[0] if words else getattr(keywords["name"], "value", None)
        if f"--{flag}" not in declared.arguments:
            declared.values[f"--{flag}"] = _of_absl(name.removeprefix("DEFINE_"), node, keywords, where)
        declared.arguments.setdefault(f"--{flag}", f"{where} (DEFINE)")
    elif name.startswith("mark_flag") and name.endswith("_as_required"):
        for flag in (each.value for each in ast.walk(node) if isinstance(each, ast.Constant)):
            declared.required[f"--{flag}"] = where
    elif name in ("add_arg", "add_arguments") and words:
        declared.arguments.setdefault(f"--{words[0]}", where)
    elif name in ("ParamSpec", "_bool_flag", "define_flag") and words:
        declared.arguments.setdefault(f"--{words[0]}", f"{where} (DEFINE)")
    elif name in ("dict", "ConfigDict", "LazyCall") or isinstance(node.func, ast.Call):  # LazyCall(BertDataset)(seed=1)
        for key in keywords:
            declared.keys.setdefault(key, where)


def _of_argparse(name: str, keywords: dict[str, ast.expr], where: str) -> Values:
    action, kind = _constant(keywords.get("action")), getattr(keywords.get("type"), "id", None)
    if name == "add_argument" and action in ("store_true", "store_false", "store_const", "count", "help"):
        return Values(where, "none")
    if "nargs" in keywords:
        return Values(where)
    return Values(where, kind if kind in ("int", "float") else None, _choices(keywords.get("choices")))


def _of_absl(kind: str, node: ast.Call, keywords: dict[str, ast.expr], where: str) -> Values:
    listed = keywords.get("enum_values") or (node.args[2] if kind == "enum" and len(node.args) > 2 else None)
    return Values(where, OF_ABSL.get(kind), _choices(listed) if kind == "enum" else ())


def _choices(listed: ast.expr | None) -> tuple[str, ...]:
    values = [_constant(each) for each in listed.elts] if isinstance(listed, ast.List | ast.Tuple) else []
    return tuple(map(str, values)) if None not in values else ()


def _constant(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _read_configuration(file: Path, root: Path, declared: Declared) -> None:
    """Of the first document: MindSpore's others describe the first one's keys, and keys that it has not."""
    text = re.split(r"(?m)(?<=\n)---$", file.read_text(errors="replace"))[0]
    for number, line in enumerate(text.splitlines(), 1):
        for key in re.findall(r"(?:^|[.\s{(,])['\"]?(\w+)['\"]?\s*[:=]", line):
            declared.keys.setdefault(key, f"{file.relative_to(root)}:{number}")
    if file.suffix == ".py":
        for module in _imported(file, [file.parent, root]):
            _read_python(module, root, declared)


def _raise_what_ran(evidence: dict) -> None:
    for folder in Store(archive.unpack(paths.DATA / "recorded.zip")).finished():
        case, outcome = folder.run().case, folder.outcome()
        facts = evidence.get(f"{case.framework}/{case.recipe}")
        if facts is None or not outcome.ended_well:
            continue
        run = {"case": case.id, "date": outcome.started_at[:10], "repeat": folder.run().repeat}
        ran = sorted([*facts.get("ran", []), run], key=lambda each: (each["case"], each["repeat"]))
        facts.update(level="ran here", ran=ran)
        facts["date"] = max(each["date"] for each in facts["ran"])


if __name__ == "__main__":
    sys.exit(main())
