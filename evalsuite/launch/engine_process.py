"""The process of an engine, which ends with us and with all that it has started."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO

from evalsuite.machine import process_tree

TERMINATE_S = 15.0  # between asking the agent to end and killing it


def start_process(
    line: Sequence[str], environment: Mapping[str, str], output: IO[bytes], folder: Path | None = None
) -> subprocess.Popen[bytes]:
    """Raises OSError if there is no such program."""
    return subprocess.Popen(
        line,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # Ctrl-C reaches us alone; we end the agent in order
        preexec_fn=partial(_end_with, os.getpid()),
    )


def end_process(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    if process.poll() is not None:
        return
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):
        descendants = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)  # the agent ends its own tree
        try:
            process.wait(TERMINATE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for descendant in descendants:
            with contextlib.suppress(psutil.NoSuchProcess):
                descendant.kill()


def _end_with(evaluator: int) -> None:
    """In the engine's process: asks for SIGTERM when *evaluator* dies, since mpirun and mpiexec would go on."""
    process_tree.be_told_of_parents_death(signal.SIGTERM)
    if os.getppid() != evaluator:  # it died before the signal was asked for
        os._exit(128 + signal.SIGTERM)
