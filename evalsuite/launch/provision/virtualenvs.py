"""One virtual environment per set of pins, made on first use with uv and shared between runs.

The environments lie in the cache (`paths.cache()/environments`), never inside evalsuite's own. uv does the
resolving and the installing; this room hands it the machine's pip configuration (uv reads none of it:
docs.astral.sh/uv/pip/compatibility, "Configuration files and environment variables"), refuses a CUDA build
on a machine without a GPU, and makes sure that a half-made environment is never taken for a whole one.
"""

import ast
import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evalsuite import files, locks, paths
from evalsuite.adapter import Recipe
from evalsuite.errors import EvalsuiteError
from evalsuite.model import Device

Progress = Callable[[str], None]

LAST_LINES = 12  # of a failed command, enough to hold uv's explanation of a conflict
IMPORT_TIMEOUT_S = 300  # a first import compiles some thousand files; a cold disk took a minute
LISTING = """
import json
try:
    from importlib.metadata import distributions
    found = {each.metadata["Name"]: each.version for each in distributions() if each.metadata["Name"]}
except ImportError:  # before Python 3.8
    import pkg_resources
    found = {each.project_name: each.version for each in pkg_resources.working_set}
print(json.dumps(found))
"""
RECORD = "evalsuite.json"  # what was installed; written last, so its presence means complete
LOCK = "requirements.lock"  # every distribution with its exact version, as uv resolved it


class CannotInstall(EvalsuiteError):
    """The framework cannot be used on this machine; *last_lines* are what the failing command said."""

    def __init__(self, reason: str, last_lines: Iterable[str] = ()) -> None:
        self.reason = reason
        self.last_lines = tuple(last_lines)
        super().__init__("\n  ".join((reason, *self.last_lines)))


@dataclass(frozen=True, kw_only=True)
class Environment:
    """A finished virtual environment."""

    folder: Path
    python: Path
    pins: tuple[str, ...]
    device: Device
    size_bytes: int
    packages: Mapping[str, str]  # distribution → version, as resolved


def ensure(recipe: Recipe, *, device: Device = "cpu", progress: Progress = lambda line: None) -> Path:
    """The interpreter of the recipe's environment, which is made now if it is not there yet.

    Safe when several processes call it at once: one makes it and the others wait. Raises CannotInstall.
    """
    folder = folder_of(recipe, device)
    folder.parent.mkdir(parents=True, exist_ok=True)
    if not _complete(folder):
        with _only_maker(folder, progress):
            if not _complete(folder):
                _make(folder, recipe, device, progress)
    return _interpreter(folder)


def existing(recipe: Recipe, *, device: Device = "cpu") -> Environment | None:
    """The recipe's environment if it has been made; nothing is started."""
    folder = folder_of(recipe, device)
    return _recorded(folder) if _complete(folder) else None


def current(recipe: Recipe) -> Path:
    """The interpreter at hand, for `--environment current`. Raises CannotInstall if the framework does not
    import in it."""
    _check_import(Path(sys.executable), recipe, "the interpreter at hand")
    return Path(sys.executable)


def refusal(recipe: Recipe, kind: str, device: Device) -> str | None:
    """Why the recipe will have no interpreter of the *kind* "managed" or "current", as far as that can be told with
    nothing started; None where an attempt must show it."""
    if kind == "managed":
        try:
            folder_of(recipe, device)
        except CannotInstall as error:
            return str(error)
        return None
    module = recipe.import_name.partition(".")[0]
    if module and importlib.util.find_spec(module) is None:
        return f"{recipe.import_name} is not installed in {sys.executable}; try --environment managed, or install it"
    return None


def packages(python: Path) -> dict[str, str]:
    """Distribution → version, as the interpreter *python* sees them."""
    answer = subprocess.run([python, "-I", "-c", LISTING], capture_output=True, text=True, check=True)
    return dict(sorted(json.loads(answer.stdout).items()))


def framework_version(recipe: Recipe, installed: Mapping[str, str]) -> str | None:
    """The version of the framework among *installed* packages, whichever of its builds that is."""
    names = {_normal(name): version for name, version in installed.items()}
    builds = (recipe.package, *(_name(pins[0]) for pins in (recipe.requirements, recipe.requirements_gpu) if pins))
    return next((names[_normal(build)] for build in builds if _normal(build) in names), None)


def folder_of(recipe: Recipe, device: Device) -> Path:
    """Where the recipe's environment lies: one folder per set of pins, Python version and kind of device."""
    pins = recipe.pins(device)
    if not pins:
        raise CannotInstall(
            f"recipe {recipe.name}: it names no requirements for a virtual environment on a {device}; expected "
            f"exact pins. Use {_instead(recipe)}."
        )
    key = json.dumps([sorted((*pins, *recipe.built)), recipe.python, device])
    digest = hashlib.sha256(key.encode()).hexdigest()[:10]
    return paths.cache() / "environments" / f"{_normal(_name(pins[0]))}-py{recipe.python}-{digest}"


def _instead(recipe: Recipe) -> str:
    return f"--container docker, with the image {recipe.image}" if recipe.image else "--environment current"


# Making one


def _make(folder: Path, recipe: Recipe, device: Device, progress: Progress) -> None:
    """Builds in a temporary folder and renames it when the framework's import works."""
    making = folder.with_name(f"{folder.name}.making")
    for leftover in (making, folder):
        shutil.rmtree(leftover, ignore_errors=True)
    pins = recipe.pins(device)
    progress(f"making the environment of {' '.join(pins)} for Python {recipe.python}")
    settings = _pip_settings()
    _uv(_venv_command(making, recipe.python), settings, progress, f"a Python {recipe.python} environment")
    lock, settings = _resolved(pins, _interpreter(making), device, settings, progress)
    (making / LOCK).write_text(lock)
    install = ("pip", "install", "--python", str(_interpreter(making)), "--requirement", str(making / LOCK))
    _uv((*install, *settings.arguments), settings, progress, f"installing {' '.join(pins)}")
    _build(making, recipe, settings, progress)
    if recipe.import_name:
        progress(f"checking that {recipe.import_name} imports")
    _check_import(_interpreter(making), recipe, "the new environment")
    _record(making, (*pins, *recipe.built), device)
    making.rename(folder)
    progress(f"{folder.name} is ready: {_recorded(folder).size_bytes / 1e6:.0f} MB")


def _build(making: Path, recipe: Recipe, settings: "PipSettings", progress: Progress) -> None:
    """Compiles `recipe.built` against what is installed. Without the cache, which does not know against what."""
    if not recipe.built:
        return
    install = ("pip", "install", "--python", str(_interpreter(making)), "--no-cache", "--no-build-isolation")
    path = os.pathsep.join((str(_interpreter(making).parent), os.environ.get("PATH", "")))
    building = settings.with_environment({**recipe.build_environment, "PATH": path})
    _uv((*install, *recipe.built, *settings.arguments), building, progress, f"compiling {' '.join(recipe.built)}")


def _venv_command(folder: Path, version: str) -> tuple[str, ...]:
    """`--relocatable`, because the folder is renamed when it is complete."""
    return ("venv", "--relocatable", "--no-project", "--python", _machine_python(version), str(folder))


def _machine_python(version: str) -> str:
    """An interpreter of that version already on this machine: evalsuite's own, else one that uv finds."""
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    of_pyenv = sorted(_pyenv_versions().glob(f"{version}.*/bin/python"))
    if of_pyenv:
        return str(of_pyenv[-1])
    found = subprocess.run(
        [_uv_binary(), "python", "find", "--no-project", "--system", version],
        capture_output=True,
        text=True,
        env=_uv_environment({}),
    )
    if found.returncode != 0:
        raise CannotInstall(
            f"Python {version}: there is none on this machine, and the framework's pins need it; "
            f"try: apt install python{version}, or pyenv install {version}"
        )
    return found.stdout.strip()


def _pyenv_versions() -> Path:
    """Where pyenv keeps its interpreters: uv sees only the one that its shims stand for at the moment."""
    return Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"


def _resolved(
    pins: tuple[str, ...], python: Path, device: Device, settings: "PipSettings", progress: Progress
) -> tuple[str, "PipSettings"]:
    """Every distribution with its version, as a requirements file, and the settings that gave it.

    A CPU build of PyTorch lies on an index of its own. Where the machine's pip configuration does not lead to
    one, the default index answers with the CUDA build; then uv is told to ask PyTorch's own index.
    """
    lock = _compiled(pins, python, settings, progress)
    if device == "gpu" or not _cuda_packages(lock):
        return lock, settings
    progress("the configured indexes answer with a CUDA build; asking PyTorch's own CPU index")
    cpu_settings = settings.with_arguments("--torch-backend", "cpu")
    try:
        cpu_lock = _compiled(pins, python, cpu_settings, progress)
    except CannotInstall as error:
        raise CannotInstall(_cuda_refused(pins, lock), error.last_lines) from error
    if _cuda_packages(cpu_lock):
        raise CannotInstall(_cuda_refused(pins, cpu_lock))
    return cpu_lock, cpu_settings


def _compiled(pins: tuple[str, ...], python: Path, settings: "PipSettings", progress: Progress) -> str:
    compile_ = ("pip", "compile", "--python", str(python), "--no-header", "--no-annotate", "-")
    return _uv(
        (*compile_, *settings.arguments),
        settings,
        progress,
        f"resolving {' '.join(pins)}",
        stdin="\n".join(pins),
    )


def _cuda_packages(lock: str) -> list[str]:
    """The distributions of a CUDA build: 2 to 5 GB that a machine without a GPU can do nothing with."""
    return [line for line in lock.splitlines() if re.match(r"nvidia-cu|cuda-", line)]


def _cuda_refused(pins: tuple[str, ...], lock: str) -> str:
    return (
        f"{' '.join(pins)}: the package indexes of this machine answer with a CUDA build "
        f"({', '.join(_cuda_packages(lock)[:3])}, …); a CPU build was expected. "
        "Try PIP_FIND_LINKS or PIP_EXTRA_INDEX_URL with a place that holds the CPU wheel."
    )


def _check_import(python: Path, recipe: Recipe, where: str) -> None:
    """Raises CannotInstall if the recipe's module does not import; a recipe that names none is not checked."""
    if not recipe.import_name:
        return
    try:
        with _somewhere() as folder:
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
        raise CannotInstall(f"import {recipe.import_name}: no answer in {IMPORT_TIMEOUT_S} s in {where}.") from error
    if answer.returncode != 0:
        raise CannotInstall(
            f"import {recipe.import_name}: it fails in {where} ({python}) with exit status {answer.returncode}; "
            f"expected an import that works with {' '.join(recipe.requirements) or 'no pins'}. Its last lines:",
            answer.stdout.splitlines()[-LAST_LINES:],
        )


@contextlib.contextmanager
def _somewhere() -> Iterator[Path]:
    """Where what is imported may write, as OneFlow does; the current folder where none can be made for it."""
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(files.scratch("import"))
        except EvalsuiteError:
            folder = Path()
        yield folder


def _record(folder: Path, pins: tuple[str, ...], device: Device) -> None:
    record = {
        "pins": list(pins),
        "device": device,
        "packages": packages(_interpreter(folder)),
        "size_bytes": _size_bytes(folder),
    }
    (folder / RECORD).write_text(json.dumps(record, indent=1))


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
    """The record is there and the interpreter behind the environment has not been uninstalled."""
    return (folder / RECORD).is_file() and _interpreter(folder).exists()


def _interpreter(folder: Path) -> Path:
    return folder / "bin" / "python"


def _size_bytes(folder: Path) -> int:
    return sum(file.lstat().st_size for file in folder.rglob("*") if not file.is_dir())


@contextlib.contextmanager
def _only_maker(folder: Path, progress: Progress) -> Iterator[None]:
    """Holds the lock of this environment; the system frees it if we die."""
    lock = folder.with_name(f"{folder.name}.lock")
    with locks.hold_lock(lock, waiting=lambda: progress(f"another evalsuite is making {folder.name}; waiting for it")):
        yield


# uv and the machine's pip configuration


@dataclass(frozen=True, kw_only=True)
class PipSettings:
    """What the machine's pip configuration says, in uv's words."""

    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()

    def with_arguments(self, *arguments: str) -> "PipSettings":
        return PipSettings(arguments=(*self.arguments, *arguments), environment=self.environment)

    def with_environment(self, more: Mapping[str, str]) -> "PipSettings":
        return PipSettings(arguments=self.arguments, environment=(*self.environment, *more.items()))


def pip_settings(configuration: Mapping[str, str]) -> PipSettings:
    """pip's settings (name → value, as `pip config list` names them) in uv's words.

    `unsafe-best-match` is pip's own way with several indexes: the best version of all of them.
    """
    arguments = []
    for name, flag in UV_FLAGS.items():
        for value in configuration.get(name, "").split():
            arguments += [flag, value]
    if configuration.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        arguments.append("--no-index")
    if configuration.get("extra-index-url"):
        arguments += ["--index-strategy", "unsafe-best-match"]
    environment = tuple((UV_VARIABLES[name], configuration[name]) for name in UV_VARIABLES if configuration.get(name))
    return PipSettings(arguments=tuple(arguments), environment=environment)


UV_FLAGS = {
    "index-url": "--index-url",
    "extra-index-url": "--extra-index-url",
    "find-links": "--find-links",
    "trusted-host": "--allow-insecure-host",
    "constraint": "--constraint",
}
UV_VARIABLES = {
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "proxy": "ALL_PROXY",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
}


def pip_configuration(listing: str, environment: Mapping[str, str]) -> dict[str, str]:
    """pip's settings by name from `pip config list` and the PIP_* variables.

    A later and more special place wins, as in pip: [global], [install], then the environment
    (pip.pypa.io/en/stable/topics/configuration, "Precedence / Override order").
    """
    found = {}
    for section in ("global", "install"):
        for line in listing.splitlines():
            name, _, value = line.partition("=")
            if name.startswith(f"{section}."):
                found[name.removeprefix(f"{section}.")] = _unquoted(value)
    for variable, value in environment.items():
        if variable.startswith("PIP_") and value:
            found[variable.removeprefix("PIP_").lower().replace("_", "-")] = value
    return found


def _unquoted(value: str) -> str:
    try:
        return str(ast.literal_eval(value))
    except (SyntaxError, ValueError):
        return value.strip()


def _pip_settings() -> PipSettings:
    return pip_settings(pip_configuration(_pip_config_list(), os.environ))


def _pip_config_list() -> str:
    """`pip config list` of the first interpreter that has pip; evalsuite's own may have been made without."""
    base = getattr(sys, "_base_executable", sys.executable)  # of a virtual environment, the interpreter it was made by
    for python in (sys.executable, base, "python3"):
        with contextlib.suppress(OSError):
            answer = subprocess.run([python, "-m", "pip", "config", "list"], capture_output=True, text=True)
            if answer.returncode == 0:
                return answer.stdout
    return ""


def _uv_binary() -> str:
    import uv

    return uv.find_uv_bin()


def _uv_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Our environment, without the one we stand in, and with uv forbidden to fetch interpreters."""
    foreign = {"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME"}
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    return {**kept, "UV_PYTHON_DOWNLOADS": "never", "NO_COLOR": "1", **extra}


def _uv(arguments: tuple[str, ...], settings: PipSettings, progress: Progress, doing: str, stdin: str = "") -> str:
    """Runs uv, hands its messages to *progress* as they come, and gives what it printed."""
    process = subprocess.Popen(
        [_uv_binary(), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=_uv_environment(dict(settings.environment)),
        cwd=paths.cache() / "environments",  # no project's uv settings apply there
    )
    last_lines: deque[str] = deque(maxlen=LAST_LINES)
    assert process.stdin and process.stdout and process.stderr  # all three are pipes
    with process:
        try:
            with contextlib.suppress(BrokenPipeError):  # it has already given up; its last lines say why
                process.stdin.write(stdin)
                process.stdin.close()
            for line in process.stderr:
                last_lines.append(_without_credentials(line.rstrip()))
                progress(last_lines[-1])
            printed = process.stdout.read()
        except BaseException:
            process.terminate()
            raise
    if process.returncode != 0:
        raise CannotInstall(f"{doing}: uv gave up with exit status {process.returncode}. Its last lines:", last_lines)
    return printed


def _without_credentials(line: str) -> str:
    return re.sub(r"//[^/@\s]+@", "//***@", line)


def _name(pin: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", pin, maxsplit=1)[0]


def _normal(name: str) -> str:
    """A distribution's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
