"""An image for `ch-run` made of this machine's own Python: a folder, with what the interpreter needs and a shell."""

import shutil
import subprocess
from pathlib import Path

PYTHON = Path("/usr/bin/python3")  # Debian's: what it needs lies in /usr/lib and nowhere else
EMPTY = ("dev", "proc", "sys", "tmp", "etc", "home", "usr/bin", "bin", "ch")
SITE = "usr/lib/python3/dist-packages"


def missing() -> str | None:
    """Why no image can be run here; None if one can."""
    if shutil.which("ch-run") is None:
        return "ch-run is not on this machine (Debian's package charliecloud)"
    if not PYTHON.exists():
        return f"{PYTHON} is not on this machine, and the image is made of it"
    return None


def make(image: Path, packages: dict[str, str], environment: dict[str, str]) -> Path:
    """Makes the folder *image* with a Python that has *packages* (name → version) and sets *environment*."""
    for folder in EMPTY:
        (image / folder).mkdir(parents=True)
    for file in ("passwd", "group"):  # ch-run lays its own over them
        (image / "etc" / file).touch()
    interpreter = PYTHON.resolve()
    for program in (interpreter, Path("/bin/sh").resolve()):
        _copy_with_libraries(program, image)
    library = Path("/usr/lib") / interpreter.name
    unneeded = shutil.ignore_patterns("test", "tests", "idlelib", "config-*", "ensurepip", "tkinter", "__pycache__")
    shutil.copytree(library, image / library.relative_to("/"), symlinks=True, ignore=unneeded, dirs_exist_ok=True)
    for extension in (library / "lib-dynload").glob("_*.so"):
        _copy_with_libraries(extension, image)
    (image / "usr/bin/python3").symlink_to(interpreter.name)
    (image / "bin/sh").symlink_to(Path("/bin/sh").resolve())
    for name, version in packages.items():
        facts = image / SITE / f"{name}-{version}.dist-info"
        facts.mkdir(parents=True)
        (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (image / "ch/environment").write_text("".join(f"{name}={value}\n" for name, value in environment.items()))
    return image


def _copy_with_libraries(program: Path, image: Path) -> None:
    told = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    libraries = {Path(word) for line in told.splitlines() for word in line.split() if word.startswith("/")}
    for file in {program, *libraries}:
        place = image / str(file).lstrip("/")
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, place)
