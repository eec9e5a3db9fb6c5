"""Container runtimes: from a command line to the one that runs it in an image.

The node agent starts the container, so it samples from outside; what it fills in (ranks, addresses) is passed on by
name. Sources: the manuals of docker run, podman run, apptainer exec, enroot start, pyxis and ch-run.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalsuite.errors import EvalsuiteError, did_you_mean
from evalsuite.placeholders import INTERFACE_OF_OPEN_MPI, OF_EVERY_RANK, OF_RANK
from evalsuite.runs.store import SCRATCH

Argv = tuple[str, ...]
ON_ITS_NODE = "--nodelist={host}"  # filled by the node agent
SHARED_MEMORY = "16g"  # data loaders and NCCL use /dev/shm; the default is 64 MB
INFINIBAND = Path("/dev/infiniband")
IMAGE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"  # docker's default
# What the node agent sets, and what users set for NCCL.
PASSED_ON = (
    *(*OF_RANK, *OF_EVERY_RANK, *INTERFACE_OF_OPEN_MPI),
    *("CUDA_VISIBLE_DEVICES", "NCCL_DEBUG", "NCCL_IB_HCA", "NCCL_IB_DISABLE"),
)


@dataclass(frozen=True, kw_only=True)
class Wish:
    image: str  # "nvcr.io/nvidia/pytorch:20.03-py3", or a file made of it
    folder: str  # the run's own, mounted for writing
    workdir: str
    readable: tuple[str, ...] = ()  # mounted for reading
    environment: tuple[str, ...] = ()
    gpus: bool = False
    infiniband: bool = False
    user: str = ""  # "1000:1000": who owns what is written

    @property
    def variables(self) -> Argv:
        return tuple(dict.fromkeys((*PASSED_ON, *self.environment)))


@dataclass(frozen=True, kw_only=True)
class Runtime:
    name: str
    program: str
    wrap: Callable[[Wish, Argv], Argv]
    complaint: re.Pattern[str]  # a line in which the runtime says why it started nothing
    digest_argv: Callable[[str], Argv] | None = None  # prints the digest of a present image

    def alone(self, argv: Argv) -> Argv:
        """*argv* of `wrap` without the words that the node agent fills."""
        return tuple(word for word in argv if word != ON_ITS_NODE)

    def find_complaint(self, lines: Iterable[str]) -> str | None:
        return next((line.strip() for line in lines if self.complaint.match(line)), None)


@dataclass(frozen=True, kw_only=True)
class Container:
    runtime: Runtime
    infiniband: bool
    user: str

    @property
    def for_ssh(self) -> Argv:
        """What ssh inside needs of the host: keys, and the name of a user whom the image does not know."""
        keys = Path.home() / ".ssh"
        return (*([str(keys)] if keys.is_dir() else []), *([] if self.user.startswith("0:") else ["/etc/passwd"]))

    def argv(
        self,
        command: Argv,
        *,
        image: str,
        folder: str,
        readable: Sequence[str] = (),
        names: Sequence[str] = (),
        gpus: bool = False,
    ) -> Argv:
        wish = Wish(
            image=image,
            folder=folder,
            workdir=f"{folder}/{SCRATCH}",
            readable=tuple(readable),
            environment=tuple(names),
            gpus=gpus,
            infiniband=self.infiniband,
            user=self.user,
        )
        return self.runtime.wrap(wish, command)


def here(name: str) -> Container:
    return Container(runtime=runtime(name), infiniband=INFINIBAND.exists(), user=f"{os.getuid()}:{os.getgid()}")


def _each(flag: str, values: Sequence[str]) -> Argv:
    return tuple(word for value in values for word in (flag, value))


def _docker_like(program: str, limits: Argv, gpus: Argv, user: Callable[[str], Argv]) -> Callable[[Wish, Argv], Argv]:
    def wrap(wish: Wish, command: Argv) -> Argv:
        mounts = (f"{wish.folder}:{wish.folder}", *(f"{path}:{path}:ro" for path in wish.readable))
        return (
            *(program, "run", "--rm", "--init", "--network", "host", "--ipc", "private"),
            *("--shm-size", SHARED_MEMORY, *limits),
            *(gpus if wish.gpus else ()),
            *(("--device", str(INFINIBAND), "--cap-add", "IPC_LOCK") if wish.infiniband else ()),
            *(user(wish.user) if wish.user else ()),
            *(*_each("--volume", mounts), "--workdir", wish.workdir, *_each("--env", wish.variables)),
            *(wish.image, *command),
        )

    return wrap


def _apptainer(wish: Wish, command: Argv) -> Argv:
    """It runs as the user and sees the host's /dev. Home and environment stay outside: what is wanted goes in as
    APPTAINERENV_*, set by a shell on the node."""
    mounts = (f"{wish.folder}:{wish.folder}", *(f"{path}:{path}:ro" for path in wish.readable))
    image = wish.image if wish.image.endswith(".sif") else f"docker://{wish.image}"
    return (
        *("sh", "-c", PASSING_ON.format(names=" ".join(wish.variables)), "apptainer"),
        *("apptainer", "exec", "--cleanenv", "--no-home", *(("--nv",) if wish.gpus else ())),
        *(*_each("--bind", mounts), "--pwd", wish.workdir, image, *command),
    )


PASSING_ON = (
    'for name in {names}; do eval "[ -z \\"\\${{$name+set}}\\" ] || '
    'export APPTAINERENV_$name=\\"\\$$name\\""; done; exec "$@"'
)


def _enroot(wish: Wish, command: Argv) -> Argv:
    """From an image imported before (`enroot import -o image.sqsh docker://…`), so that N nodes do not pull it.
    Enroot's hooks bring GPUs and InfiniBand."""
    mounts = (f"{wish.folder}:{wish.folder}", *(f"{path}:{path}:ro" for path in wish.readable))
    gpus = ("--env", f"NVIDIA_VISIBLE_DEVICES={'all' if wish.gpus else 'void'}")
    fabric = ("--env", "MELLANOX_VISIBLE_DEVICES=all") if wish.infiniband else ()
    return (
        *("enroot", "start", "--rw", *gpus, *fabric, *_each("--mount", mounts), *_each("--env", wish.variables)),
        *(wish.image, "sh", "-c", f'cd {shlex.quote(wish.workdir)} && exec "$@"', "enroot", *command),
    )


def _pyxis(wish: Wish, command: Argv) -> Argv:
    """A step of its own on the agent's node, since pyxis is a plugin of srun. `--overlap` shares the agent's cores."""
    mounts = (f"{wish.folder}:{wish.folder}", *(f"{path}:{path}:ro" for path in wish.readable))
    return (
        *("srun", "--overlap", "--nodes=1", "--ntasks=1", ON_ITS_NODE),
        f"--container-image={_pyxis_image(wish.image)}",
        *(f"--container-mounts={','.join(mounts)}", f"--container-workdir={wish.workdir}"),
        *(f"--container-env={','.join(wish.variables)}", "--no-container-mount-home", *command),
    )


def _charliecloud(wish: Wish, command: Argv) -> Argv:
    """From a folder or a SquashFS file, without privilege. `ch-fromhost --nvidia` puts what a GPU needs into the image.
    The shell on the node passes only wanted variables, over the image's own (/ch/environment)."""
    mounts = (wish.folder, *wish.readable)
    files = wish.image.endswith((".sqfs", ".squashfs"))
    return (
        *("sh", "-c", INTO_CHARLIECLOUD.format(names=" ".join(wish.variables)), "ch-run"),
        wish.image,
        "--write-fake" if files else "--write",  # to make missing mount points
        *(f"--bind={path}:{path}" for path in mounts),
        *(f"--cd={wish.workdir}", wish.image, "--", *command),
    )


# ch-run strips one pair of single quotes from a value, and stops without $USER.
INTO_CHARLIECLOUD = (
    'image=$1; shift; for name in {names}; do eval "[ -z \\"\\${{$name+set}}\\" ] || '
    'set -- \\"--set-env=$name=\'\\$$name\'\\" \\"\\$@\\""; done; '
    '[ ! -f "$image/ch/environment" ] || set -- --set-env "$@"; export USER="${{USER:-$(id -un)}}"; '
    f'exec ch-run --env-no-expand "--unset-env=*" --set-env=PATH={IMAGE_PATH} --set-env=HOME=/tmp "$@"'
)


def _pyxis_image(image: str) -> str:
    """enroot separates the registry by a # ("nvcr.io#nvidia/pytorch:20.03-py3")."""
    registry, slash, rest = image.partition("/")
    return f"{registry}#{rest}" if slash and "." in registry and not image.startswith("/") else image


UNLIMITED = ("--ulimit", "memlock=-1", "--ulimit", "stack=67108864")  # pinned buffers
OURS = ("--ulimit", "host")  # podman raises no limit beyond the user's


def _rootless(user: str) -> Argv:
    """Root is root inside as well, and podman refuses it keep-id."""
    return () if user.startswith("0:") else ("--userns", "keep-id")


RUNTIMES = {
    runtime.name: runtime
    for runtime in (
        Runtime(
            name="docker",
            program="docker",
            wrap=_docker_like("docker", UNLIMITED, ("--gpus", "all"), lambda user: ("--user", user)),
            # docker: Error response from daemon: pull access denied for lab/net, repository does not exist or …
            complaint=re.compile(r"docker: |Unable to find image|.*[Cc]annot connect to the Docker daemon|Error resp"),
            digest_argv=lambda image: ("docker", "image", "inspect", "--format", '{{join .RepoDigests " "}}', image),
        ),
        Runtime(
            name="podman",
            program="podman",
            wrap=_docker_like("podman", OURS, ("--device", "nvidia.com/gpu=all"), _rootless),
            # Error: initializing source docker://lab/net:1: reading manifest 1 in lab/net: requested access …
            complaint=re.compile(r"Error: "),
            digest_argv=lambda image: ("podman", "image", "inspect", "--format", '{{join .RepoDigests " "}}', image),
        ),
        # FATAL:   Unable to handle docker://lab/net uri: failed to get checksum …
        Runtime(name="apptainer", program="apptainer", wrap=_apptainer, complaint=re.compile(r"FATAL:\s")),
        # [ERROR] No such file or directory: /images/net.sqsh
        Runtime(name="enroot", program="enroot", wrap=_enroot, complaint=re.compile(r"(?:enroot|\[ERROR\])[: ]")),
        # slurmstepd: error: pyxis: failed to import docker image
        Runtime(name="pyxis", program="srun", wrap=_pyxis, complaint=re.compile(r".*error: pyxis: ")),
        # ch-run[8302]: error: can't bind: destination not found: /images/net/data (ch_misc.c:234)
        Runtime(
            name="charliecloud", program="ch-run", wrap=_charliecloud, complaint=re.compile(r"ch-run\[\d+\]: error: ")
        ),
    )
}


def runtime(name: str) -> Runtime:
    if name in RUNTIMES:
        return RUNTIMES[name]
    hint = did_you_mean(name, RUNTIMES)
    raise EvalsuiteError.of("plan.container", name=name, names=RUNTIMES, near=hint)
