"""Apex's extension of that name (csrc/megatron): a weight's gradient is added to what was accumulated before."""

import torch


def wgrad_gemm_accum_fp32(inputs, gradient, accumulated):
    with torch.no_grad():
        accumulated.add_(gradient.t().matmul(inputs).to(accumulated.dtype))


wgrad_gemm_accum_fp16 = wgrad_gemm_accum_fp32
