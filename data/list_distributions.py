"""Prints distribution → version as JSON: run by the Python of a container image, whichever that is."""

import json

try:
    from importlib.metadata import distributions

    found = {each.metadata["Name"]: each.version for each in distributions() if each.metadata["Name"]}
except ImportError:  # before Python 3.8
    import pkg_resources

    found = {each.project_name: each.version for each in pkg_resources.working_set}
print(json.dumps(found))
