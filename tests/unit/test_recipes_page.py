"""The page and the evidence that belong to the recipes are those of the recipes as they are."""

import json

import pytest

from evalsuite.contracts import adapter, registry
from evalsuite.contracts.adapter import Command
from evalsuite.core import paths
from evalsuite.core.files import sha256
from evalsuite.runs import archive
from evalsuite.runs.journal import Journal, JournalLine
from evalsuite.runs.store import Store
from tests import sources
from tools import keep_runs, recipes_page, verify_recipes


def official() -> set[str]:
    found = registry.discover().items()
    return {f"{name}/{recipe.name}" for name, each in found for recipe in each.recipes if recipe.kind == "official"}


def test_every_official_recipe_has_its_evidence_and_an_argument_that_was_not_found_is_never_called_checked():
    evidence = json.loads((paths.DATA / "verification.json").read_text())
    checked = {name: facts for name, facts in evidence.items() if facts["level"] == "arguments checked"}

    assert set(evidence) == official()
    assert [name for name, facts in checked.items() if facts["missing"]] == []


def test_what_ran_here_has_a_recorded_run_whose_log_is_untouched():
    evidence = json.loads((paths.DATA / "verification.json").read_text())
    finished = Store(archive.unpack(paths.DATA / "recorded.zip")).finished()
    recorded = {(folder.run().case.id, folder.run().repeat): folder for folder in finished}

    for facts in evidence.values():
        for run in facts.get("ran", ()):
            folder = recorded[run["case"], run["repeat"]]
            hashes = folder.outcome().sha256
            assert hashes == {name: sha256(folder.path / name) for name in hashes}
            assert {log.path.name for log in folder.logs()} <= hashes.keys()


def test_the_page_names_every_recipe_and_every_data_set_that_a_recipe_reads():
    page = recipes_page.page()

    assert all(f"| {name.split('/')[0]} | {name.split('/')[1]} |" in page for name in official())
    assert "| 1; 1: Several processes are joined by NCCL (utils/dist_utils.py:28), which Paddle's build" in page
    assert "| 1; 1: The script trains in one process. |" in page and "| 1, 2; 1, 2 |" in page


def test_paths_are_replaced_and_the_arrival_times_follow_the_text():
    text = b"read /home/me/data/a\nstep 1\n/home/me/data/b\nstep 2\n"
    names = [(b"/home/me/data", b"<data>")]

    new, moved = keep_runs._replaced(text, names)
    arrivals = keep_runs._arrivals("end_byte,at_s\n21,0.1\n28,0.2\n51,0.3\n", moved)

    assert new == b"read <data>/a\nstep 1\n<data>/b\nstep 2\n"
    ends = [int(line.split(",")[0]) for line in arrivals.splitlines()[1:]]
    assert [new[:end].splitlines()[-1] for end in ends] == [b"read <data>/a", b"step 1", b"step 2"]


def test_arguments_are_found_in_the_script_and_in_what_it_imports(tmp_path):
    (tmp_path / "train.py").write_text("import options\nparser.add_argument('-b', '--batch-size', required=True)\n")
    (tmp_path / "options.py").write_text("flags.DEFINE_integer('steps', 1, 'help')\nparser.add_argument('--unused')\n")
    (tmp_path / "c.yaml").write_text("depth: 50\n---\nspeed: of what is described, and is no key\n")

    given = ("--batch-size", "4", "--steps=3", "--speed", "9")
    command = Command(argv=("{checkout}/train.py", "{checkout}/c.yaml", *given))
    [(script, words)] = list(verify_recipes._scripts(command, tmp_path))
    declared = verify_recipes._declared(script, tmp_path, words, command)
    recipe = adapter.Recipe(name="r", model="m", dialect="d", command=lambda case: command)

    assert verify_recipes._names(words) == ["--batch-size", "--steps", "--speed"]
    assert verify_recipes._place("--batch-size", declared, recipe) == "train.py:2"
    assert verify_recipes._place("--steps", declared, recipe) == "options.py:1 (DEFINE)"
    assert verify_recipes._place("--speed", declared, recipe) is None
    assert declared.keys == {"depth": "c.yaml:1"}
    assert list(declared.required) == ["-b|--batch-size"]


SCRIPT = sources.text("recipes_page_script.py.in")


@pytest.mark.parametrize(("words", "wrong"), sources.table("recipes_page.toml")["values"])
def test_a_value_is_of_the_type_and_among_the_choices_of_its_parser(words, wrong, tmp_path):
    (script := tmp_path / "train.py").write_text(SCRIPT)
    declared = verify_recipes._declared(script, tmp_path, words, Command(argv=("{checkout}/train.py", *words)))

    assert list(verify_recipes._wrong_values(words, declared, None)) == wrong


def test_what_cannot_be_had_again_stays_as_it_was_found_while_its_arguments_are_the_same():
    before = {"level": "arguments checked", "date": "2026-01-01", "arguments": {"--a": "x.py:1", "--b": "x.py:2"}}

    assert verify_recipes._as_it_was({"level": "unchecked", "given": {"--a"}}, before) == before
    assert verify_recipes._as_it_was({"level": "unchecked", "given": {"--c"}}, before) == {"level": "unchecked"}
    assert verify_recipes._as_it_was({"level": "arguments checked"}, before) == {"level": "arguments checked"}


@pytest.mark.parametrize(("text", "builds"), sources.table("recipes_page.toml")["builds"])
def test_a_script_that_compiles_beside_its_sources_is_found_in_what_it_imports(text, builds, tmp_path):
    (script := tmp_path / "train.py").write_text("import helpers\n")
    (tmp_path / "helpers.py").write_text(text)
    found = list(verify_recipes._builds(script, tmp_path, Command(argv=("{checkout}/train.py",))))

    assert found == ["helpers.py compiles beside its sources, and the recipe has no builds_in_checkout"] * builds


def test_recorded_runs_keep_the_journal_of_their_attempts_and_no_older_one(tmp_path):
    runs, kept = tmp_path / "runs", tmp_path / "kept"
    for root, name in ((runs, "new"), (kept, "old")):
        (root / "campaigns").mkdir(parents=True)
        (root / "campaigns" / f"{name}.json").write_text("{}")
        started = JournalLine(
            event="started", run="toy/r0", attempt=1, campaign=name, at="2026-11-29T20:00:00.000+00:00"
        )
        Journal(root).note(started)

    keep_runs._keep_journal(runs, kept)

    assert [attempt.campaign for attempt in Journal(kept).attempts()] == ["new"]
    assert [file.name for file in (kept / "campaigns").iterdir()] == ["new.json"]
