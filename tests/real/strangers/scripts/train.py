"""Sleeps and prints a line of its own for each step: python train.py STEPS."""

import sys
import time

ended = time.monotonic()
for step in range(1, int(sys.argv[1]) + 1):
    time.sleep(0.02)
    seconds, ended = time.monotonic() - ended, time.monotonic()  # with the printing of the step before
    print(f"tinynet: step {step} took {seconds * 1000:.1f} ms, loss {7 / step:.4f}", flush=True)
