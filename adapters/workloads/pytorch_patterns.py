"""Patterns in noise (`patterns.py`) in PyTorch."""

import common
import numpy
import patterns
import torch
from torch.nn import functional


class Trainer:
    def __init__(self, weights: patterns.Weights) -> None:
        self._kernel = torch.tensor(weights["kernel"].transpose(3, 2, 0, 1).copy(), requires_grad=True)
        self._linear = torch.tensor(weights["linear"], requires_grad=True)
        self._optimiser = torch.optim.SGD(
            [self._kernel, self._linear], lr=patterns.LEARNING_RATE, momentum=common.MOMENTUM
        )

    def _scores(self, images: numpy.ndarray) -> torch.Tensor:
        inputs = torch.from_numpy(images).permute(0, 3, 1, 2)
        features = functional.relu(functional.conv2d(inputs, self._kernel, stride=patterns.BLOCK))
        return features.permute(0, 2, 3, 1).flatten(1) @ self._linear

    def step(self, images: numpy.ndarray, labels: numpy.ndarray) -> float:
        loss = functional.cross_entropy(self._scores(images), torch.from_numpy(labels).long())
        self._optimiser.zero_grad()
        loss.backward()
        self._optimiser.step()
        return float(loss)

    def classes(self, images: numpy.ndarray) -> numpy.ndarray:
        with torch.no_grad():
            return self._scores(images).argmax(1).numpy()

    def _held(self) -> dict[str, torch.Tensor]:
        weights = {"kernel": self._kernel, "linear": self._linear}
        moments = {f"{name}_moment": self._optimiser.state[each]["momentum_buffer"] for name, each in weights.items()}
        return weights | moments

    def state(self) -> dict[str, numpy.ndarray]:
        return {name: each.detach().numpy() for name, each in self._held().items()}

    def restore(self, state: patterns.Weights) -> None:
        for name, each in (("kernel", self._kernel), ("linear", self._linear)):
            self._optimiser.state[each]["momentum_buffer"] = torch.tensor(state[f"{name}_moment"])
            each.data = torch.tensor(state[name])


def main() -> None:
    known = patterns.arguments()
    torch.set_num_threads(known.threads)
    patterns.train("pytorch", torch.__version__, known, Trainer)


if __name__ == "__main__":
    main()
