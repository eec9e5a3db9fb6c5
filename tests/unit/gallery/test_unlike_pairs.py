"""Ways to have unlike runs ranked: the run folders that did it, edited from recorded ones, and what is said now."""

import json
import shutil

import pytest

from evalsuite.core import paths
from evalsuite.report.book.book import Book
from evalsuite.report.sections.fairness import fairness as matrix
from evalsuite.results.compare import decisions, fairness
from evalsuite.results.evaluation import evaluate
from evalsuite.results.measure.summary import valid
from evalsuite.runs.store import Store
from tests import sources

(RECORDED,) = (paths.DATA / "recorded").glob("pytorch-*-1x2")
CASE = RECORDED.name.replace("pytorch", "{framework}")
PAIR = ("pytorch", "tensorflow")


def flags(*words):
    def edited(command):
        command["command"] += words
        command["argv"] += words

    return "command", edited


def recipe(**facts):
    def edited(command):
        command["recipe"]["facts"] |= facts

    return "command", edited


def variable(**set_):
    def edited(environment):
        environment["environment_variables"] |= set_

    return "environment", edited


@pytest.fixture
def pair(tmp_path):
    """The evaluation of two frameworks' recorded runs, of which PyTorch's are edited."""

    def evaluate_edited(*edits):
        for framework in PAIR:
            name = CASE.format(framework=framework)
            shutil.copytree(paths.DATA / "recorded" / name, tmp_path / name)
            for file in (tmp_path / name).glob("r*/command.json"):  # which the journal, that is not here, would hold
                file.write_text(json.dumps({**json.loads(file.read_text()), "campaign": None}))
        for kind, edited in edits:
            for file in sorted((tmp_path / CASE.format(framework="pytorch")).glob(f"r*/{kind}*.json")):
                if edited is None:
                    file.unlink()
                    continue
                document = json.loads(file.read_text(encoding="utf-8"))
                edited(document)
                file.write_text(json.dumps(document), encoding="utf-8")
                for agent in file.parent.glob("agent.*.json") if kind == "command" else ():  # which started it so
                    agent.write_text(json.dumps(json.loads(agent.read_text()) | {"command": document["command"]}))
        return evaluate(Store(tmp_path))

    return evaluate_edited


def ranked(evaluation):
    members = fairness.groups(valid(evaluation.summaries), fairness.FRAMEWORKS)
    return [result for each in members if (result := decisions.rank(each)).known]


def standing(evaluation):
    (comparison,) = matrix.comparisons(Book(evaluation=evaluation))
    return comparison.standing, [row.rule.key for row in (*comparison.apart, *comparison.untold)]


@pytest.mark.parametrize("row", sources.table("unlike_pairs.toml")["edits"])
def test_what_makes_two_runs_unlike_keeps_them_apart(pair, row):
    ((kind, given),), *keys = row[0].items(), *row[1:]
    change = pair(flags(*given) if kind == "flags" else {"recipe": recipe, "variable": variable}[kind](**given))

    assert standing(change) == ("not_comparable", keys)
    assert not ranked(change)


def test_runs_of_an_unknown_machine_are_not_ranked(pair):
    change = pair(("environment", None))

    assert len(fairness.groups(valid(change.summaries), fairness.FRAMEWORKS)) == 2
    assert not ranked(change)


def test_the_recorded_pair_may_be_ranked(pair):
    assert standing(pair()) == ("ranked", [])


def test_two_sources_that_contradict_each_other_are_a_finding(pair):
    change = pair(flags("--optimizer", "lamb"))

    (told,) = (f for f in change.findings if f.code == "facts_disagree")  # once for the case, with its other runs
    assert {told.where, *told.also} == {f"{CASE.format(framework='pytorch')}/r{k}" for k in range(3)}
