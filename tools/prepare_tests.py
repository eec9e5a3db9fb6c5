"""Installs what the real floor needs from elsewhere than PyPI: a browser, Chinese fonts, a scheduler, a sandbox.

As root on Debian or Ubuntu; elsewhere it names what is missing. Tests without it skip; those in a browser fail where
CI=true.
"""

import os
import shutil
import subprocess
import sys

# command → Debian package
NEEDED = {
    "chromium": "chromium",
    "fc-list": "fontconfig",
    "cc": "gcc",
    "pdftoppm": "poppler-utils",
    "srun": "slurm-client",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "munged": "munge",
    "sshd": "openssh-server",
    "mpirun.openmpi": "openmpi-bin",
    "mpiexec.hydra": "mpich",
    "ch-run": "charliecloud",
    "bwrap": "bubblewrap",
}
PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
# of the golden pictures (docs/decisions.md, 12); a PDF can embed it
CHINESE_FONT, FONTS = "WenQuanYi Micro Hei", ("fonts-wqy-microhei",)


def main() -> int:
    missing = [package for command, package in NEEDED.items() if shutil.which(command, path=PATH) is None]
    missing += [] if has_chinese_font() else FONTS
    if not missing:
        return 0
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        print(
            f"the tests that need {', '.join(missing)} will skip; on Debian: sudo apt-get install {' '.join(missing)}"
        )
        return 0
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", *missing]):
        done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL)
        if done.returncode:
            print(f"{' '.join(command)} failed; the tests that need {', '.join(missing)} will skip.")
            return 0
    return 0


def has_chinese_font() -> bool:
    if shutil.which("fc-list") is None:
        return False
    return bool(subprocess.run(["fc-list", CHINESE_FONT], capture_output=True, text=True).stdout.strip())


if __name__ == "__main__":
    sys.exit(main())
