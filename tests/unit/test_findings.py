"""Every rule is declared once, raised somewhere, and says what it found in both languages."""

import ast
import pickle
import re
import tomllib
from dataclasses import FrozenInstanceError, fields, replace
from typing import get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsuite import cli
from evalsuite.core import findings, paths
from evalsuite.core.errors import Exit
from evalsuite.core.findings import RULES
from evalsuite.core.messages import PLACE, places
from evalsuite.core.model import CONSEQUENCES, Finding
from evalsuite.report.text import findings as told
from evalsuite.report.text import numbers, words
from tests import sources
from tests.unit.test_architecture import FILES

SPOKEN = words.read()
HOUSE = paths.DATA.parent
DEVELOPERS = {"rebuild_dlperf": HOUSE / "tools" / "rebuild_dlperf.py"}
# Latin words that a Chinese engineer writes so: our name, terms and units.
LATIN = {
    *("evalsuite", "CPU", "MPI", "CV", "MAD", "Top", "epoch", "AllReduce", "s", "items", "B", "x"),
    *("TFLOP", "MFU", "nan", "GPU", "NCCL", "DEBUG", "InfiniBand", "TCP", "token", "tokens"),
    *("set", "scope", "global", "per", "device"),  # --set scope=per_device
}
EXAMPLES = {  # what a name stands for is the same in every language: digits here, so that words stand out
    **{"count": 17, "resource": "network_receive", "phase": "allreduce", "metric": "validation_top1"},
    **{"method": "arrival times", "option": "batch_per_device", "attribute": "framework_version"},
    **{"fact": "precision", "source": "command_line", "failure": "out of memory"},
    **{"name": "1", "quote": "2", "said": "2"},
}
WRITTEN = re.compile(r"\d+(?:\.\d+)?")  # a number in a sentence
NAMES_WITH_DIGITS = re.compile(r"Top-?[15]|\(D10\)|（D10）|PYTHONUNBUFFERED=1|1x1")


def raised() -> set[str]:
    """The classes that some module makes, or chooses between: not only asks for a limit, or in `isinstance`."""
    found = set()
    for file in {**FILES, **DEVELOPERS}.values():
        if file != FILES["evalsuite.core.findings"]:
            asked = {id(node.value) for node in sources.nodes(file) if isinstance(node, ast.Attribute)}
            for node in sources.nodes(file):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                    asked |= {id(inner) for inner in ast.walk(node)}
            names = (node for node in sources.nodes(file) if isinstance(node, ast.Name | ast.Attribute))
            found |= {getattr(node, "id", getattr(node, "attr", "")) for node in names if id(node) not in asked}
    return found


RAISED = raised()
TESTED = {
    word
    for file in (
        *HOUSE.glob("tests/**/test_*.py"),
        *HOUSE.glob("tests/logs/tables/*.toml"),
        *HOUSE.glob("tests/files/*.toml"),
    )
    if file.name != "test_findings.py"
    for word in re.findall(r"\w+", file.read_text(encoding="utf-8"))
}


def example(rule):
    hints = get_type_hints(rule, include_extras=True)
    made = {}
    for name, kind in findings.kinds(rule).items():
        value = EXAMPLES.get(kind, 0.125)
        made[name] = (value, value) if get_origin(hints[name]) is tuple else value
    return rule(**made)


def values_of(rule):
    """Any finding of *rule*, as hypothesis makes them."""
    hints = get_type_hints(rule, include_extras=True)
    made = {field.name: _any(hints[field.name]) for field in fields(rule) if field.name not in ("where", "also")}
    return st.builds(rule, **made)


def _any(hint):
    if get_origin(hint) is tuple:
        return st.lists(_any(get_args(hint)[0]), max_size=3).map(tuple)
    plain = hint.__origin__
    if plain is int:
        return st.integers()
    if plain is float:
        return st.floats(min_value=-1e300, max_value=1e300)
    return st.text(st.characters()) | st.sampled_from(["other", "gpu", "data", "devices", "{x}", "\ud800", "<b>"])


def test_every_question_code_and_finding_has_its_words_and_nothing_else_has():
    said = {key.rpartition(".")[0] for key in dict(words._flat(tomllib.loads(words.QUESTIONS.read_text("utf-8"))))}
    parts = {f"questions.{number}.{part}" for number in CONSEQUENCES for part in ("title", "said", "cost", "remedy")}
    named = {f"rules.{code}.title" for code in findings.codes()} | {f"findings.{name}" for name in RULES}
    limits = {key for key in said if key.startswith("limits.")}

    assert said - limits == parts | named
    assert limits <= {f"limits.{name}.{limit}" for name, rule in RULES.items() for limit in findings.limits(rule)}


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_every_rule_is_raised_somewhere_and_names_only_its_own_values(rule):
    sentence = SPOKEN.sentence(f"findings.{rule.name}")
    assert {place.removesuffix("_text") for place in places(sentence)} <= set(findings.kinds(rule))
    assert rule.__name__ in RAISED, f"{rule.__name__} is raised nowhere"


def test_ten_questions_are_asked_by_few_codes_each_of_which_answers_one():
    asked = {code: {rule.question for rule in findings.of_code(code)} for code in findings.codes()}
    costly = {rule.code for rule in RULES.values() if not rule.noted and rule.question <= 8}

    for page in ("method.md", "method.zh.md"):
        assert {code for code in asked if f"`{code}`" not in (HOUSE / "docs" / page).read_text("utf-8")} == set()
    assert {question for each in asked.values() for question in each} == set(CONSEQUENCES)
    assert all(len(questions) == 1 for questions in asked.values())
    assert (len(asked) <= 45, len(costly) <= 25) == (True, True)


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_every_rule_has_a_test_that_asks_for_it_and_its_chinese_holds_no_english(rule):
    """By its class, its name or its code, in another file than this."""
    numbered = {rule.code[:3]} if re.match(r"D\d\d", rule.code) else set()
    assert {rule.__name__, rule.name, rule.code, *numbered} & TESTED, f"no test asks for {rule.__name__}"

    said = told.sentence(example(rule), SPOKEN).plain("zh")
    assert set(re.findall(r"[A-Za-z]+", re.sub("`.+?`", "", said))) <= LATIN, said  # but for commands


def test_a_finding_says_what_it_costs_unless_it_is_only_noted():
    steep, mild = findings.SteepDrift(change=0.5), findings.Drift(change=0.07)

    assert told.english(steep).endswith("no single speed describes the window; the value is shown and not ranked")
    assert told.english(mild) == "speed changes by +7.0% from the first third of the window to the last"
    assert (steep.severity, steep.grounds, mild.severity, mild.grounds) == ("flag", "disputed", "note", "clock")


def test_no_finding_is_made_but_of_a_rule():
    calls = [
        room
        for room, file in {**FILES, **DEVELOPERS}.items()
        for node in sources.nodes(file)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding"
    ]

    assert calls == []
    assert {rule.__name__ for rule in Finding.__subclasses__()} == {rule.__name__ for rule in RULES.values()}


def test_no_limit_is_typed_into_a_sentence():
    typed = {
        key: WRITTEN.findall(NAMES_WITH_DIGITS.sub("", PLACE.sub("", sentence)))
        for language in SPOKEN.languages
        for key, sentence in SPOKEN.tables[language].items()
        if key.startswith(("findings.", "rules.", "questions."))
    }

    assert {key: found for key, found in typed.items() if found} == {}


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
def test_any_finding_can_be_told(rule):
    @given(values_of(rule))
    def told_in_both(finding):
        for language in SPOKEN.languages:
            assert told.sentence(finding, SPOKEN).plain(language)

    told_in_both()


def test_a_finding_has_the_fields_of_its_rule_tells_them_apart_and_cannot_be_changed():
    drift = findings.Drift(change=0.1, where="r0")

    assert repr(drift) == "Drift(where='r0', also=(), change=0.1, limit=0.05)"
    assert drift == pickle.loads(pickle.dumps(drift)) == replace(replace(drift, limit=1.0), limit=drift.limit)
    with pytest.raises(TypeError, match=r"Drift has the fields .*change.*; got .'where'"):
        findings.Drift(where="r0")
    with pytest.raises(TypeError, match=r"got .*chnge"):
        findings.Drift(change=0.1, chnge=0.2)
    with pytest.raises(FrozenInstanceError):
        drift.change = 0.2
    with pytest.raises(FrozenInstanceError):
        del drift.where

    first, again = findings.Drift(change=0.07, where="a"), findings.Drift(change=0.07, where="b")
    assert first != again
    assert findings.order(first) < findings.order(again) < findings.order(findings.Drift(change=0.08, where="a"))


def test_a_code_is_explained_by_all_its_rules_and_each_of_them_alone_by_its_own_name(capsys):
    codes = {name: [*findings.called(name.upper())] for name in (*findings.codes(), *findings.RULES)}
    assert {name for name, rules in codes.items() if len(rules) > 1} <= {*findings.codes()}
    assert all(findings.RULES[name] in codes[name] for name in findings.RULES) and not findings.called("nothing")

    assert cli.main(["explain", "repeats_added"]) == Exit.DONE
    said = capsys.readouterr().out
    assert said.count("In the report") == 1 == said.count("planned before the first run") and "missing" not in said


def test_a_finding_in_json_keeps_what_it_was_and_adds_the_numbers():
    values = {"resources": ["network_receive"], "samples": 12}
    document = told.document(findings.ImpossibleSamples(resources=("network_receive",), samples=12, where="case/r0"))

    text = "12 samples of Network in lie outside what is possible and were left out"
    assert document == {
        **{"code": "D18", "question": 10, "severity": "note", "text": text, "where": "case/r0", "also": []},
        **{"rule": "impossible_samples", "values": {**values, "limit": 1.02}},
    }


def test_signed_numbers_are_printed_with_their_sign_and_zero_without():
    assert [numbers.change(value).text for value in (0.053, -0.053, 0.0, -0.0001)] == ["+5.3%", "−5.3%", "0.0%", "0.0%"]
    assert numbers.points(-0.094).text == "−0.09"


# the rules explained


def test_explain_says_what_a_finding_costs_its_limits_and_what_to_do(capsys):
    assert cli.main(["explain", "D10", "--lang", "zh"]) == cli.main(["explain", "D10", "--lang", "en"]) == Exit.DONE
    said = capsys.readouterr().out
    assert "D10: 窗口内速度不均" in said and "D10: uneven speed over the window" in said
    assert "1.3: of 288 recorded runs" in said and "What to do     Synchronise before a step is printed" in said
    asked = "○; not decided; 未能判定; clocks and printed figures differ; fastest of 2; the environment; not watched"
    asked += "; script tf-cnn-resnet50, fastest of 3; busy_machine/§"
    assert {cli.main(["explain", *each.split("/")]) for each in asked.split("; ")} == {Exit.DONE}
    out = capsys.readouterr().out
    assert all(said in out for said in ["question 6", "not decided: Too few", "clock_disagrees:", "§", "costs nothing"])
    assert out.count("Of several scripts") == 2 and "TF32" not in out


def test_explain_without_a_code_lists_them_all_by_question(capsys):
    assert cli.main(["explain"]) == Exit.DONE
    first = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert [word for word in first if word in findings.codes()] == list(findings.codes())
    assert [word for word in first if word not in findings.codes()] == [f"{number}." for number in CONSEQUENCES]


@pytest.mark.parametrize(("asked", "near"), [("busy_machin", "busy_machine"), ("author_difers", "author_differs")])
def test_an_unknown_code_gets_the_nearest(asked, near, capsys):
    assert cli.main(["explain", asked]) == Exit.USAGE
    assert f"Did you mean {near}?" in capsys.readouterr().err


def test_a_code_and_each_that_a_page_calls_one_is_explained_by_its_cost_its_limits_and_words_alone(capsys):
    pages = [page.read_text(encoding="utf-8") for page in (HOUSE / "docs").glob("*.md")]
    called = [code for page in pages for code in re.findall(r"(?:findings? |发现 )`(\w+)`", page)]
    assert called and cli.main(["explain", *called, *findings.codes()]) == Exit.DONE
    said = capsys.readouterr().out
    assert "super_linear, limit" not in said and "Costs          nothing: it is said" in said
    assert (
        re.search(r"\ntraining: .+\n.+\n  Costs          only noted\n", said)
        and "(divides the level of an order)" in said
    )
    assert not re.search(r"Costs +…|In the report +…$|\u202f", said, re.MULTILINE)
