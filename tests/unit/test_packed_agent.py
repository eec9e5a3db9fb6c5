"""The node agent as one file holds all that it imports."""

import ast

from evalsuite import paths
from evalsuite.launch import packed


def imported(tree):
    """The modules of evalsuite that a file imports when it is loaded itself."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "evalsuite":
            for alias in node.names:
                place = paths.PACKAGE.parent / node.module.replace(".", "/") / alias.name
                inner = place.with_suffix(".py").is_file() or place.is_dir()
                yield f"{node.module}.{alias.name}" if inner else node.module


def test_the_packed_agent_lacks_no_module_that_it_imports():
    held = dict(packed.contents())
    modules = {name.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".") for name in held}

    lacking = {
        (name, module)
        for name, source in held.items()
        if name.endswith(".py")
        for module in imported(ast.parse(source.read_text("utf-8")))
        if module not in modules
    }

    assert len(modules) > 40
    assert lacking == set()
