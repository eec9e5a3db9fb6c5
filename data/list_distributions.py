"""Prints distribution → version, and which packages of its arguments are not there, as JSON: run by the Python of a
container image or an environment, whichever that is."""

import importlib.util
import json
import sys

try:
    from importlib.metadata import distributions

    found = {each.metadata["Name"]: each.version for each in distributions() if each.metadata["Name"]}
except ImportError:  # before Python 3.8
    import pkg_resources

    found = {each.project_name: each.version for each in pkg_resources.working_set}
absent = [name for name in sys.argv[1:] if importlib.util.find_spec(name) is None]
print(json.dumps({"distributions": found, "absent": absent}))
