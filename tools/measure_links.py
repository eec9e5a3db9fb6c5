"""Trains over one, two and three hosts with fast, then slow links: what half precision saves.

python tools/measure_links.py --runs RUNS [--repeats 3] [--fast 2000] [--slow 500] …

Hosts are network namespaces with sshd (tests/namespaces.py), each on the same share of a core (tests/links.py). Needs
root, tc, sshd and half an hour of an idle machine. Then `python tools/keep_runs.py RUNS --to DIR
--pack data/recorded-links.zip`, `make examples`.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HOUSE = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOUSE))

from tests import links, namespaces

ADAPTER = HOUSE / "tools" / "shaped_links" / "pytorch_links.py"
NAMES = ("a", "b", "c")
SCALES = "1x1,2x1,3x1"


@dataclass(frozen=True, kw_only=True)
class Way:
    link: str
    options: tuple[str, ...]


WAYS = (
    Way(link="fast", options=("overlap=on", "fp16_allreduce=off")),
    Way(link="slow", options=("overlap=off", "fp16_allreduce=off")),
    Way(link="slow", options=("overlap=on", "fp16_allreduce=off")),
    Way(link="slow", options=("overlap=on", "fp16_allreduce=on")),
)


def main() -> int:
    options = _parser().parse_args()
    if why := namespaces.sshd_missing() or links.missing():
        print(why, file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends the hosts too
    rates = {"fast": options.fast, "slow": options.slow}
    with contextlib.ExitStack() as stack:
        spaces = stack.enter_context(namespaces.network(*NAMES))
        hosts = list(spaces.values())
        shares = stack.enter_context(links.shares(hosts, options.cores))
        config = stack.enter_context(namespaces.reached_by_ssh(hosts, lambda host: shares[host.name]))
        for repeat in range(1, options.repeats + 1):  # in turn: a slow minute hits all
            for way in WAYS:
                links.shape(hosts, rates[way.link])
                print(f"-- repeat {repeat}: {rates[way.link]} Mbit/s, {', '.join(way.options)}; load {_load()}")
                _train(spaces["a"], config, way, rates[way.link], repeat, options)
    return 0


def _train(host: namespaces.Host, config: Path, way: Way, mbit: int, repeat: int, options) -> None:
    words = ["--adapters", str(ADAPTER), "--frameworks", "pytorch_links", "--models", "resnet50_v1.5"]
    words += ["--recipe", "shaped-links", "--scales", SCALES, "--batch-sizes", str(options.batch)]
    words += ["--precision", "fp32", "--device", "cpu", "--cores-per-device", "1", "--steps", options.steps]
    for option in (f"image_size={options.image_size}", f"link_mbit={mbit}", *way.options):
        words += ["--option", option]
    words += ["--hosts", ",".join(NAMES), "--repeats", str(repeat)]
    line = host.enter(sys.executable, "-m", "evalsuite", "run", *words, "--runs", str(options.runs.resolve()))
    path = os.pathsep.join(filter(None, (str(HOUSE), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, "EVALSUITE_SSH": f"ssh -F {config}"}
    subprocess.run(line, env=environment, cwd=HOUSE, check=False)  # go on without a failed run


def _load() -> str:
    return " ".join(f"{load:.2f}" for load in os.getloadavg())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, required=True, metavar="DIR")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--fast", type=int, default=2000, metavar="MBIT", help="rate of the fast links (2000)")
    parser.add_argument("--slow", type=int, default=500, metavar="MBIT", help="rate of the slow links (500)")
    parser.add_argument("--cores", type=float, default=0.32, metavar="C", help="of each host: three fit into one core")
    parser.add_argument("--batch", type=int, default=8, metavar="B", help="images of each host and step (8)")
    parser.add_argument("--image-size", type=int, default=32, metavar="PX")
    parser.add_argument("--steps", default="2+20", metavar="W+M")
    return parser


if __name__ == "__main__":
    sys.exit(main())
