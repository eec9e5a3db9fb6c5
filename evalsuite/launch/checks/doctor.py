"""What this machine can run, what is missing, and how to get it."""

import functools
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from evalsuite.contracts import adapter, registry
from evalsuite.core import files, paths
from evalsuite.core.messages import Message
from evalsuite.core.model import Device
from evalsuite.launch.checks import nodes
from evalsuite.launch.checks.nodes import Check
from evalsuite.launch.programs import Program, ask_program
from evalsuite.launch.provision import data_manifest, installer, virtualenvs
from evalsuite.launch.provision.recipe_locks import find_lock
from evalsuite.launch.remote import allocations
from evalsuite.machine import cgroups, environment, pitfalls
from evalsuite.machine.sensors import nvidia
from evalsuite.machine.sensors.accelerators import open_accelerators
from evalsuite.machine.sensors.processor import Cpu
from evalsuite.machine.sensors.system import Memory
from evalsuite.plan import data_sets

QUESTION_TIMEOUT_S = 5.0
GIB = 1 << 30
NVIDIA = "0x10de"  # PCI vendor number
DISPLAY = "0x03"  # PCI class of graphics and 3D controllers
WAIT_S, LOOK_EVERY_S = 30.0, 3.0  # for other programs to end
BUSY_PERCENT = 25.0  # of the CPU: the system, and this look, take a tenth
ROOM_BYTES = 10 * GIB  # four frameworks' environments took 5 GB on a CPU machine (0.3 to 1.5 GB each)


def checks(runs: Path, folders: Sequence[Path] = ()) -> list[Check]:
    return [
        *machine(),
        *devices(),
        *training(),
        *others(),
        *engines(),
        *tools(),
        *frameworks(folders),
        *data(),
        folder(Message("launch.name_runs"), runs, Message("launch.runs_dir_remedy")),
        folder(Message("launch.name_cache"), paths.cache(), Message("launch.cache_remedy"), ROOM_BYTES),
    ]


def machine(root: Path = Path("/")) -> Iterator[Check]:
    check = functools.partial(Check, group="machine", state="ok")
    limits = cgroups.limits(root)
    cpu, memory = Cpu(limits, root), Memory(limits)
    model = environment.cpu_model(root) or "unknown processor"
    system = environment.operating_system(root)
    yield check(name=Message("launch.name_system"), detail=f"{system}, Python {platform.python_version()}")
    yield check(
        name=Message("launch.name_processor"),
        detail=Message("launch.cores", model=model, usable=cpu.capacity, all=os.cpu_count()),
    )
    if memory.total_bytes is not None:
        yield check(name=Message("launch.name_memory"), detail=f"{memory.total_bytes / GIB:.1f} GiB")
    if limits.cpus is not None or limits.memory_bytes is not None:
        cpus = Message("launch.no_cpu_limit") if limits.cpus is None else f"{limits.cpus:g} cores"
        size = (
            Message("launch.no_memory_limit") if limits.memory_bytes is None else f"{limits.memory_bytes / GIB:.1f} GiB"
        )
        yield check(name=Message("launch.name_container"), detail=Message("launch.limits", cpus=cpus, memory=size))


def devices(root: Path = Path("/")) -> Iterator[Check]:
    check = functools.partial(Check, group="devices")
    accelerators = open_accelerators()
    if len(accelerators):
        versions = accelerators.versions()
        for device in accelerators.facts():
            size = f", {device.memory_total_bytes / GIB:.0f} GiB" if device.memory_total_bytes else ""
            capability = f", sm_{device.compute_capability.replace('.', '')}" if device.compute_capability else ""
            detail = f"{device.name}{size}{capability}"
            yield check(name=f"{accelerators.kind}{device.index}", state="ok", detail=detail)
        driver, toolkit = (versions[name] or "unknown" for name in ("driver", "toolkit"))
        with_cuda = accelerators.kind == "gpu"
        detail = Message("launch.driver", driver=driver, cuda=toolkit) if with_cuda else f"driver {driver}"
        yield check(name=Message("launch.name_driver"), state="ok", detail=detail)
        return
    trouble = nvidia.trouble() or Message("launch.nvml_none")
    if cards := nvidia_cards(root):
        detail, remedy = Message("launch.lost_device", n=cards, trouble=trouble), Message("launch.driver_remedy")
        yield check(name="gpu", state="broken", detail=detail, remedy=remedy)
    else:
        yield check(name="gpu", state="ok", detail=Message("launch.no_device", trouble=trouble))


def nvidia_cards(root: Path = Path("/")) -> int:
    return sum(
        files.text(device / "vendor") == NVIDIA and (files.text(device / "class") or "").startswith(DISPLAY)
        for device in root.glob("sys/bus/pci/devices/*")
    )


def training() -> Iterator[Check]:
    present = pitfalls.find()
    for area in pitfalls.AREAS:
        check = functools.partial(Check, group="training", name=Message(f"launch.area_{area}"))
        here = [pitfall for pitfall in present if pitfall.area == area]
        yield from (check(state="broken", detail=pitfall.seen, remedy=pitfall.remedy) for pitfall in here)
        if not here:
            of_gpus = area in ("network", "numa") and not len(open_accelerators())
            yield check(state="ok", detail=Message("launch.with_gpus") if of_gpus else Message("launch.no_pitfall"))


def others() -> Iterator[Check]:
    """Programs beside the measurement."""
    here = replace(nodes.facts(), pitfalls=None)
    for check in nodes.judge(nodes.Node(name="", facts=here), Path()):
        yield replace(check, group="training", name=Message("launch.name_others"))


def await_quiet(tell: Callable[[str], None], wait_s: float = WAIT_S) -> None:
    """Looks at this machine before it is measured, and waits for other programs to end, *wait_s* at most."""
    limits, deadline_s, waits = cgroups.limits(Path("/")), time.monotonic() + wait_s, False
    for pitfall in pitfalls.clocks(nvidia.settings(), Path("/")):
        tell(Message("launch.clocks", seen=pitfall.seen, remedy=pitfall.remedy))
    while True:
        cpu = Cpu(limits)
        programs, used = nodes.busy_programs(), cpu.percent() or 0.0
        quiet = not programs and used < BUSY_PERCENT
        share = f"{used:.0f}%"
        if quiet or time.monotonic() >= deadline_s:
            break
        if not waits:
            tell(Message("launch.machine_busy", used=share, names=[*programs] or "?", seconds=wait_s))
        waits = True
        time.sleep(LOOK_EVERY_S)
    if not quiet:
        tell(Message("launch.machine_disturbed", used=share))
        return
    free = shutil.disk_usage(files.existing(paths.cache())).free / GIB
    tell(Message("launch.machine_quiet", used=share, cores=f"{cpu.capacity:g}", all=os.cpu_count(), free=free))


def engines() -> Iterator[Check]:
    yield Check(group="engines", name="local", state="ok", detail=Message("launch.local"))
    yield from (program(wanted, "engines") for wanted in (*allocations.clients(), *_programs()))


def _programs() -> Iterator[Program]:
    for name, facts in paths.read_data("programs.toml").items():
        purpose, instructions, dead = (
            Message(f"launch.program_{facts[key]}") if key in facts else ""
            for key in ("purpose", "instructions", "dead")
        )
        remedy = instructions or f"apt install {facts['package']}"
        given = {key: tuple(facts[key]) for key in ("version", "alive") if key in facts}
        yield Program(name=name, purpose=purpose, remedy=remedy, dead=dead, **given)


def program(wanted: Program, group: str) -> Check:
    check = functools.partial(Check, group=group, name=wanted.name)
    where = shutil.which(wanted.name)
    if where is None:
        return check(
            state="missing", detail=Message("launch.not_on_path", purpose=wanted.purpose), remedy=wanted.remedy
        )
    works, version = _answer((wanted.name, *wanted.version))
    if wanted.alive and not _answer(wanted.alive)[0]:
        return check(
            state="broken",
            detail=Message("system.of", name=version, what=wanted.dead),
            remedy=Message("launch.do_without"),
        )
    return check(state="ok" if works else "broken", detail=f"{version or 'no version'} ({where})")


def tools() -> Iterator[Check]:
    works, version = _answer((installer.uv_program(), "--version"))
    yield Check(group="tools", name="uv", state="ok" if works else "broken", detail=version)
    yield program(Program(name="git", purpose=Message("launch.scripts"), remedy="apt install git"), "tools")
    if nvidia.trouble() is None:
        smi = Program(name="nvidia-smi", purpose=Message("launch.topology"), remedy="apt install nvidia-smi")
        yield program(smi, "tools")


def frameworks(folders: Sequence[Path] = ()) -> Iterator[Check]:
    device: Device = open_accelerators().kind or "cpu"
    for known in registry.discover(folders).values():
        recipe = min(known.recipes, key=lambda recipe: recipe.kind != "reference", default=None)
        if recipe is not None:
            yield framework(known, recipe, device)


def framework(known: adapter.Adapter, recipe: adapter.Recipe, device: Device) -> Check:
    check = functools.partial(Check, group="frameworks", name=known.name)
    absent = environment.absent(recipe.programs(device))
    if recipe.needs_gpu and device == "cpu":
        return check(state="missing", detail=Message("launch.needs_gpu", why=recipe.needs_gpu))
    if absent:
        return check(
            state="missing", detail=Message("launch.absent", names=absent), remedy=Message("launch.see_engines")
        )
    if reason := virtualenvs.refusal(recipe, "managed", device):
        return check(state="missing", detail=reason)
    there = virtualenvs.existing(recipe, device=device)
    if there is not None:
        version = virtualenvs.framework_version(recipe, there.packages) or Message("launch.unknown_version")
        text = f"{known.title} {version} ({there.folder})"
        return check(state="ok", detail=text if there.lock else Message("launch.made_unlocked", found=text))
    if not _python_found(recipe.python):
        remedy = Message("launch.python_remedy", version=recipe.python)
        return check(state="missing", detail=Message("launch.needs_python", version=recipe.python), remedy=remedy)
    wanted = virtualenvs.wanted_of(recipe, device)
    later = Message("launch.on_first_use", pin=wanted.pins[0])
    return check(state="later", detail=later if find_lock(wanted) else Message("launch.without_lock", found=later))


def data() -> Iterator[Check]:
    check = functools.partial(Check, group="data")
    together = Message("launch.data_sets")
    there = [name for name in data_sets.declared().data_sets if (paths.data_sets() / name).exists()]
    problems = {name: data_manifest.problem(name) for name in there}
    for name, problem in problems.items():
        made = None if problem else data_manifest.read(name)
        sound = Message("launch.data_made_up", size=made.size, seed=made.seed) if made else Message("launch.data_given")
        yield check(name=name, state="broken" if problem else "ok", detail=problem or sound)
    if not there:
        yield check(name=together, state="later", detail=Message("launch.data_none", folder=paths.data_sets()))
    elif differing := data_manifest.differing(name for name in there if problems[name] is None):
        yield check(name=together, state="broken", detail=differing)


def folder(name: str, path: Path, remedy: str, room_bytes: int = 0) -> Check:
    check = functools.partial(Check, group="folders", name=name)
    standing = files.existing(path)
    try:
        with tempfile.TemporaryFile(dir=standing):
            pass
    except OSError as error:
        return check(
            state="broken",
            detail=Message("system.of", name=path, what=error),
            remedy=Message("launch.try", remedy=remedy),
        )
    free_bytes = shutil.disk_usage(standing).free
    detail = Message("launch.writable", path=path, free=free_bytes / GIB)
    if free_bytes < room_bytes:
        detail = Message("launch.environments_take", writable=detail, room=room_bytes / GIB)
        return check(state="broken", detail=detail, remedy=Message("launch.make_room", remedy=remedy))
    return check(state="ok", detail=detail)


def ready(checks: Iterable[Check]) -> bool:
    checks = list(checks)
    writable = all(check.state == "ok" for check in checks if check.group == "folders" and check.name == "runs")
    return writable and any(check.group == "frameworks" and check.state in ("ok", "later") for check in checks)


@functools.cache
def _python_found(version: str) -> bool:
    asked = (installer.uv_program(), "python", "find", "--no-project", version)
    done = ask_program(asked, QUESTION_TIMEOUT_S, installer.uv_variables())
    return done is not None and done.returncode == 0


def _answer(argv: Sequence[str]) -> tuple[bool, str]:
    done = ask_program(argv, QUESTION_TIMEOUT_S, {"USER": os.environ.get("USER", "root")})  # ch-run stops without it
    lines = (done.stdout.strip() or done.stderr.strip()).splitlines() if done else []
    return done is not None and done.returncode == 0, lines[0].strip() if lines else ""
