"""Lets JAX's programs for GPUs train on a CPU, which is as many devices as are visible."""

import os

VISIBLE = os.environ.get("CUDA_VISIBLE_DEVICES")
DEVICES = os.environ.get("EVALSUITE_STAND_IN_DEVICES", "1") if VISIBLE is None else str(len(VISIBLE.split(",")))
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=" + DEVICES
