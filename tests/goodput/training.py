"""A small real training, killed and resumed: python training.py FOLDER STEPS. Its lines are those of pytorch/examples.

What it did when is written to FOLDER/truth.jsonl, which no test lets evalsuite see.
"""

import json
import os
import sys
import time
from pathlib import Path

import numpy

BATCH, INPUTS, HIDDEN, CLASSES = 512, 256, 640, 10
CHECKPOINT_EVERY, EVALUATE_EVERY = 15, 20


def main(folder: Path, steps: int) -> None:
    truth = (folder / "truth.jsonl").open("a", buffering=1)

    def now(phase: str, step: int) -> None:
        truth.write(json.dumps({"at_s": time.time(), "phase": phase, "step": step}) + "\n")

    now("begin", 0)
    weights, step = restore(folder / "checkpoint.npz")
    print(f"=> creating model with {sum(one.size for one in weights)} parameters", flush=True)
    random = numpy.random.default_rng(step)
    centres = numpy.random.default_rng(7).normal(size=(CLASSES, INPUTS))
    while step < steps:
        now("data_wait", step + 1)
        begun = time.perf_counter()
        labels = random.integers(CLASSES, size=BATCH)
        images = centres[labels] + random.normal(scale=2.0, size=(BATCH, INPUTS))
        data_s = time.perf_counter() - begun
        now("steps", step + 1)
        loss = train(weights, images, labels)
        step += 1
        took = time.perf_counter() - begun
        print(f"Epoch: [0][{step:3d}/{steps}]\tTime {took:9.6f} ({took:9.6f})\tData {data_s:9.6f} ({data_s:9.6f})\t"
              f"Loss {loss:.4e} ({loss:.4e})", flush=True)  # fmt: skip
        if step % CHECKPOINT_EVERY == 0:
            now("checkpoint", step)
            save(folder, weights, step)
            print(f"=> saved checkpoint of step {step}", flush=True)
            now("data_wait", step + 1)
        if step % EVALUATE_EVERY == 0:
            now("evaluation", step)
            print("Evaluating", flush=True)
            right = numpy.mean([evaluate(weights, centres, random) for _ in range(20)])
            print(f" * Acc@1 {100 * right:.3f}", flush=True)
    now("idle_end", step)
    time.sleep(0.3)
    now("over", step)


def train(weights, images, labels) -> float:
    first, second = weights
    for _ in range(2):
        hidden = numpy.maximum(images @ first, 0)
        scores = hidden @ second
        scores -= scores.max(axis=1, keepdims=True)
        chances = numpy.exp(scores)
        chances /= chances.sum(axis=1, keepdims=True)
        loss = -numpy.log(chances[numpy.arange(len(labels)), labels]).mean()
        chances[numpy.arange(len(labels)), labels] -= 1
        back = (chances @ second.T) * (hidden > 0)
        second -= 1e-4 * hidden.T @ chances
        first -= 1e-4 * images.T @ back
    return float(loss)


def evaluate(weights, centres, random) -> float:
    labels = random.integers(CLASSES, size=BATCH)
    images = centres[labels] + random.normal(scale=2.0, size=(BATCH, INPUTS))
    return float(((numpy.maximum(images @ weights[0], 0) @ weights[1]).argmax(axis=1) == labels).mean())


def restore(file: Path):
    if file.exists():
        with numpy.load(file) as found:
            return [found["first"], found["second"]], int(found["step"])
    random = numpy.random.default_rng(1)
    return [random.normal(scale=0.05, size=(INPUTS, HIDDEN)), random.normal(scale=0.05, size=(HIDDEN, CLASSES))], 0


def save(folder: Path, weights, step: int) -> None:
    with (folder / "new.npz").open("wb") as file:
        numpy.savez_compressed(file, first=weights[0], second=weights[1], step=step)
        os.fsync(file.fileno())
    (folder / "new.npz").rename(folder / "checkpoint.npz")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
