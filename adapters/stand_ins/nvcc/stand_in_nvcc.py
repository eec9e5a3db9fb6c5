"""CUDA_HOME is this folder, whose nvcc knows its version alone."""

import os
from pathlib import Path

os.environ["CUDA_HOME"] = str(Path(__file__).resolve().parent)
