"""Why a run ended badly: the decisive line after the last sign of training, and what kind of failure it is."""

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evalsuite.messages import Message

REASON_CHARACTERS = 300


@dataclass(frozen=True, kw_only=True)
class Failure:
    """*kind* of failure, and the line that says it."""

    kind: str
    text: str
    line: int

    @property
    def reason(self) -> str:
        """The line as printed, less what looks like a secret."""
        from evalsuite.redaction import redact  # its patterns cost as much as to read a log, and few logs end so

        return Message(
            "logs.failure_line",
            kind=Message(f"logs.failure_{self.kind.replace(' ', '_')}"),
            line=self.line,
            text=redact(self.text),
        )


# The decisive line is the first of the best-informed rank that has one: a launcher's obituary comes last in
# the log and says least, and after one rank runs out of memory the others report broken connections.
_RANKS: tuple[tuple[tuple[str, bytes], ...], ...] = (
    (
        (
            "out of memory",
            # torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB (GPU 0; 10.91 GiB total …
            # cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 2,048 bytes
            # tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor …
            # W … bfc_allocator.cc:245] Allocator (GPU_0_bfc) ran out of memory … not a failure   ← survived
            rb"OutOfMemory|CUDA out of memory|CUDA error: out of memory|ResourceExhausted(?:Error)?\b|OOM when alloc"
            rb"|cudaErrorMemoryAllocation|ALLOC_FAILED|std::bad_alloc|\bMemoryError\b|oom[-_]kill|Out of memory:"
            # RuntimeError: [enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: …
            rb"|Out of memory error on GPU|cudaMalloc failed: out of memory"
            rb"|DefaultCPUAllocator: (?:can't allocate|not enough)",
        ),
    ),
    (
        (
            "communication",
            # RuntimeError: NCCL error in: ../torch/lib/c10d/ProcessGroupNCCL.cpp:825, unhandled system error
            # [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(…
            # ORTE has lost communication with a remote daemon.
            rb"NCCL error|nccl(?:System|Internal|UnhandledCuda|Remote)Error|caught collective operation timeout"
            rb"|unhandled (?:system|cuda) error|HorovodInternalError|Horovod has been shut down"
            rb"|has lost communication with|MPI_ABORT was invoked|MPI_ERR_|An error occurred in MPI_"
            rb"|Connection (?:reset|closed) by peer|DistNetworkError|DistBackendError",
        ),
        # AttributeError: module 'nvidia.dali.ops' has no attribute 'nvJPEGDecoder'
        ("other dali", rb"module 'nvidia\.dali[\w.]*' has no attribute"),
        # Signal 11 (SIGSEGV) received by PID 3580 · exited on signal 11 (Segmentation fault)
        ("segmentation fault", rb"[Ss]egmentation fault|SIGSEGV|\bsignal 11\b"),
        ("aborted", rb"Fatal Python error|SIGABRT|core dumped|\bsignal 6\b|terminate called after throwing"),
    ),
    (("timed out", rb"DUE TO TIME LIMIT|\[rc=124 wall=|TimeoutExpired|Job timed out"),),
    (
        (
            "killed",
            # slurmstepd: error: *** STEP 123.0 ON node7 CANCELLED AT 2021-05-26T17:04:05 ***
            # SignalException: Process 17688 got signal: 1
            rb"CANCELLED AT|\bSIGKILL\b|\bsignal 9\b|got signal: \d+|received SIGTERM|\bSIGTERM\b|death signal"
            rb"|(?m:^\s*Killed\s*$)|Killing subprocess",
        ),
    ),
    (
        (
            "container",
            # docker: Error response from daemon: pull access denied for lab/net, repository does not exist or …
            # Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?
            # Error: initializing source docker://lab/net:1: reading manifest 1 in lab/net: requested access …
            # FATAL:   Unable to handle docker://lab/net uri: failed to get checksum …
            # slurmstepd: error: pyxis: failed to import docker image
            rb"Error response from daemon|[Cc]annot connect to the Docker daemon|failed to connect to the docker API"
            rb"|Error: (?:initializing source|short-name|unable to copy from source) |error: pyxis: "
            rb"|^FATAL:\s.*(?:uri:|image|container)|executable file not found in \$PATH",
        ),
    ),
    # train.py: error: unrecognized arguments: --num-warmup-batches 1
    (("wrong options", rb"^[\w./-]+: error: (?:unrecognized|the following) arguments|^[\w./-]+: error: argument "),),
    (
        (
            "launcher reports failure",
            rb"exited with non-zero status|returned non-zero exit status|a non-zero exit code|ChildFailedError"
            rb"|\[rc=(?!0 )-?\d+ wall=|CalledProcessError",
        ),
    ),
)
_SURVIVED = re.compile(rb"not a failure|[Ww]arning|\bWARN\b|\bINFO\b|retry")
_TRACEBACK = b"Traceback (most recent call last)"
# RuntimeError: ImageNet requires GPU support.
_EXCEPTION = re.compile(rb"[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Iteration|Failure|Failed)\b(?=:|\s*$|\\n)")


@functools.cache
def _patterns() -> tuple[tuple[tuple[str, "re.Pattern[bytes]"], ...], ...]:
    """Compiled at the first use: many logs have no lines after their training."""
    return tuple(tuple((kind, re.compile(pattern)) for kind, pattern in rank) for rank in _RANKS)


def failure(lines: Iterable[tuple[int, bytes]]) -> Failure | None:
    """None if nothing in *lines* (number, text) says so."""
    lines = [(number, text) for number, text in lines if text.strip()]
    if not lines:
        return None
    exceptions = list(_exceptions(lines))
    for rank, patterns in enumerate(_patterns()):
        found = [hit for kind, pattern in patterns if (hit := _first(lines, kind, pattern))]
        if rank == 1:
            found += exceptions[:1]  # an exception says as much as a broken connection: the earlier one wins
        if found:
            return min(found, key=lambda hit: hit.line)
    return None


def _first(lines: list[tuple[int, bytes]], kind: str, pattern: "re.Pattern[bytes]") -> Failure | None:
    for number, text in lines:
        if pattern.search(text) and not _SURVIVED.search(text):
            return Failure(kind=kind, text=shown(text), line=number)
    return None


def _exceptions(lines: list[tuple[int, bytes]]) -> Iterator[Failure]:
    """The last line of each traceback, in the column where it began."""
    column, said = -1, None
    for number, text in lines:
        at = text.find(_TRACEBACK)
        if at >= 0:
            column, said = at, (number, text)
        elif column >= 0:
            match = _EXCEPTION.match(text, column)
            if match:
                yield Failure(kind=_kind(match[0]), text=shown(text[column:]), line=number)
                column, said = -1, None
    if said is not None:
        yield Failure(kind="Python exception", text=shown(said[1]), line=said[0])


def _kind(name: bytes) -> str:
    return "interrupted" if name.endswith((b"KeyboardInterrupt", b"SystemExit")) else "Python exception"


def shown(text: bytes) -> str:
    """As a sentence may quote it: no control characters, not too long."""
    plain = "".join(c if c.isprintable() else " " for c in text.decode("utf-8", "replace")).strip()
    return plain if len(plain) <= REASON_CHARACTERS else plain[: REASON_CHARACTERS - 1] + "…"
