"""`evalsuite agent`: the node agent in one file, for nodes on which evalsuite is not installed."""

import argparse

from evalsuite.errors import Exit

HELP = "pack the node agent into one file that runs with Python alone"
EXAMPLES = """  evalsuite agent --pack agent.pyz
  python3 agent.pyz sample -o out -- python train.py
  evalsuite compare --hosts gpu01,gpu02 --agent /scratch/agent.pyz
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from pathlib import Path

    parser.add_argument("--pack", metavar="FILE", type=Path, required=True, help="the file to write, such as agent.pyz")


def run(arguments: argparse.Namespace) -> int:
    from evalsuite.commands.speech import say
    from evalsuite.launch import packed

    size = packed.write(arguments.pack)
    print(say("agent.packed", file=arguments.pack, kilobytes=round(size / 1000)))
    return Exit.DONE
