"""Whether a run's own records were changed while it went on, by its script or by others."""

from collections.abc import Mapping

from evalsuite.errors import EvalsuiteError
from evalsuite.messages import Message
from evalsuite.runs.store import RunFolder


def find_changes(folder: RunFolder, asked: Mapping[str, str], nodes: int) -> str | None:
    """*asked*: name → hash at the start. A record that no agent wrote counts too: it would be read."""
    changed = folder.others(asked)
    try:
        agents = folder.agents()
    except EvalsuiteError as error:
        return Message("launch.file_changed", error=error)
    held: dict[str, str] = {}
    for agent in agents.values():
        held |= agent.sha256 or {}
    changed += folder.others(held)
    if len(agents) > nodes:
        changed += tuple(f"agent.{host}.json" for host in agents if not folder.environment_path(host).is_file())
        changed = changed or ("agent.*.json",)
    if len(agents) == nodes and all(agent.sha256 is not None for agent in agents.values()):
        changed += tuple(name for name in folder.recorded() if name not in held)
    if not changed:
        return None
    return Message("launch.run_changed", files=dict.fromkeys(changed))
