"""Apex's C extension of that name, as far as the official scripts call it. The first argument is a size of chunks."""

import apex_kernels


def multi_tensor_l2norm(chunk, overflow, lists, per_tensor=False):
    return apex_kernels.l2norm(lists[0], per_tensor)


def multi_tensor_scale(chunk, overflow, lists, factor):
    apex_kernels.scale(lists[0], lists[1], factor)


def multi_tensor_axpby(chunk, overflow, lists, a, b, checked=-1):
    apex_kernels.axpby(a, lists[0], b, lists[1], lists[2])


def multi_tensor_lamb(chunk, overflow, lists, lr, beta1, beta2, eps, step, bias, decay, average, mode, norm, most):
    apex_kernels.lamb(
        *lists[:4],
        lr=lr,
        betas=(beta1, beta2),
        eps=eps,
        step=step,
        correct_bias=bool(bias),
        decay=decay,
        average=bool(average),
        decoupled=mode == 1,
        clip=max(float(norm) / most, 1.0) if most > 0 else 1.0,
    )
