"""Locks: every distribution of a recipe's environment, with its version and the hashes of its files. A file per
environment, named as the environment is, in `locks` beside the adapters' folder: recipes with the same pins, Python and
device share it, and changed pins have none. It is for Linux on x86_64; elsewhere there is none."""

import hashlib
import json
import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evalsuite.contracts.adapter import Recipe
from evalsuite.core import files, paths
from evalsuite.core.messages import Message
from evalsuite.core.model import Device
from evalsuite.launch.provision.installer import CannotInstall, Progress, run_installer

SERVED = ("Linux", "x86_64")
PLATFORM = "x86_64-unknown-linux-gnu"
FOLDER = "locks"
PYTORCH_CPU = ("--torch-backend", "cpu")
OF_CPU = "+cpu "  # in a line of a lock
BESIDE_TORCH = "torchvision"  # whose build must be torch's; PyPI's is for CUDA. A CPU lock has the hashes of both

Lines = Mapping[str, str]  # distribution → "numpy==1.26.4 --hash=sha256:…"


@dataclass(frozen=True, kw_only=True)
class PinnedEnvironment:
    recipe: Recipe
    device: Device
    pins: tuple[str, ...]

    @property
    def every_pin(self) -> tuple[str, ...]:
        return (*self.pins, *self.recipe.built, *self.recipe.without_dependencies)

    @property
    def name(self) -> str:
        build = sorted(map(list, self.recipe.variables_of_build(self.device).items()))
        key = json.dumps([sorted(self.every_pin), self.recipe.python, self.device, *build])
        digest = hashlib.sha256(key.encode()).hexdigest()[:10]
        return f"{distribution(self.pins[0])}-py{self.recipe.python}-{digest}"

    @property
    def file(self) -> Path:
        brought = self.recipe.brought_by
        return (brought if brought not in (None, paths.ADAPTERS) else paths.DATA) / FOLDER / f"{self.name}.txt"


@dataclass(frozen=True, kw_only=True)
class Lock:
    lines: Lines
    sha256: str | None = None  # of its file; None: it was resolved today

    def select(self, pins: Iterable[str]) -> str:
        return "".join(f"{self.lines[distribution(pin)]}\n" for pin in pins)

    def without(self, pins: Iterable[str]) -> str:
        left_out = {distribution(pin) for pin in pins}
        return "".join(f"{line}\n" for name, line in self.lines.items() if name not in left_out)


def find_lock(wanted: PinnedEnvironment) -> Lock | None:
    return read_lock(wanted) if (platform.system(), platform.machine()) == SERVED else None


def read_lock(wanted: PinnedEnvironment) -> Lock | None:
    """Ours serves an author's recipe of the same pins: both have one environment."""
    places = (wanted.file, paths.DATA / FOLDER / wanted.file.name)
    if (file := next((place for place in places if place.is_file()), None)) is None:
        return None
    text = file.read_text(encoding="utf-8")
    lines = {distribution(line): line for line in text.splitlines() if line and not line.startswith("#")}
    return Lock(lines=lines, sha256=hashlib.sha256(text.encode()).hexdigest())


def write_lock(wanted: PinnedEnvironment) -> Path:
    """For its Python, whatever runs here. Raises CannotInstall."""
    place = ("--python-version", wanted.recipe.python, "--python-platform", PLATFORM)
    lines = resolve(wanted, place, lambda text: None).lines
    if bare := [name for name, line in lines.items() if "--hash" not in line]:
        raise CannotInstall(Message("launch.cannot_lock", names=bare))
    notes = [f"# {wanted.device}, Python {wanted.recipe.python}, {' '.join(SERVED)}: {' '.join(wanted.every_pin)}"]
    if by_hand := wanted.recipe.off_index:
        notes.append(f"# by hand, on no package index: {', '.join(by_hand)}")
    wanted.file.parent.mkdir(exist_ok=True)
    files.write_atomically(wanted.file, "\n".join([*notes, *lines.values(), ""]).encode())
    return wanted.file


def find_mistakes(wanted: PinnedEnvironment) -> list[str]:
    """The pins that the lock lacks or has at another version; all of them where there is no lock."""
    lock = read_lock(wanted)
    lines = lock.lines if lock else {}
    exact = {name: line.split()[0].partition("+")[0].partition("==")[2] for name, line in lines.items()}
    return [pin for pin in wanted.every_pin if exact.get(distribution(pin)) != pin.partition("+")[0].partition("==")[2]]


def resolve(wanted: PinnedEnvironment, place: tuple[str, ...], progress: Progress) -> Lock:
    """What the package indexes give today for the Python of *place*. Raises CannotInstall."""
    lines = dict(_with_dependencies((*wanted.pins, *wanted.recipe.built), place, wanted.device, progress))
    if bare := wanted.recipe.without_dependencies:
        lines |= _compile(bare, (*place, "--no-deps"), progress)
    return Lock(lines=lines)


def _with_dependencies(pins: tuple[str, ...], place: tuple[str, ...], device: Device, progress: Progress) -> Lines:
    """A CPU build of PyTorch lies on an index of its own: asked where the configured ones answer with CUDA."""
    lines = _compile(pins, place, progress)
    if device == "gpu" and any(OF_CPU in f"{line} " for line in lines.values()):
        raise CannotInstall(Message("launch.cpu_build", pins=" ".join(pins)))
    mixed = OF_CPU in lines.get("torch", "") and OF_CPU not in lines.get(BESIDE_TORCH, OF_CPU)
    if device == "gpu" or not (mixed or _cuda_packages(lines)):
        return lines
    progress(Message("launch.asking_pytorch"))
    said: tuple[str, ...] = ()
    try:
        lines = _compile(pins, (*place, *PYTORCH_CPU), progress)
    except CannotInstall as error:  # a torchvision for CUDA is imported all the same (`virtualenvs`)
        said = error.last_lines or (error.reason,)
    if for_cuda := _cuda_packages(lines):
        raise CannotInstall(Message("launch.cuda_build", pins=" ".join(pins), packages=for_cuda[:3]), said)
    return lines


def _compile(pins: tuple[str, ...], options: tuple[str, ...], progress: Progress) -> Lines:
    line = ("pip", "compile", "--generate-hashes", "--no-header", "--no-annotate", *options, "-")
    answer = run_installer(line, progress, f"resolving {' '.join(pins)}", stdin="\n".join(pins)).replace("\\\n", "")
    lines = [" ".join(line.split()) for line in answer.splitlines() if line and not line.startswith("#")]
    return {distribution(line): line for line in lines}


def _cuda_packages(lines: Lines) -> list[str]:
    return [line.split()[0] for line in lines.values() if re.match(r"nvidia-cu|cuda-", line)]


def distribution(pin: str) -> str:
    """The name of a pin's distribution as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^A-Za-z0-9._-]", pin, maxsplit=1)[0]).lower()
