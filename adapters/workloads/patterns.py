"""A task of CIFAR-10's size whose best accuracy is known: ten patterns in noise, some labels wrong.

docs/evidence.md#convergence. Images, labels and first weights are made by NumPy, the same in every framework.
"""

import argparse
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import common
import numpy

CLASSES, SIDE, BLOCK, FILTERS = 10, 32, 4, 16
SIGNAL = 4.0
WRONG = 0.1
LEARNING_RATE = 0.004
STEPS_PER_EPOCH = 10
VALIDATION = 4000
CHECKPOINT = "checkpoint.npz"
STOP_AT = "PATTERNS_STOP_AT"  # a step at which the training is killed, to try how it resumes
FIRST_ATTEMPT = "PATTERNS_FIRST_ATTEMPT"
Weights = Mapping[str, numpy.ndarray]


class Trainer(Protocol):
    def step(self, images: numpy.ndarray, labels: numpy.ndarray) -> float: ...

    def classes(self, images: numpy.ndarray) -> numpy.ndarray: ...

    def state(self) -> dict[str, numpy.ndarray]: ...

    def restore(self, state: Weights) -> None: ...


def arguments() -> argparse.Namespace:
    parser = common.parser("a small network on patterns in noise", "images")
    parser.add_argument("--seed", type=int, required=True, help="of images, labels and first weights")
    parser.add_argument("--scratch", type=Path, required=True, help="folder of checkpoints")
    return parser.parse_args()


def best_accuracy() -> float:
    """P(N(d, 1) exceeds nine of N(0, 1)) by the midpoint rule, on labels of which some are wrong."""
    points = (numpy.arange(200_000) + 0.5) / 200_000 * 16 - 8 + SIGNAL / 2
    below = numpy.array([0.5 * math.erfc(-point / math.sqrt(2)) for point in points])
    density = numpy.exp(-((points - SIGNAL) ** 2) / 2) / math.sqrt(2 * math.pi)
    right = float((density * below ** (CLASSES - 1)).sum() * 16 / 200_000)
    return (1 - WRONG) * right + WRONG * (1 - right) / (CLASSES - 1)


class Images:
    """Each step has its own."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        coarse = numpy.random.default_rng(common.SEED).normal(size=(CLASSES, SIDE // BLOCK, SIDE // BLOCK, 3))
        fine = coarse.repeat(BLOCK, axis=1).repeat(BLOCK, axis=2).reshape(CLASSES, -1)
        self.patterns = numpy.linalg.qr(fine.T)[0].T * SIGNAL

    def of_step(self, step: int, size: int) -> tuple[numpy.ndarray, numpy.ndarray]:
        return self._images(numpy.random.default_rng([common.SEED, self._seed, step]), size)

    def validation(self) -> tuple[numpy.ndarray, numpy.ndarray]:
        return self._images(numpy.random.default_rng([common.SEED, 0]), VALIDATION)

    def best(self, images: numpy.ndarray) -> numpy.ndarray:
        return (images.reshape(len(images), -1) @ self.patterns.T).argmax(axis=1)

    def _images(self, chance: numpy.random.Generator, size: int) -> tuple[numpy.ndarray, numpy.ndarray]:
        """(images as (image, row, column, channel) in float32, the label of each)."""
        shown = chance.integers(CLASSES, size=size)
        noise = chance.standard_normal((size, SIDE * SIDE * 3), dtype="float32")
        images = (self.patterns[shown] + noise).astype("float32").reshape(size, SIDE, SIDE, 3)
        others = (shown + chance.integers(1, CLASSES, size=size)) % CLASSES
        return images, numpy.where(chance.random(size) < WRONG, others, shown).astype("int32")


def first_weights(seed: int) -> dict[str, numpy.ndarray]:
    chance = numpy.random.default_rng([common.SEED, seed, 0, 1])
    inside, features = BLOCK * BLOCK * 3, (SIDE // BLOCK) ** 2 * FILTERS
    shapes = {"kernel": (BLOCK, BLOCK, 3, FILTERS), "linear": (features, CLASSES)}
    scales = {"kernel": math.sqrt(2 / inside), "linear": math.sqrt(1 / features)}
    return {name: (chance.normal(size=shape) * scales[name]).astype("float32") for name, shape in shapes.items()}


def train(framework: str, version: str, known: argparse.Namespace, trainer: Callable[[Weights], Trainer]) -> None:
    if STOP_AT in os.environ and FIRST_ATTEMPT not in os.environ:
        _first_attempt()
    common.announce_case(framework, version, known, 1, "patterns_cifar10", image_size=SIDE)
    images = Images(known.seed)
    validation, labels = images.validation()
    best_here = float((images.best(validation) == labels).mean())
    common.announce(
        run_seed=known.seed, best_top1=f"{100 * best_accuracy():.3f}", best_top1_here=f"{100 * best_here:.3f}"
    )
    ours, done = trainer(first_weights(known.seed)), 0
    if (file := known.scratch / CHECKPOINT).exists():
        with numpy.load(file) as saved:
            state = dict(saved)
        done = int(state.pop("step"))
        ours.restore(state)
        common.announce(resumed_after_step=done)
    for step in range(done + 1, known.steps + 1):
        begun = time.perf_counter()
        loss = common.finite(ours.step(*images.of_step(step, known.batch_size)), step)
        print(f"reference training: step={step} loss={loss:.6f} seconds={time.perf_counter() - begun:.6f}", flush=True)
        if step % STEPS_PER_EPOCH == 0:
            right = float((ours.classes(validation) == labels).mean())
            print(f"reference training: epoch={step // STEPS_PER_EPOCH} validation_top1={100 * right:.3f}", flush=True)
            _save(known.scratch, ours.state(), step)
        if FIRST_ATTEMPT in os.environ and step == int(os.environ[STOP_AT]):
            os.kill(os.getpid(), signal.SIGKILL)


def _first_attempt() -> None:
    ended = subprocess.run([sys.executable, *sys.argv], env={**os.environ, FIRST_ATTEMPT: "1"}, check=False)
    if ended.returncode != -signal.SIGKILL:
        sys.exit(f"the first attempt ended with {ended.returncode}, not by the signal")


def _save(folder: Path, state: Weights, step: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "new.npz").open("wb") as file:
        numpy.savez(file, step=numpy.int64(step), **state)
    (folder / "new.npz").rename(folder / CHECKPOINT)
