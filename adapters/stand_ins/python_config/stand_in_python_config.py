"""What a script compiles is compiled for the Python that runs it, as in an image that has but one."""

import os
import sys
from pathlib import Path

FOLDERS = (str(Path(__file__).resolve().parent / "bin"), str(Path(sys.executable).parent))
PATH = os.environ.get("PATH", "").split(os.pathsep)

os.environ["PATH"] = os.pathsep.join([*FOLDERS, *(folder for folder in PATH if folder not in FOLDERS)])
