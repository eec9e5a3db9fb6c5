"""AdamW in MXNet, which ships the operator (contrib.adamw_update) and no optimiser around it."""

import math

import numpy


def adamw(mx, **settings: float):
    """AdamW as PyTorch and PaddlePaddle have it: epsilon beside the corrected root, decay beside the gradient.

    Each worker updates its own weights (`update_on_kvstore` must be off): the servers know no class of ours.
    """

    class AdamW(mx.optimizer.Optimizer):
        def __init__(self, epsilon: float, beta1: float = 0.9, beta2: float = 0.999, **known: float) -> None:
            super().__init__(**known)
            self.epsilon = epsilon
            # as the operator has them, in float32: the corrections must be those of the same numbers
            self.betas = float(numpy.float32(beta1)), float(numpy.float32(beta2))
            self._scale = None

        def create_state(self, index, weight):
            return tuple(mx.nd.zeros(weight.shape, weight.context, dtype=weight.dtype) for _ in range(2))

        def update(self, index, weight, grad, state) -> None:
            self._update_count(index)
            step, rate = self._index_update_count[index], self._get_lr(index)
            corrected = math.sqrt(1 - self.betas[1] ** step)
            mx.nd.contrib.adamw_update(
                weight,
                grad,
                *state,
                self._scaled_by(weight.context),
                out=weight,
                lr=rate * corrected / (1 - self.betas[0] ** step),
                beta1=self.betas[0],
                beta2=self.betas[1],
                epsilon=self.epsilon * corrected,
                wd=rate * self._get_wd(index),
                eta=1.0,
            )

        def _scaled_by(self, context):
            """What gradients are multiplied by, as an array: it changes only with the scaling of the loss."""
            if self._scale is None or self._scale[0] != self.rescale_grad:
                self._scale = self.rescale_grad, mx.nd.array([self.rescale_grad], context)
            return self._scale[1]

    return AdamW(**settings)
