"""NVML with names only, for scripts that ask where a device's cores are and can do without an answer."""

import os


class NVMLError(Exception):
    pass


def nvmlInit():
    pass


def nvmlShutdown():
    pass


def nvmlDeviceGetCount():
    """NVML knows no CUDA_VISIBLE_DEVICES."""
    return int(os.environ.get("EVALSUITE_STAND_IN_DEVICES", "1"))


def nvmlDeviceGetHandleByIndex(index):
    return index


def nvmlDeviceGetName(handle):
    return "stand-in"


def nvmlDeviceGetUUID(handle):
    return f"GPU-stand-in-{handle}"


def nvmlDeviceGetCpuAffinity(handle, words):
    """Every core is as near as any other."""
    return [2**64 - 1] * words
