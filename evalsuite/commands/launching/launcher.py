"""The launcher of a request: what is the same for every run of it."""

from evalsuite.commands.launching.request import Options
from evalsuite.commands.printing.i18n import say
from evalsuite.commands.printing.terminal import note
from evalsuite.launch.campaign import Environments
from evalsuite.launch.runner import Launcher
from evalsuite.logs import catalogue
from evalsuite.plan.engines import Engine
from evalsuite.plan.spec import Spec


def make_launcher(spec: Spec, engine: Engine, options: Options, ready: Environments) -> Launcher:
    return Launcher(
        engine=engine,
        timeout_s=spec.timeout_s,
        pythons=ready.pythons,
        packages=ready.packages,
        dialects=catalogue.known(options.search_paths),
        stop_after_window=spec.stop_after_window,
        share=options.share,
        waits=lambda words: note(say("run.waiting", who=words)),
    )
