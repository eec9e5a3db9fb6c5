"""The extension of DeepLearningExamples' BERT (lamb_amp_opt/csrc/frontend.cpp), whose rate and step are tensors."""

import amp_C
import apex_kernels

multi_tensor_l2norm = amp_C.multi_tensor_l2norm


def multi_tensor_lamb(
    chunk, overflow, lists, lr, beta1, beta2, eps, step, bias, decay, average, mode, norm, most, nvlamb, found, inverse
):
    if float(found):
        return
    apex_kernels.scale(lists[0], lists[0], float(inverse))
    amp_C.multi_tensor_lamb(
        chunk, overflow, lists, float(lr), beta1, beta2, eps, float(step), bias, decay, average, mode, norm, float(most)
    )
    if len(lists) > 4:
        apex_kernels.scale(lists[1], lists[4], 1.0)
