"""Leaves a child in a session of its own and hangs: what a timeout must end."""

import subprocess
import sys
import time

subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)  # left-behind-toy"], start_new_session=True)
time.sleep(600)
