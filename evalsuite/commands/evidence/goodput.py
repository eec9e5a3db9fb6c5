"""`evalsuite goodput`: where the time of a training went that was stopped and resumed, from its logs as they are."""

import argparse

from evalsuite.commands.options import search_paths
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import aligned, note, print_json
from evalsuite.core.errors import Exit
from evalsuite.logs import catalogue, goodput
from evalsuite.logs.goodput import BUCKETS, TimeSpan

MOST_CITED = 3


def run(arguments: argparse.Namespace) -> int:
    attempts = goodput.read(arguments.folders, catalogue.known(search_paths(arguments)), arguments.dialect)
    spans = goodput.divide(attempts)
    seconds, whole = goodput.totals(spans), attempts[-1].end_s - attempts[0].begin_s
    if arguments.json:
        listed = [vars(span) | {"log": str(span.log)} for span in spans]
        print_json({"seconds": whole, "goodput": seconds["steps"] / whole, "buckets": seconds, "spans": listed})
        return Exit.DONE
    rows = [
        [say(f"goodput.{name}"), f"{seconds[name]:.1f}", f"{seconds[name] / whole:.1%}", _cited(name, spans)]
        for name in BUCKETS
    ]
    headings = [say(f"goodput.{name}") for name in ("bucket", "seconds", "share", "lines")]
    aligned([headings, *rows], ["left", "right", "right", "left"])
    note(say("goodput.sum", seconds=f"{whole:.1f}", n=len(attempts), share=f"{seconds['steps'] / whole:.1%}"))
    return Exit.DONE


def _cited(bucket: str, spans: list[TimeSpan]) -> str:
    longest = sorted((span for span in spans if span.bucket == bucket), key=lambda span: -span.seconds)
    named = [f"{span.log.parent.name}:{span.first}–{span.last}" for span in longest[:MOST_CITED]]
    return ", ".join([*named, *([f"+{len(longest) - MOST_CITED}"] if len(longest) > MOST_CITED else [])])
