"""Trains nothing: sleeps 20 ms a step and prints as pytorch/examples does."""

import sys
import time

steps = int(sys.argv[1])
ended = time.perf_counter()
for step in range(1, steps + 1):
    time.sleep(0.02)
    now = time.perf_counter()
    seconds, ended = now - ended, now  # with the printing of the step before, as there
    print(
        f"Epoch: [0][{step:3d}/{steps}]\tTime {seconds:6.3f} ({seconds:6.3f})\tData  0.000 ( 0.000)\t"
        f"Loss 7.0000e+00 (7.0000e+00)\tAcc@1   0.00 (  0.00)\tAcc@5   0.00 (  0.00)",
        flush=True,
    )
