"""Trains nothing: sleeps 20 ms a step and prints as pytorch/examples does."""

import sys
import time

steps = int(sys.argv[1])
for step in range(1, steps + 1):
    began = time.perf_counter()
    time.sleep(0.02)
    seconds = time.perf_counter() - began
    print(
        f"Epoch: [0][{step:3d}/{steps}]\tTime {seconds:6.3f} ({seconds:6.3f})\tData  0.000 ( 0.000)\t"
        f"Loss 7.0000e+00 (7.0000e+00)\tAcc@1   0.00 (  0.00)\tAcc@5   0.00 (  0.00)",
        flush=True,
    )
