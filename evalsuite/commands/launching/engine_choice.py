"""The engine that `--engine`, `--hosts` and their options ask for."""

import argparse
import os
from dataclasses import replace

from evalsuite.commands.options import read_hosts
from evalsuite.core.errors import EvalsuiteError
from evalsuite.launch.remote import allocations, forwarded_environment
from evalsuite.plan import engines, over_hosts
from evalsuite.plan.engines import Engine
from evalsuite.plan.hosts import Host
from evalsuite.schedulers import SCHEDULERS

KUBERNETES = "kubernetes"
OF_HOSTS = ("via", "interface")  # options that mean nothing without hosts


def engine(arguments: argparse.Namespace) -> Engine:
    """The engine that *arguments* ask for. Raises EvalsuiteError with what does not go together."""
    named = read_hosts(arguments)
    if named and arguments.engine not in (None, engines.HOSTS):
        raise EvalsuiteError.of("commands.hosts_engine", name=arguments.engine)
    if named:
        return _ssh_engine(named, arguments)
    if arguments.engine == engines.HOSTS:
        raise EvalsuiteError.of("commands.hosts_absent")
    if given := next((option for option in OF_HOSTS if getattr(arguments, option)), None):
        raise EvalsuiteError.of("commands.hosts_needed", option=given)
    if scheduler := SCHEDULERS.get(arguments.engine):
        return allocations.engine(scheduler, os.environ)
    if arguments.engine == KUBERNETES:
        if not hasattr(arguments, "commands"):  # of `plan`, and of `submit`
            raise EvalsuiteError.of("commands.kubernetes_submit")
        return Engine(name=KUBERNETES, wrap=engines.ENGINES["local"].wrap)  # one agent a pod
    engine = engines.engine(arguments.engine or "local", (*SCHEDULERS, KUBERNETES))
    if engine.name == "mpi":  # mpirun hands no variable of this shell to other nodes
        variables = forwarded_environment.forwarded_variables(os.environ, None)
        return replace(engine, handed=lambda nodes, folder: variables)
    return engine


def _ssh_engine(named: tuple[Host, ...], arguments: argparse.Namespace) -> Engine:
    via = over_hosts.transport(forwarded_environment.with_version(arguments.via or "ssh"))
    options = os.environ.get(via.ssh_options_in or "", "")
    ways = over_hosts.Ways(interface=arguments.interface, root=os.geteuid() == 0, ssh_options=options)
    return over_hosts.engine(
        named, via, handed=forwarded_environment.forwarded_variables(os.environ, arguments.interface), ways=ways
    )
