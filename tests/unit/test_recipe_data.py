"""Where the official scripts look for their data: below the user's data root, whatever the case."""

import re
import subprocess

import pytest

from evalsuite.contracts import registry
from evalsuite.plan import data_sets
from tools.recipe_cases import base, points

OFFICIAL = [
    (name, recipe) for name, each in registry.discover().items() for recipe in each.recipes if recipe.kind == "official"
]
IDS = [f"{name}.{recipe.name}" for name, recipe in OFFICIAL]
ABSOLUTE = re.compile(r"(?<![\w.*}/:-])/(?:[\w.-]+/)*[\w.-]+")  # /train_tmp/glint360k
RELATIVE = re.compile(r"(?:^|[=\s\"'])(?:\.{0,2}/|[\w.-]+/)+[\w.*-]+")  # ./assets, ../datasets/x, data/webtext
# a module of the script's own follows; a pod, as kubectl names it
OF_THE_REPOSITORY = {"configs/", "=pod/", "llama3/"}
MADE_BY_THE_SCRIPT = {"synthetic"}  # a value of the fact `data`


def served(framework, recipe):
    far = base(framework, recipe).at_scale(125, 8)
    cases = [case for _, case in points(framework, recipe)] + [far]
    return [case for case in cases if not recipe.refusal(case)]


def words(command):
    """What may be a path: the values of a command, without what is filled in."""
    of_files = [line for text in command.files.values() for line in text.splitlines() if not line.startswith("#")]
    return [
        re.sub(r"\{[a-z_]+\}[^\s\"']*", "{}", token)
        for token in (*command.argv, *command.environment.values(), *of_files)
    ]


@pytest.mark.parametrize(("framework", "recipe"), OFFICIAL, ids=IDS)
def test_no_path_of_a_command_is_another_machines_or_depends_on_where_it_is_started(framework, recipe):
    for case in served(framework, recipe):
        command = recipe.command(case)

        foreign = [each for word in words(command) for each in ABSOLUTE.findall(word)]
        relative = [found.group() for word in words(command) if (found := RELATIVE.search(word))]

        assert foreign == []
        assert [path for path in relative if not path.startswith(tuple(OF_THE_REPOSITORY))] == []


@pytest.mark.parametrize(("framework", "recipe"), OFFICIAL, ids=IDS)
def test_a_script_that_reads_data_is_given_a_data_set_that_is_declared(framework, recipe):
    for case in served(framework, recipe):
        names = data_sets.names(recipe.command(case))

        stated = recipe.stated(case).get("data")
        if stated not in (None, *MADE_BY_THE_SCRIPT):
            assert names, f"the script trains on {stated}, which no data set of the command holds"
        assert set(names) <= data_sets.declared().data_sets.keys()


@pytest.mark.parametrize(("framework", "recipe"), OFFICIAL, ids=IDS)
def test_links_lead_to_data_and_lie_inside_the_folder_of_the_run(framework, recipe):
    for case in served(framework, recipe):
        for name, target in recipe.command(case).links.items():
            assert target.startswith(("{data}/", "{checkout}/"))
            assert not name.startswith("/") and ".." not in name.split("/")


def test_deepspeed_finds_its_hosts_in_a_file_that_is_made_of_the_launchers(tmp_path):
    recipe = registry.discover()["deepspeed"].recipe("gpt2-2020")
    command = recipe.command(base("deepspeed", recipe).at_scale(2, 8))

    shell = [word.replace("{hosts_slots}", "h1:8,h2:8") for word in command.argv[:5]]
    subprocess.run([*shell, "true"], cwd=tmp_path, check=True)

    assert (tmp_path / "hostfile").read_text() == "h1 slots=8\nh2 slots=8\n"
    assert command.argv[command.argv.index("--hostfile") + 1] == "hostfile"
