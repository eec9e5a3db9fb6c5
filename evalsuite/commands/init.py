"""`evalsuite init`: a command line becomes a participant in TOML; its first steps show how its log reads."""

import argparse
import contextlib
import hashlib
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from evalsuite.commands import options
from evalsuite.commands.launching.request import make_launcher, read_request
from evalsuite.commands.printing import i18n
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import bar, line, note
from evalsuite.commands.run import interruptible
from evalsuite.contracts import own_script, registry
from evalsuite.contracts.adapter import INPUT_SIZES
from evalsuite.contracts.own_script import AXES as AXES_OF
from evalsuite.contracts.own_script import NAMED
from evalsuite.core import files, paths
from evalsuite.core.decode import whole
from evalsuite.core.errors import EvalsuiteError, Exit, NothingMeasured
from evalsuite.core.model import Protocol
from evalsuite.launch import campaign, runner
from evalsuite.logs import catalogue, explaining
from evalsuite.logs.formatting import rate
from evalsuite.logs.reading import Reading
from evalsuite.logs.unknown import by_example
from evalsuite.results.measure import measurement
from evalsuite.runs.store import RunFolder

KNOWN = paths.read_data("known_options.toml")
AXES = {option: axis for axis, names in KNOWN.items() if isinstance(names, list) for option in names}
SPELT = {word: precision for precision, words in KNOWN["precisions"].items() for word in words}
PLAIN_NAMES = ("train", "main", "run", "trainer", "pretrain", "finetune")  # of scripts, which the folder's says better
FEW_REPORTS = 3  # of which no rate can be told
STEPS = "2+10"  # of the trial: enough lines to see what counts
LATE = "2+148"  # where these printed none: many report every 50


def run(arguments: argparse.Namespace) -> int:
    if not arguments.argv:
        raise EvalsuiteError.of("commands.init_none")
    words, asked, spelt = _with_placeholders(arguments.argv)
    # by the script, or by its folder where it is called as all are
    script = next((Path(word).absolute() for word in words if word.endswith(".py")), Path.cwd() / "train")
    name = script.parent.name if script.stem in PLAIN_NAMES else script.stem
    name = re.sub(r"[^A-Za-z0-9.+-]+", "-", name).strip("-.+")[:36] or "own"
    name = f"my-{name}" if registry.framework(name) in registry.discover() else name
    file: Path = arguments.out or Path(f"{name}.toml")
    files.try_place(file)
    mark, _, written = (files.read_text(file) if file.exists() else "").partition("\n")
    if file.exists() and mark != _mark(written):
        raise EvalsuiteError.of("commands.init_exists", path=file)
    if (text := " ".join(words)).encode("utf-8", "replace").decode() != text:
        raise EvalsuiteError.of("commands.init_letters", text=text)
    python, words[0] = _environment(words[0], file)
    quoted = (word if re.fullmatch(r"[\w@%+=:,./{}-]+", word) else shlex.quote(word) for word in words)
    passed = {*NAMED.findall(" ".join(words))}
    if batch := arguments.batch_per_device or (None if passed & AXES_OF["batch_per_device"] else _ask_batch(arguments)):
        asked["batch_per_device"] = str(batch)
    table = {"name": name, "command": " ".join(quoted), "python": python, "unit": "samples/s"}
    if file.absolute().parent != Path.cwd():
        table["folder"] = os.path.relpath(Path.cwd(), file.absolute().parent)
    if not passed & {"steps", "last_step"}:
        table["step_bound"] = "none"
        note(say("init.no_bound"))
    axes, tables = _axes(asked), dict[str, Mapping[str, object]](precision=spelt)
    if not passed & AXES_OF["batch_per_device"]:
        tables["built_in"] = {"batch_per_device": int(asked["batch_per_device"])}
    file.parent.mkdir(parents=True, exist_ok=True)
    _write(file, axes, table, tables)
    note(say("init.wrote", path=file))
    own_script.read(file)  # what it lacks is said once it is there to be mended
    steps: str | None = STEPS
    while steps:
        folder = _try(file, arguments.timeout, steps)
        if seen := _look_at(folder, file, table, late=steps == LATE):
            _write(file, axes, {**table, **seen}, tables)
            code, steps = _print_what_is_read(folder, file, again=steps in (STEPS, LATE))
        else:
            steps = LATE
        shutil.rmtree(folder.path.parents[1])
    if code == Exit.DONE:
        files.write_atomically(file, files.read_text(file).partition("\n")[2].encode())
    return code


def _ask_batch(arguments: argparse.Namespace) -> int:
    """At a terminal, what the command does not say. Raises EvalsuiteError elsewhere."""
    text = ""
    with contextlib.suppress(EOFError):
        text = input(say("init.batch")) if sys.stdin.isatty() else ""
    if not whole(text):
        at = arguments.typed.index("--") if "--" in arguments.typed else 1
        line = ["evalsuite", *arguments.typed[:at], "--batch-per-device", "N", *arguments.typed[at:]]
        raise EvalsuiteError.of("commands.init_no_batch", line=shlex.join(line))
    return int(text)


def _mark(written: str) -> str:
    """The first line of a file that was refused and that nobody has changed since."""
    return f"# not read yet: {hashlib.sha256(written.strip().encode()).hexdigest()[:12]}"


def _with_placeholders(given: Sequence[str]) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """The words with a placeholder for each option that is known, what was asked for by them, and how the script
    spells the precision: "--batch", "32" → "--batch", "{batch_per_device}"; batch_per_device: 32."""
    words, asked, spelt, waiting = [], dict[str, str](), dict[str, str](), [*given]
    while waiting:
        word = waiting.pop(0)
        option, equals, value = word.partition("=")
        name = re.sub(r"[_.]", "-", option.lstrip("-").lower())
        is_option = word.startswith("-") or bool(equals)
        separate = is_option and not equals and bool(waiting) and not waiting[0].startswith("-")
        behind = value if equals else waiting[0] if separate else ""
        switch = KNOWN["switches"].get(name) if word.startswith("-") and behind.lower() not in SPELT else None
        if switch:
            takes = separate and behind.lower() in ("true", "1", "yes")
            spelt, asked["precision"] = {"fp32": "", switch: " ".join([word, behind] if takes else [word])}, switch
            words.append("{precision}")
            waiting = waiting[takes:]
            continue
        axis = AXES.get(name) if is_option else None
        known = {"precision": SPELT.get(behind.lower()), "scratch": behind}.get(axis or "", whole(behind) and behind)
        if axis and known and not (axis == "precision" and spelt):
            asked[axis] = known
            spelt = {known: behind} if axis == "precision" else spelt
            place = f"{{scratch}}/{Path(behind).name}" if axis == "scratch" else f"{{{axis}}}"
            words += [f"{option}={place}"] if equals else [option, place]
            waiting = waiting[separate:]
            continue
        words.append(word)
    return words, asked, spelt


def _environment(program: str, file: Path) -> tuple[str, str]:
    """Where its Python lies, counted from *file*: the environment of the program, else the active one; and the program
    as it is called there."""
    found, active = shutil.which(program), shutil.which("python") or shutil.which("python3")
    if found is None or active is None:
        raise EvalsuiteError.of("commands.init_program", name=program if found is None else "python3")
    path, base = Path(found).absolute(), file.absolute().parent
    is_own = path.name.startswith("python") or _is_environment(path.parent.parent)
    python = path if path.name.startswith("python") else path.with_name("python") if is_own else Path(active)
    root = python.parent.parent if _is_environment(python.parent.parent) else python
    near = root.is_relative_to(base) or root.is_relative_to(base.parent)
    return os.path.relpath(root, base) if near else str(root), path.name if is_own else program


def _is_environment(folder: Path) -> bool:
    return (folder / "pyvenv.cfg").is_file() or (folder / "conda-meta").is_dir()


def _axes(asked: Mapping[str, str]) -> dict[str, object]:
    """Keys of the spec: what the command asked for, on one node."""
    devices = int(asked.get("devices_per_node") or asked.get("total_devices") or 1)
    axes: dict[str, object] = {"scales": [f"1x{devices}"]} if devices > 1 else {}
    if batch := int(asked.get("batch_per_device") or int(asked.get("global_batch", 0)) // devices):
        axes["batch_per_device"] = [batch]
    axes |= {"precision": [asked["precision"]]} if asked.get("precision", "fp32") != "fp32" else {}
    return axes | {name: asked[name] for name in INPUT_SIZES if name in asked}


def _write(
    file: Path, axes: Mapping[str, object], table: Mapping[str, str], tables: Mapping[str, Mapping[str, object]]
) -> None:
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in table.items()]
    for name, inner in tables.items():
        pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in inner.items())
        lines += [f"{name} = {{ {pairs} }}"] if pairs else []
    of_spec = [f"{key} = {json.dumps(values)}" for key, values in axes.items() if key not in INPUT_SIZES]
    sizes = ", ".join(f"{key} = {value}" for key, value in axes.items() if key in INPUT_SIZES)
    of_spec += [f"options = {{ {sizes} }}"] if sizes else []
    text = "\n".join([*of_spec, "[[participant]]", *lines, ""])
    files.write_atomically(file, f"{_mark(text)}\n{text}".encode())


def _try(file: Path, limit_s: float, steps: str) -> RunFolder:
    """Its first steps, beside whatever else runs here, in a folder of their own."""
    parser = argparse.ArgumentParser(add_help=False)
    options.add_arguments(parser, "run")
    place = tempfile.mkdtemp(prefix="evalsuite-init-")
    small = ("--steps", steps, "--repeats", "1", "--share")
    request = read_request(parser.parse_args(["--spec", str(file), *small, "--runs", place]))
    spec, engine = replace(request.plan.spec, timeout_s=limit_s), request.place.engine
    note(say("init.trial", steps=spec.protocol.total_steps, limit=f"{limit_s:g}"))
    ready = campaign.environments(request.plan, request.options.environment, note, engine.container)
    if skips := (*ready.skips, *request.plan.skips):
        raise NothingMeasured(skips[0].reason)
    launcher, (each,) = make_launcher(spec, engine, request.options, ready), request.plan.runs
    with interruptible(), request.place.store.claim(each) as folder, bar(limit_s) as show:
        assert folder is not None
        tick = (lambda seconds: show(seconds, f"{seconds:.0f} s")) if show else (lambda seconds: None)
        runner.launch(each, request.plan.recipe(each.case), folder, launcher, tick=tick)
    return folder


def _look_at(folder: RunFolder, file: Path, table: Mapping[str, str], *, late: bool) -> dict[str, str]:
    """What the log of the first steps adds to *table*; nothing where its first report may come later than they do.
    Raises NothingMeasured, with what is missing."""
    outcome, logs = folder.outcome(), folder.logs()
    found = explaining.explained(logs[0].path, catalogue.known()) if logs and outcome.ended_well else None
    if found and found.dialect:
        return {"unit": catalogue.known()[found.dialect].unit, "format": found.dialect}
    for group in found.groups if found else ():  # those that can be read come first; one line is enough for an example
        with contextlib.suppress(EvalsuiteError):
            return {"unit": by_example.unit_of(group.text) or table["unit"], "line": group.text}
    if found and not late:
        return {}
    log = logs[0].path if logs else folder.path
    reason = measurement.measurement(folder).reason or outcome.reason
    if found:
        raise NothingMeasured.of("commands.init_late", path=file, reason=reason, log=log, steps=150)
    raise NothingMeasured.of("commands.init_unread", path=file, reason=reason, log=log)


def _own_steps(folder: RunFolder, seen: explaining.Explanation, read: Reading) -> int | None:
    """The steps after which the script ends by itself: as its lines count them, or as it did."""
    if folder.outcome().status == "completed" and read.steps:
        return read.steps[-1].index
    texts = (each.text for each in seen.lines if each.kind == "step" and "epoch" not in each.text.lower())
    return (counted := re.search(r"\d\s*(?:/|of)\s*(\d+)(?![\d.])", next(texts, ""))) and int(counted[1])


def _print_what_is_read(folder: RunFolder, file: Path, *, again: bool) -> tuple[Exit, str | None]:
    """Or the steps that give three reports, to be tried *again*."""
    (adapter,) = registry.load_author_adapters(file).values()
    recipe, case = adapter.recipes[0], folder.run().case
    dialects = catalogue.with_example(recipe, catalogue.known())
    used = replace(folder.command().recipe, unit=recipe.unit, dialect=recipe.dialect, line=recipe.line)
    reading = partial(measurement.read_logs, folder.logs(), recipe=used, dialects=dialects, well=True)
    read = reading(case=case)
    seen = explaining.explained(folder.logs()[0].path, dialects, recipe.dialect)
    reports, asked = seen.counts.get("step", 0), case.protocol.total_steps
    value = read.throughput.items_per_s if read.throughput else None
    every = max(read.steps[0].index, read.steps[-1].steps) if read.steps else 1
    if again and every > 1 and (value is None or reports < FEW_REPORTS):
        return Exit.DONE, f"2+{FEW_REPORTS * every - 2}"
    if reason := measurement.ended_early(read, asked, reports):
        raise NothingMeasured.of("commands.init_unread", path=file, reason=reason, log=folder.logs()[0].path)
    line(f"\n{file}:\n{files.read_text(file).partition(chr(10))[2]}")
    for each in [each for each in seen.lines if each.kind in ("step", "final")][:1]:
        line(say("init.line", text=each.text.strip(), why=each.why))
    if value is None or read.unit is None:
        line(say("init.no_rate", reason=i18n.worded(read.reason)))
    else:
        facts = {"devices": case.total_devices, "batch": case.batch_per_device, "method": read.certainty}
        line(say("init.rate", value=rate(value), unit=read.unit, **facts))
    if not read.steps:
        line(say("init.no_steps"))
    whole = reading(case=replace(case, protocol=Protocol(measured_steps=10**6)))  # no window ends it
    if recipe.step_bound == "none" and (own := _own_steps(folder, seen, whole)) and own < Protocol().total_steps:
        line(say("init.short", own=own, wanted=Protocol().total_steps, fitting=f"{own // 6}+{own - own // 6}"))
    line(say("init.next", command=f"evalsuite compare --spec {file}"))
    return Exit.NOTHING_MEASURED if value is None and read.steps_reported > FEW_REPORTS else Exit.DONE, None
