"""One virtual environment per set of pins, made on first use and shared between runs. They lie in the cache, never
inside evalsuite's own environment. A CUDA build is refused on a machine without a GPU, and where the CUDA toolkit of
its build does not serve the devices (`data/wheels.toml`)."""

import contextlib
import functools
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from evalsuite.contracts.adapter import Recipe
from evalsuite.core import files, locks, paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message
from evalsuite.core.model import Device
from evalsuite.launch.programs import ask_program, run_joined
from evalsuite.launch.provision.installer import LAST_LINES, CannotInstall, Progress, run_installer
from evalsuite.launch.provision.recipe_locks import (
    BESIDE_TORCH,
    OF_CPU,
    PYTORCH_CPU,
    Lock,
    PinnedEnvironment,
    distribution,
    find_lock,
    resolve,
)
from evalsuite.machine.sensors.accelerators import open_accelerators

CAPABILITY = "EVALSUITE_COMPUTE_CAPABILITY"  # "7.0", or several with commas
IMPORT_TIMEOUT_S = 300  # a first import compiles some thousand files; a cold disk took a minute
KEEP_BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}  # compiled once here, not in every run: TensorFlow's takes 4 s
RECORD = "evalsuite.json"  # what was installed; written last, so its presence means complete
LOCK = "requirements.lock"
LISTING = paths.DATA / "list_distributions.py"
# Imports what the first argument names; of the others a line for each that is there and fails, and why.
IMPORTING = """import importlib.util, sys
__import__(sys.argv[1])
for name in sys.argv[2:]:
    try:
        importlib.util.find_spec(name) and __import__(name)
    except BaseException as error:
        print("", name, f"{type(error).__name__}: {error}".split("\\n")[0], sep="\\0")"""
AS_BUILT = ("--no-cache", "--no-build-isolation")  # against what is installed; the cache does not know against what
Capability = tuple[int, int]  # NVIDIA's number of a device's instructions: (7, 0) of a V100
Pins = tuple[str, ...]

_OF_NVIDIA = re.compile(r"(nvcr\.io/nvidia/\w+):(\d\d\.\d\d)")  # an image by its month
_FILE: Mapping[str, Any] = paths.read_data("wheels.toml")


@dataclass(frozen=True, kw_only=True)
class Environment:
    folder: Path
    pins: tuple[str, ...]
    device: Device
    size_bytes: int
    packages: Mapping[str, str]
    lock: str | None = None  # hash of the lock that it was made from; None: of what the indexes gave on that day
    given: Path | None = None  # the interpreter of one that somebody else has made

    @property
    def python(self) -> Path:
        return self.given or _interpreter(self.folder)


def ensure(recipe: Recipe, *, device: Device = "cpu", progress: Progress = lambda line: None) -> Path:
    """Made if it is not there; safe to call from several processes. Raises CannotInstall."""
    if recipe.interpreter:
        _check_import(recipe.interpreter, recipe, str(recipe.interpreter))
        return recipe.interpreter
    folder = folder_of(recipe, device)
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not _complete(folder):
        lock = folder.with_name(f"{folder.name}.lock")
        busy = Message("launch.another_makes", name=folder.name)
        with locks.hold_lock(lock, waiting=lambda: progress(busy)):
            if not _complete(folder):
                _make(folder, recipe, device, progress)
    return _interpreter(folder)


def existing(recipe: Recipe, *, device: Device = "cpu") -> Environment | None:
    if recipe.interpreter:
        return _given(recipe.interpreter) if recipe.interpreter.exists() else None
    with contextlib.suppress(CannotInstall):
        folder = folder_of(recipe, device)
        return _recorded(folder) if _complete(folder) else None
    return None


@functools.cache
def _given(python: Path) -> Environment:
    answer = ask_program((str(python), "-I", "-c", LISTING.read_text("utf-8")), IMPORT_TIMEOUT_S)
    listed, _ = listing(answer)
    return Environment(folder=python.parent.parent, pins=(), device="cpu", size_bytes=0, packages=listed, given=python)


def listing(answer: "subprocess.CompletedProcess[str] | None") -> tuple[dict[str, str], list[str] | None]:
    """Distribution → version, and the packages asked for that were not found, as LISTING printed them last: an image
    may greet first. None: it could not be asked."""
    try:
        said: Any = files.parse_json(answer.stdout.strip().splitlines()[-1] if answer and not answer.returncode else "")
        return dict(sorted(said["distributions"].items())), said["absent"]
    except (ValueError, LookupError, TypeError, AttributeError):
        return {}, None


def lock_of(python: Path) -> str | None:
    folder = python.parent.parent
    return _recorded(folder).lock if _complete(folder) else None


def current(recipe: Recipe) -> Path:
    """The interpreter at hand. Raises CannotInstall if the framework does not import in it."""
    _check_import(Path(sys.executable), recipe, Message("launch.interpreter_here"))
    return Path(sys.executable)


def refusal(recipe: Recipe, kind: str, device: Device) -> str | None:
    """Why there will be no interpreter of the *kind* "managed" or "current"; None where an attempt must show it."""
    if recipe.interpreter:
        return None if recipe.interpreter.exists() else Message("launch.no_interpreter", path=recipe.interpreter)
    if kind == "managed":
        if recipe.off_index:
            return Message("launch.off_index", names=recipe.off_index, instead=_instead(recipe))
        try:
            folder_of(recipe, device)
        except CannotInstall as error:
            return error.message
        return None
    module = recipe.import_name.partition(".")[0]
    if module and importlib.util.find_spec(module) is None:
        return Message("launch.not_installed", name=recipe.import_name, place=sys.executable)
    return None


def packages(recipe: Recipe, kind: str, device: Device) -> Mapping[str, str]:
    if recipe.interpreter:
        return _given(recipe.interpreter).packages
    if kind == "managed":
        return _recorded(folder_of(recipe, device)).packages
    return {name: distribution.version for distribution in distributions() if (name := distribution.metadata["Name"])}


def framework_version(recipe: Recipe, installed: Mapping[str, str]) -> str | None:
    """The version of the framework among *installed* packages, whichever of its builds that is."""
    names = {distribution(name): version for name, version in installed.items()}
    first = (pins[0] for pins in (recipe.requirements, recipe.requirements_gpu) if pins)
    builds = (recipe.package or recipe.import_name, *first)
    return next((names[name] for name in map(distribution, builds) if name in names), None)


def folder_of(recipe: Recipe, device: Device) -> Path:
    """One per set of pins, Python version, kind of device and lock. Raises CannotInstall."""
    wanted = wanted_of(recipe, device)
    plain = paths.cache() / "environments" / wanted.name
    lock = None if _complete(plain) else find_lock(wanted)  # one from before there was a lock is used, and says so
    return plain.with_name(f"{plain.name}-{lock.sha256[:6]}") if lock and lock.sha256 else plain


def wanted_of(recipe: Recipe, device: Device) -> PinnedEnvironment:
    wanted = pins(recipe, device)
    if not wanted:
        raise CannotInstall(
            Message("launch.recipe_no_requirements", recipe=recipe.name, device=device, instead=_instead(recipe))
        )
    if device == "gpu" and (unserved := find_unserved(wanted, capabilities())):
        raise CannotInstall(Message("launch.no_wheel", **_words(*unserved), instead=_instead(recipe)))
    return PinnedEnvironment(recipe=recipe, device=device, pins=wanted)


def pins(recipe: Recipe, device: Device) -> tuple[str, ...]:
    return choose_pins(recipe, device, capabilities() if device == "gpu" else ())


@functools.cache
def capabilities() -> tuple[Capability, ...]:
    """Of the NVIDIA devices here, or of those that EVALSUITE_COMPUTE_CAPABILITY names for a machine without them."""
    named = os.environ.get(CAPABILITY, "").replace(",", " ").split()
    if wrong := next((text for text in named if not re.fullmatch(r"\d{1,2}\.\d", text)), None):
        raise EvalsuiteError.of("launch.capability", name=CAPABILITY, text=wrong)
    capable = named or [gpu.compute_capability for gpu in open_accelerators().facts() if gpu.compute_capability]
    return tuple(sorted({parse_capability(text) for text in capable}))


def _instead(recipe: Recipe) -> str:
    if recipe.image:
        unserved = find_unserved((recipe.image,), capabilities())
        newest = _newest_image(recipe.image, unserved[1]) if unserved else recipe.image
        return Message("launch.image_instead", image=newest) if newest else Message("launch.own_image")
    return Message("launch.own_image") if recipe.off_index else "--environment current"


# Which devices the wheels of an environment serve


@dataclass(frozen=True, kw_only=True)
class GpuWheel:
    pin: str
    cuda: str
    least: Capability
    most: Capability

    def serves(self, capability: Capability) -> bool:
        return self.least <= capability and (capability <= self.most or capability[0] == self.most[0])


def parse_capability(text: str) -> Capability:
    """ "7.0" → (7, 0)."""
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def find_wheel(pins: Sequence[str]) -> GpuWheel | None:
    """Of *pins*, or of an image, what is known to be built with a CUDA toolkit."""
    for pin in pins:
        if image := _OF_NVIDIA.match(pin):
            cuda = next((cuda for since, cuda in reversed(_FILE["images"].items()) if since <= image[2]), None)
        else:
            tagged = re.search(r":.*cuda(\d+\.\d+)", pin)
            cuda = tagged[1] if tagged and tagged[1] in _FILE["toolkits"] else _FILE["wheels"].get(pin)
        if cuda:
            least, most = map(parse_capability, _FILE["toolkits"][cuda])
            return GpuWheel(pin=pin, cuda=cuda, least=least, most=most)
    return None


def module(name: str) -> str:
    """What is imported of a distribution."""
    return str(_FILE["modules"].get(name, name.replace("-", "_")))


def choose_pins(recipe: Recipe, device: Device, capabilities: Iterable[Capability] = ()) -> Pins:
    """The first that serve all *capabilities* (none: unknown), or its first where none do; () without any."""
    every = list(capabilities)
    choices = (recipe.pins(device), *(recipe.other_wheels if device == "gpu" else ()))
    return next((pins for pins in choices if find_unserved(pins, every) is None), choices[0])


def find_unserved(pins: Sequence[str], capabilities: Iterable[Capability]) -> tuple[GpuWheel, Capability] | None:
    wheel = find_wheel(pins)
    unserved = next((each for each in capabilities if wheel and not wheel.serves(each)), None)
    return (wheel, unserved) if wheel and unserved else None


def image_refusal(recipe: Recipe, device: Device) -> str | None:
    """Why the image of *recipe* cannot run on the devices here, and what can."""
    unserved = find_unserved((recipe.image,), capabilities()) if device == "gpu" else None
    if unserved is None:
        return None
    newest, wheel = _newest_image(recipe.image, unserved[1]), pins(recipe, device)
    ways = [f"--image {recipe.name}={newest}"] if newest else []
    ways += [f"--environment managed ({wheel[0]})"] if wheel and not find_unserved(wheel, capabilities()) else []
    return Message("launch.no_wheel", **_words(*unserved), instead=" / ".join(ways) or "--image")


def _words(wheel: GpuWheel, capability: Capability) -> dict[str, str]:
    least, most, got = (f"{major}.{minor}" for major, minor in (wheel.least, wheel.most, capability))
    return {"pin": wheel.pin, "cuda": wheel.cuda, "least": least, "most": most, "got": got}


def _newest_image(image: str, capability: Capability) -> str:
    """*image* in the month that is the last to serve the devices; "": not known."""
    month = _FILE["newest_images"].get("{}.{}".format(*capability))
    return _OF_NVIDIA.sub(rf"\1:{month}", image) if month and _OF_NVIDIA.match(image) else ""


# Making one


def _make(folder: Path, recipe: Recipe, device: Device, progress: Progress) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    wanted = wanted_of(recipe, device)
    progress(Message("launch.making_environment", pins=" ".join(wanted.pins), version=recipe.python))
    run_installer(
        ("venv", "--no-project", "--python", recipe.python, str(folder)),
        progress,
        Message("launch.python_needed", version=recipe.python),
    )
    lock = find_lock(wanted)
    if lock is None:
        progress(Message("launch.no_lock"))
        lock = resolve(wanted, ("--python", str(_interpreter(folder))), progress)
    _install_all(folder, wanted, lock, progress)
    if device == "cpu" and BESIDE_TORCH in lock.lines:  # PyPI's is for CUDA; where the builds match nothing happens
        place = next(folder.glob("lib/python*/site-packages"))
        shutil.copy(paths.ADAPTERS / "workloads" / "shims" / "sitecustomize.py", place / "evalsuite_shim.py")
        (place / "evalsuite_shim.pth").write_text("import evalsuite_shim\n")
    printed = _check_import(_interpreter(folder), recipe, Message("launch.new_environment"), wanted.every_pin)
    for words in (each for line in printed.splitlines() if len(each := line.split("\0")) == 3):
        progress(Message("launch.pin_fails", name=words[1], why=words[2], pins=" ".join(wanted.pins)))
    _record(folder, wanted, lock)
    progress(Message("launch.environment_ready", name=folder.name, megabytes=_recorded(folder).size_bytes / 1e6))


def _install_all(folder: Path, wanted: PinnedEnvironment, lock: Lock, progress: Progress) -> None:
    """What *lock* names and nothing else, each file by its hash where it has one."""
    recipe = wanted.recipe
    first = lock.without((*recipe.built, *recipe.without_dependencies)).splitlines(keepends=True)
    exact = ("--no-deps", *(("--require-hashes",) if all("--hash" in line for line in lock.lines.values()) else ()))
    install = functools.partial(_install, folder, wanted, progress)
    try:
        install(LOCK, "".join(first), *exact)
    except CannotInstall:
        if not any(OF_CPU in line for line in first):
            raise
        of_pytorch = [line for line in first if OF_CPU in line or distribution(line) == BESIDE_TORCH]
        progress(Message("launch.asking_pytorch"))  # for these alone: it has others in place of what the lock names
        install("pytorch.txt", "".join(of_pytorch), *exact, *PYTORCH_CPU)
        install("others.txt", "".join(line for line in first if line not in of_pytorch), *exact)
    install("built.txt", lock.select(recipe.built), *exact, *AS_BUILT)
    install("bare.txt", lock.select(recipe.without_dependencies), *exact)


def _install(folder: Path, wanted: PinnedEnvironment, progress: Progress, name: str, text: str, *options: str) -> None:
    if not text:
        return
    (folder / name).write_text(text)
    path = os.pathsep.join((str(folder / "bin"), os.environ.get("PATH", "")))
    variables = {**wanted.recipe.variables_of_build(wanted.device), "PATH": path}
    line = ("pip", "install", "--python", str(_interpreter(folder)), *options, "--requirement", str(folder / name))
    run_installer(line, progress, f"installing {' '.join(wanted.every_pin)}", variables)


def _check_import(python: Path, recipe: Recipe, where: str, pins: Iterable[str] = ()) -> str:
    """What it prints. A package of *pins* may fail: a torchvision for CUDA beside a CPU build of PyTorch."""
    if not recipe.import_name:
        return ""
    with files.scratch("import") as folder:  # where what is imported may write, as OneFlow does
        names = [recipe.import_name, *(module(distribution(pin)) for pin in pins)]
        line = (str(python.absolute()), "-c", IMPORTING, *names)
        answer = run_joined(line, folder, IMPORT_TIMEOUT_S, KEEP_BYTECODE)
    if answer is None:
        raise CannotInstall(
            Message("launch.import_slow", name=recipe.import_name, seconds=IMPORT_TIMEOUT_S, where=where)
        )
    if answer.returncode != 0:
        raise CannotInstall(
            Message(
                "launch.import_fails",
                name=recipe.import_name,
                where=where,
                python=python,
                code=answer.returncode,
                pins=" ".join(recipe.requirements) or "no pins",
            ),
            answer.stdout.splitlines()[-LAST_LINES:],
        )
    return answer.stdout


def _record(folder: Path, wanted: PinnedEnvironment, lock: Lock) -> None:
    line = ("pip", "list", "--format", "json", "--python", str(_interpreter(folder)))
    listed = json.loads(run_installer(line, lambda text: None, "listing what was installed"))
    record = {
        "pins": list(wanted.every_pin),
        "device": wanted.device,
        "lock": lock.sha256,
        "packages": {package["name"]: package["version"] for package in listed},
        "size_bytes": sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_dir()),
    }
    files.write_atomically(folder / RECORD, json.dumps(record, indent=1).encode())


def _recorded(folder: Path) -> Environment:
    record = json.loads((folder / RECORD).read_text("utf-8"))
    return Environment(folder=folder, **{**record, "pins": tuple(record["pins"])})


def _complete(folder: Path) -> bool:
    return (folder / RECORD).is_file() and _interpreter(folder).exists()


def _interpreter(folder: Path) -> Path:
    return folder / "bin" / "python"
