"""Leaves a child in a session of its own and hangs: what a timeout must end."""

import os
import subprocess
import sys
import time

SLEEPS = f"import time; time.sleep(600)  # left behind in {os.getcwd()!r}"
subprocess.Popen([sys.executable, "-c", SLEEPS], start_new_session=True)
time.sleep(600)
