"""Apex's kernels in plain PyTorch: what csrc/multi_tensor_*.cu and csrc/layer_norm_cuda*.cu of NVIDIA/apex compute."""

import torch


def l2norm(tensors, per_tensor=False):
    """(norm of all together, norm of each or None), each of one dimension."""
    norms = torch.stack([tensor.detach().float().norm() for tensor in tensors])
    return norms.norm().reshape(1), norms if per_tensor else None


def scale(sources, targets, factor):
    with torch.no_grad():
        for source, target in zip(sources, targets):
            target.copy_(source * factor)


def axpby(a, xs, b, ys, targets):
    with torch.no_grad():
        for x, y, target in zip(xs, ys, targets):
            target.copy_(a * x + b * y)


def lamb(gradients, parameters, means, squares, *, lr, betas, eps, step, correct_bias, decay, average, decoupled, clip):
    """One step of LAMB in place; *clip* is what the gradients are divided by (multi_tensor_lamb.cu)."""
    first, second = betas
    new = 1 - first if average else 1.0
    with torch.no_grad():
        for gradient, parameter, mean, square in zip(gradients, parameters, means, squares):
            clipped = gradient.float() / clip + (0 if decoupled else decay * parameter)
            mean.mul_(first).add_(new * clipped)
            square.mul_(second).add_((1 - second) * clipped * clipped)
            of_mean = 1 - first**step if correct_bias else 1.0
            of_square = 1 - second**step if correct_bias else 1.0
            update = (mean / of_mean) / ((square / of_square).sqrt() + eps) + (decay * parameter if decoupled else 0)
            parameter.sub_(lr * _trust_ratio(parameter, update, decay) * update)


def _trust_ratio(parameter, update, decay):
    of_parameter, of_update = float(parameter.norm()), float(update.norm())
    return of_parameter / of_update if decay and of_parameter and of_update else 1.0


def layer_norm(input, shape, weight, bias, eps):
    """(output, mean, inverse deviation)"""
    axes = tuple(range(input.dim() - len(shape), input.dim()))
    mean = input.float().mean(axes, keepdim=True)
    inverse = (input.float().var(axes, unbiased=False, keepdim=True) + eps).rsqrt()
    return torch.nn.functional.layer_norm(input, tuple(shape), weight, bias, eps), mean, inverse


def layer_norm_gradients(gradient, input, shape, weight, bias, eps):
    """Of input, weight and bias."""
    with torch.enable_grad():
        leaves = [each.detach().requires_grad_() for each in (input, weight, bias)]
        output = torch.nn.functional.layer_norm(leaves[0], tuple(shape), leaves[1], leaves[2], eps)
        return torch.autograd.grad(output, leaves, gradient)


def softmax(inputs, hidden, factor):
    """*hidden*: where a position must not be seen."""
    scores = (inputs.float() * float(factor)).masked_fill(hidden, -10000.0)
    return torch.softmax(scores, dim=-1).to(inputs.dtype)


def softmax_gradient(gradient, results, factor):
    inner = (gradient * results).sum(-1, keepdim=True)
    return (gradient - inner) * results * float(factor)
