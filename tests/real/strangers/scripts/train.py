"""Sleeps and prints a line of its own for each step: python train.py STEPS."""

import sys
import time

for step in range(1, int(sys.argv[1]) + 1):
    began = time.monotonic()
    time.sleep(0.02)
    print(f"tinynet: step {step} took {(time.monotonic() - began) * 1000:.1f} ms, loss {7 / step:.4f}", flush=True)
