"""One virtual environment per set of pins, made on first use with uv and shared between runs.

They lie in the cache, never inside evalsuite's own environment. A CUDA build is refused on a machine without a GPU.
"""

import contextlib
import functools
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

from evalsuite import files, locks, paths
from evalsuite.adapter import Recipe
from evalsuite.errors import EvalsuiteError
from evalsuite.launch.provision import wheels
from evalsuite.machine.sensors.accelerators import Accelerators
from evalsuite.messages import Message
from evalsuite.model import Device

Progress = Callable[[str], None]

CAPABILITY = "EVALSUITE_COMPUTE_CAPABILITY"  # "7.0", or several with commas
LAST_LINES = 12
IMPORT_TIMEOUT_S = 300  # a first import compiles some thousand files; a cold disk took a minute
RECORD = "evalsuite.json"  # what was installed; written last, so its presence means complete
LOCK = "requirements.lock"


class CannotInstall(EvalsuiteError):
    """The framework cannot be used on this machine; *last_lines* are what the failing command said."""

    def __init__(self, reason: str, last_lines: Iterable[str] = ()) -> None:
        self.reason = reason
        self.last_lines = tuple(last_lines)
        super().__init__(
            Message("launch.with_last_lines", reason=reason, lines="".join(f"\n  {line}" for line in self.last_lines))
        )


@dataclass(frozen=True, kw_only=True)
class Environment:
    folder: Path
    python: Path
    pins: tuple[str, ...]
    device: Device
    size_bytes: int
    packages: Mapping[str, str]


def ensure(recipe: Recipe, *, device: Device = "cpu", progress: Progress = lambda line: None) -> Path:
    """The interpreter of the recipe's environment, made if it is not there; safe to call from several processes. Raises
    CannotInstall."""
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
    """The recipe's environment; None if it has not been made."""
    with contextlib.suppress(CannotInstall):
        folder = folder_of(recipe, device)
        return _recorded(folder) if _complete(folder) else None
    return None


def current(recipe: Recipe) -> Path:
    """The interpreter at hand. Raises CannotInstall if the framework does not import in it."""
    _check_import(Path(sys.executable), recipe, Message("launch.interpreter_here"))
    return Path(sys.executable)


def refusal(recipe: Recipe, kind: str, device: Device) -> str | None:
    """Why the recipe will have no interpreter of the *kind* "managed" or "current"; None where an attempt must show it.
    Nothing is started."""
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
    if kind == "managed":
        return _recorded(folder_of(recipe, device)).packages
    return {name: found.version for found in distributions() if (name := found.metadata["Name"])}


def framework_version(recipe: Recipe, installed: Mapping[str, str]) -> str | None:
    """The version of the framework among *installed* packages, whichever of its builds that is."""
    names = {_normal(name): version for name, version in installed.items()}
    builds = (recipe.package, *(_name(found[0]) for found in (recipe.requirements, recipe.requirements_gpu) if found))
    return next((names[_normal(build)] for build in builds if _normal(build) in names), None)


def folder_of(recipe: Recipe, device: Device) -> Path:
    """One folder per set of pins, Python version and kind of device. Raises CannotInstall for a recipe without pins."""
    wanted = pins(recipe, device)
    if not wanted:
        raise CannotInstall(
            Message("launch.recipe_no_requirements", recipe=recipe.name, device=device, instead=_instead(recipe))
        )
    if device == "gpu" and (unserved := wheels.find_unserved(wanted, capabilities())):
        raise CannotInstall(_no_wheel(recipe, *unserved))
    installed = sorted((*wanted, *recipe.built, *recipe.without_dependencies))
    key = json.dumps([installed, recipe.python, device, *_built_with(recipe, device)])
    digest = hashlib.sha256(key.encode()).hexdigest()[:10]
    return paths.cache() / "environments" / f"{_normal(_name(wanted[0]))}-py{recipe.python}-{digest}"


def pins(recipe: Recipe, device: Device) -> tuple[str, ...]:
    """What is installed for this machine's devices."""
    return wheels.choose_pins(recipe, device, capabilities() if device == "gpu" else ())


@functools.cache
def capabilities() -> tuple[wheels.Capability, ...]:
    """Of the NVIDIA devices here, or of those that EVALSUITE_COMPUTE_CAPABILITY names for a machine without them."""
    named = os.environ.get(CAPABILITY, "").replace(",", " ").split()
    if wrong := next((text for text in named if not re.fullmatch(r"\d{1,2}\.\d", text)), None):
        raise EvalsuiteError.of("launch.capability", name=CAPABILITY, text=wrong)
    found = named or [gpu.compute_capability for gpu in Accelerators().facts() if gpu.compute_capability]
    return tuple(sorted({wheels.parse_capability(text) for text in found}))


def _no_wheel(recipe: Recipe, wheel: wheels.GpuWheel, capability: wheels.Capability) -> str:
    least, most, got = (f"{major}.{minor}" for major, minor in (wheel.least, wheel.most, capability))
    return Message(
        "launch.no_wheel", pin=wheel.pin, cuda=wheel.cuda, least=least, most=most, got=got, instead=_instead(recipe)
    )


def _built_with(recipe: Recipe, device: Device) -> list[list[str]]:
    """What makes two builds of the same pins differ."""
    return sorted(map(list, recipe.variables_of_build(device).items()))


def _instead(recipe: Recipe) -> str:
    if recipe.image:
        return Message("launch.image_instead", image=recipe.image)
    return Message("launch.own_image") if recipe.off_index else "--environment current"


# Making one


def _make(folder: Path, recipe: Recipe, device: Device, progress: Progress) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    wanted, python = pins(recipe, device), str(_interpreter(folder))
    progress(Message("launch.making_environment", pins=" ".join(wanted), version=recipe.python))
    _uv(
        ("venv", "--no-project", "--python", recipe.python, str(folder)),
        progress,
        Message("launch.python_needed", version=recipe.python),
    )
    lock, backend = _resolve(wanted, python, device, progress)
    (folder / LOCK).write_text(lock)
    install = ("pip", "install", "--python", python, *backend)
    _uv((*install, "--requirement", str(folder / LOCK)), progress, f"installing {' '.join(wanted)}")
    if recipe.built:  # against what is installed; without the cache, which does not know against what
        path = os.pathsep.join((str(folder / "bin"), os.environ.get("PATH", "")))
        building = (*install, "--no-cache", "--no-build-isolation", *recipe.built)
        variables = {**recipe.variables_of_build(device), "PATH": path}
        _uv(building, progress, f"compiling {' '.join(recipe.built)}", variables)
    if recipe.without_dependencies:
        bare = (*install, "--no-deps", *recipe.without_dependencies)
        _uv(bare, progress, f"installing {' '.join(recipe.without_dependencies)}")
    if recipe.import_name:
        progress(Message("launch.checking_import", name=recipe.import_name))
    _check_import(_interpreter(folder), recipe, Message("launch.new_environment"))
    _record(folder, (*wanted, *recipe.built, *recipe.without_dependencies), device)
    progress(Message("launch.environment_ready", name=folder.name, megabytes=_recorded(folder).size_bytes / 1e6))


def _resolve(pins: tuple[str, ...], python: str, device: Device, progress: Progress) -> tuple[str, tuple[str, ...]]:
    """The lock file, and the options of uv that gave it. A CPU build of PyTorch lies on an index of its own: it is
    asked where the configured indexes answer with the CUDA build."""

    def compiled(*backend: str) -> str:
        line = ("pip", "compile", "--python", python, "--no-header", "--no-annotate", "-", *backend)
        return _uv(line, progress, f"resolving {' '.join(pins)}", stdin="\n".join(pins))

    lock = compiled()
    if device == "gpu" or not _cuda_packages(lock):
        return lock, ()
    progress(Message("launch.asking_pytorch"))
    backend = ("--torch-backend", "cpu")
    try:
        cpu_lock = compiled(*backend)
    except CannotInstall as error:
        raise CannotInstall(_cuda_refused(pins, lock), error.last_lines) from error
    if _cuda_packages(cpu_lock):
        raise CannotInstall(_cuda_refused(pins, cpu_lock))
    return cpu_lock, backend


def _cuda_packages(lock: str) -> list[str]:
    return [line for line in lock.splitlines() if re.match(r"nvidia-cu|cuda-", line)]


def _cuda_refused(pins: tuple[str, ...], lock: str) -> str:
    return Message("launch.cuda_build", pins=" ".join(pins), packages=_cuda_packages(lock)[:3])


def _check_import(python: Path, recipe: Recipe, where: str) -> None:
    if not recipe.import_name:
        return
    try:
        with files.scratch("import") as folder:  # where what is imported may write, as OneFlow does
            answer = subprocess.run(
                [python.absolute(), "-c", f"import {recipe.import_name}"],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=IMPORT_TIMEOUT_S,
            )
    except subprocess.TimeoutExpired as error:
        raise CannotInstall(
            Message("launch.import_slow", name=recipe.import_name, seconds=IMPORT_TIMEOUT_S, where=where)
        ) from error
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


def _record(folder: Path, pins: tuple[str, ...], device: Device) -> None:
    line = ("pip", "list", "--format", "json", "--python", str(_interpreter(folder)))
    listed = json.loads(_uv(line, lambda text: None, "listing what was installed"))
    record = {
        "pins": list(pins),
        "device": device,
        "packages": {package["name"]: package["version"] for package in listed},
        "size_bytes": sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_dir()),
    }
    files.write_atomically(folder / RECORD, json.dumps(record, indent=1).encode())


def _recorded(folder: Path) -> Environment:
    record = json.loads((folder / RECORD).read_text())
    return Environment(
        folder=folder,
        python=_interpreter(folder),
        pins=tuple(record["pins"]),
        device=record["device"],
        size_bytes=record["size_bytes"],
        packages=record["packages"],
    )


def _complete(folder: Path) -> bool:
    return (folder / RECORD).is_file() and _interpreter(folder).exists()


def _interpreter(folder: Path) -> Path:
    return folder / "bin" / "python"


# uv


def uv_variables() -> dict[str, str]:
    """The environment for uv: it may not fetch interpreters, finds pyenv's, and gets pip's settings, which it does not
    read (docs.astral.sh/uv/pip/compatibility)."""
    foreign = {"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME"}
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    path = os.pathsep.join((os.environ.get("PATH", ""), *(str(folder) for folder in sorted(pyenv.glob("*/bin")))))
    return {**_of_pip(_pip_config_list()), **kept, "PATH": path, "UV_PYTHON_DOWNLOADS": "never", "NO_COLOR": "1"}


OF_PIP = {  # a setting of pip → the variable of uv, and what separates its values
    "index-url": ("UV_DEFAULT_INDEX", " "),
    "extra-index-url": ("UV_INDEX", " "),
    "find-links": ("UV_FIND_LINKS", ","),
    "trusted-host": ("UV_INSECURE_HOST", " "),
    "constraint": ("UV_CONSTRAINT", " "),
    "cert": ("SSL_CERT_FILE", " "),
    "proxy": ("ALL_PROXY", " "),
    "default-timeout": ("UV_HTTP_TIMEOUT", " "),
    "timeout": ("UV_HTTP_TIMEOUT", " "),
    "no-index": ("UV_NO_INDEX", " "),
}


def _of_pip(listing: str) -> dict[str, str]:
    """*listing* of `pip config list` in uv's variables. The environment wins over [install], and that over [global]
    (pip.pypa.io/en/stable/topics/configuration)."""
    found: dict[str, str] = {}
    lines = [line.partition("=") for line in listing.splitlines()]
    for place in ("global", "install", ":env:"):
        for name, _, value in lines:
            where, _, setting = name.rpartition(".")
            if where == place and setting in OF_PIP:
                variable, between = OF_PIP[setting]
                found[variable] = between.join(value.strip("'\"").replace("\\n", " ").split())
    if "UV_INDEX" in found:
        found["UV_INDEX_STRATEGY"] = "unsafe-best-match"  # pip's own way: the best version of all indexes
    return found


def _pip_config_list() -> str:
    """By the first interpreter that has pip; evalsuite's own may have none."""
    base = getattr(sys, "_base_executable", sys.executable)
    for python in (sys.executable, base, "python3"):
        with contextlib.suppress(OSError):
            answer = subprocess.run([python, "-m", "pip", "config", "list"], capture_output=True, text=True)
            if answer.returncode == 0:
                return answer.stdout
    return ""


def _uv(
    arguments: tuple[str, ...],
    progress: Progress,
    doing: str,
    variables: Mapping[str, str] | None = None,
    stdin: str = "",
) -> str:
    process = subprocess.Popen(
        [uv_program(), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={**uv_variables(), **(variables or {})},
        cwd=paths.cache() / "environments",  # no project's uv settings apply there
    )
    last_lines: deque[str] = deque(maxlen=LAST_LINES)
    assert process.stdin and process.stdout and process.stderr  # all three are pipes
    with process:
        try:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(stdin)
                process.stdin.close()
            for line in process.stderr:
                last_lines.append(re.sub(r"//[^/@\s]+@", "//***@", line.rstrip()))
                progress(last_lines[-1])
            printed = process.stdout.read()
        except BaseException:
            process.terminate()
            raise
    if process.returncode != 0:
        raise CannotInstall(Message("launch.uv_failed", doing=doing, code=process.returncode), last_lines)
    return printed


def uv_program() -> str:
    import uv

    return uv.find_uv_bin()


def _name(pin: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", pin, maxsplit=1)[0]


def _normal(name: str) -> str:
    """A distribution's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
