"""Apex's optimisers in plain PyTorch: Adam, LAMB and SGD."""

import apex_kernels
import torch

__all__ = ["FusedAdam", "FusedLAMB", "FusedSGD"]


class FusedAdam(torch.optim.AdamW):
    """AdamW unless `adam_w_mode=False`, as in Apex."""

    def __init__(
        self,
        params,
        lr=1e-3,
        bias_correction=True,
        betas=(0.9, 0.999),
        eps=1e-8,
        adam_w_mode=True,
        weight_decay=0.0,
        amsgrad=False,
        **kwargs,
    ):
        if not adam_w_mode or not bias_correction or amsgrad:
            raise RuntimeError("the stand-in for Apex's Adam has AdamW with bias correction only")
        torch.optim.AdamW.__init__(self, params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)


class FusedSGD(torch.optim.SGD):
    def __init__(self, params, lr, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, **kwargs):
        torch.optim.SGD.__init__(self, params, lr, momentum, dampening, weight_decay, nesterov)


class FusedLAMB(torch.optim.Optimizer):
    def __init__(
        self,
        params,
        lr=1e-3,
        bias_correction=True,
        betas=(0.9, 0.999),
        eps=1e-6,
        weight_decay=0.01,
        amsgrad=False,
        adam_w_mode=True,
        grad_averaging=True,
        set_grad_none=True,
        max_grad_norm=1.0,
        **kwargs,
    ):
        defaults = {"lr": lr, "bias_correction": bias_correction, "betas": betas, "eps": eps}
        defaults.update(weight_decay=weight_decay, grad_averaging=grad_averaging, max_grad_norm=max_grad_norm)
        torch.optim.Optimizer.__init__(self, params, defaults)
        self._decoupled = adam_w_mode

    def step(self, closure=None):
        loss = closure() if closure is not None else None
        norm, _ = apex_kernels.l2norm([each.grad for each in self._trained()])
        for group in self.param_groups:
            parameters = [param for param in group["params"] if param.grad is not None]
            group["step"] = group.get("step", 0) + 1
            apex_kernels.lamb(
                [parameter.grad for parameter in parameters],
                [parameter.data for parameter in parameters],
                [self._moment(parameter, "exp_avg") for parameter in parameters],
                [self._moment(parameter, "exp_avg_sq") for parameter in parameters],
                lr=group["lr"],
                betas=group["betas"],
                eps=group["eps"],
                step=group["step"],
                correct_bias=group["bias_correction"],
                decay=group["weight_decay"],
                average=group["grad_averaging"],
                decoupled=self._decoupled,
                clip=max(float(norm) / group["max_grad_norm"], 1.0),
            )
        return loss

    def _trained(self):
        return [param for group in self.param_groups for param in group["params"] if param.grad is not None]

    def _moment(self, parameter, name):
        return self.state[parameter].setdefault(name, torch.zeros_like(parameter.data))
