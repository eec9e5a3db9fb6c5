"""PyTorch for the CPU under the stand-ins: a program for a GPU trains, and says so in its own words."""

import os
import subprocess
import textwrap

import pytest

from evalsuite import paths, registry
from evalsuite.launch.provision import virtualenvs

STAND_INS = paths.ADAPTERS / "stand_ins"
DEVICES = """
    import torch

    assert torch.cuda.is_available() and torch.cuda.device_count() == 2
    layer = torch.nn.Linear(3, 3).cuda()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    with torch.cuda.stream(torch.cuda.Stream()):
        inputs = torch.ones(2, 3, device=torch.device("cuda", 1)).to("cuda:0").cuda(0).to(1)
        output = layer(inputs.new_ones(2, 3, device="cuda"))
    end.record()
    torch.cuda.synchronize()
    print(output.type(), torch.cuda.FloatTensor([1.0]).item(), begin.elapsed_time(end) > 0)
"""
PRECISION = """
    import torch

    layer = torch.nn.Linear(3, 3).to("cuda")
    scaler = torch.amp.GradScaler("cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        output = layer(torch.ones(2, 3))
    scaler.scale(output.sum()).backward()
    print(output.dtype, scaler.get_scale(), layer.weight.grad.sum().item())
"""
GROUP = """
    import torch

    torch.distributed.init_process_group("nccl", init_method="tcp://127.0.0.1:0", rank=0, world_size=1)
    torch.cuda.set_device(0)
    layer = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 3).cuda(), device_ids=[0], output_device=0)
    layer(torch.ones(2, 3).cuda()).sum().backward()
    loader = torch.utils.data.DataLoader([1, 2], pin_memory=True)
    print(torch.distributed.get_backend(), layer.module.weight.grad.sum().item(), len(list(loader)))
"""
APEX = """
    import torch
    from apex.optimizers import FusedLAMB
    import fused_mix_prec_layer_norm_cuda as kernel

    torch.manual_seed(1)
    weight = torch.nn.Parameter(torch.tensor([3.0, 4.0]))
    optimiser = FusedLAMB([weight], lr=0.1, weight_decay=0.0)
    weight.grad = torch.tensor([0.3, 0.4])
    optimiser.step()
    print([round(value, 3) for value in weight.tolist()])
    inputs, scale, shift = torch.randn(2, 4, requires_grad=True), torch.ones(4), torch.zeros(4)
    output = torch.nn.functional.layer_norm(inputs, (4,), scale, shift)
    output.pow(3).sum().backward()
    same, mean, inverse = kernel.forward_affine(inputs.detach(), (4,), scale, shift, 1e-5)
    gradient = 3 * same.pow(2)
    found, _, _ = kernel.backward_affine(gradient, mean, inverse, inputs.detach(), (4,), scale, shift, 1e-5)
    print(torch.allclose(same, output), torch.allclose(found, inputs.grad, atol=1e-5))
"""


@pytest.fixture(scope="module")
def python():
    return virtualenvs.ensure(registry.discover()["pytorch"].recipe("reference-face-tiny-split"), progress=print)


@pytest.mark.real
@pytest.mark.parametrize(
    ("program", "says"),
    [
        (DEVICES, ["torch.cuda.FloatTensor 1.0 True"]),
        (PRECISION, ["torch.bfloat16 1.0 18.0"]),
        (GROUP, ["gloo 18.0 2"]),
        (APEX, ["[2.9, 3.9]", "True True"]),
    ],
    ids=["devices", "precision", "group", "apex"],
)
def test_a_program_for_a_gpu_trains_on_the_cpu(python, program, says):
    environment = {
        **{name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"},
        "EVALSUITE_STAND_INS": "torch,apex",
        "EVALSUITE_STAND_IN_DEVICES": "2",
        "PYTHONPATH": os.pathsep.join(str(STAND_INS / name) for name in ("hook", "torch", "apex")),
    }

    ran = subprocess.run(
        [python, "-W", "ignore", "-c", textwrap.dedent(program)], env=environment, capture_output=True, text=True
    )

    assert ran.stdout.splitlines() == says, ran.stderr
