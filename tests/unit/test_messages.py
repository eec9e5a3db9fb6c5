"""Messages: their words in both languages, and that the code says nothing to a user in any other way."""

import ast
import pickle
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from evalsuite.core import messages, paths
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.messages import Message, from_json, message_of, wording
from evalsuite.core.model import Skip
from evalsuite.runs.endings import Outcome
from evalsuite.runs.planned import Planned
from evalsuite.runs.store import Store
from tests import sources, typography
from tests.toys import CASE

WORDS = {
    f"{file.stem}.{key}": texts
    for file in sorted(messages.folder().glob("*.toml"))
    for key, texts in tomllib.loads(file.read_text(encoding="utf-8")).items()
}
SOURCES = {
    f"{root.name}/{file.relative_to(root)}": file
    for root in (paths.PACKAGE, paths.ADAPTERS)
    for file in sorted(root.rglob("*.py"))
    if file.name != "messages.py" and not (root == paths.ADAPTERS and file.parent not in (root, root / "common"))
}
ID = re.compile(r"\w+\.[\w{}]+$")
SENTENCE = re.compile(r"(?:[A-Za-z'`,;:-]+ ){3}")  # that many words are a sentence
SPOKEN = ("reason", "what", "advice", "detail", "remedy", "why", "refused", "note", "hint")  # arguments that users read
DEFECTS = {  # what no user reads: a mistake in our own code
    *("AssertionError", "AttributeError", "TypeError", "FrozenInstanceError", "KeyError", "NothingThere", "WordsError"),
    *("pickle.UnpicklingError", "PermissionError"),
}


@cache
def calls() -> tuple[tuple[str, ast.Call], ...]:
    """Every `Message("id", …)` and `EvalsuiteError.of("id", …)` of the code, with the module that it stands in."""
    return tuple(
        (f"{name}:{node.lineno}", node)
        for name, file in SOURCES.items()
        for node in sources.nodes(file)
        if isinstance(node, ast.Call)
        and getattr(node.func, "attr", getattr(node.func, "id", "")) in ("Message", "of", "look_up")
        and node.args
        and ID.match(literal(node.args[0]))
    )


def literal(node: ast.expr) -> str:
    """The text of a constant or an f-string, its places as {}; nothing of any other expression."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_every_message_is_worded_in_both_languages_with_the_same_places():
    words = {id: (texts.get("en"), texts.get("zh")) for id, texts in WORDS.items() if len(texts) == 2}

    assert [
        id for id in WORDS if not all(isinstance(text, str) and text.strip() for text in words.get(id, [None]))
    ] == []
    assert [id for id, pair in words.items() if len(set(map(frozenset, map(messages.places, pair)))) > 1] == []


def test_the_chinese_has_the_glossarys_terms_and_no_words_lie_unused():
    faults = typography.all_faults({id: texts["zh"] for id, texts in WORDS.items()})
    assert [(id, fault) for id, fault in faults if "glossary" in fault or "before %" in fault] == []

    asked = {literal(call.args[0]) for _, call in calls()}
    declared = "".join(file.read_text() for file in paths.ADAPTERS.glob("*.toml"))
    asked |= {*re.findall(r'(?:because|needs_gpu) = "(adapters\.\w+)"', declared)}
    shapes = [re.escape(id).replace(r"\{\}", ".+") for id in asked if "{}" in id]
    composed = re.compile("|".join([*shapes, r"system\.(apart|e[a-z]+|then)"]))  # the last by messages.py itself
    assert [id for id in WORDS if id not in asked and not composed.fullmatch(id)] == []


def test_every_message_of_the_code_has_words_and_gives_their_values():
    wrong = []
    for where, call in calls():
        id = literal(call.args[0])
        shape = re.compile(re.escape(id).replace(r"\{\}", ".+"))
        known = id in WORDS or ("{}" in id and any(map(shape.fullmatch, WORDS)))
        given = {keyword.arg for keyword in call.keywords}
        if known and getattr(call.func, "id", "") == "look_up":
            given |= {"name", "names", "near"} & {*messages.places(WORDS[id]["en"])}
        if not known:
            wrong.append(f"{where}: {id} has no words; write them into data/text/messages/{id.partition('.')[0]}.toml")
        elif None not in given and "{}" not in id and given != messages.places(WORDS[id]["en"]):
            wrong.append(
                f"{where}: {id} has the places {sorted(messages.places(WORDS[id]['en']))}, not {sorted(given)}"
            )

    assert wrong == []


def test_users_are_told_nothing_in_english_alone():
    alone = []
    for name, file in SOURCES.items():
        for node in sources.nodes(file):
            said: list[ast.expr] = []
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                kind = ast.unparse(node.exc.func)
                defect = kind in DEFECTS or (kind == "ValueError" and name.startswith("evalsuite/report/"))
                said = [] if defect else list(node.exc.args)
            elif isinstance(node, ast.Call):
                said = [keyword.value for keyword in node.keywords if keyword.arg in SPOKEN]
            alone += [f"{name}:{node.lineno}: {literal(each)}" for each in said if SENTENCE.search(literal(each))]

    assert alone == [], "make messages of them: evalsuite/core/messages.py says how"


def test_a_message_is_its_english_wording_knows_the_other_is_frozen_and_goes_to_other_processes():
    message = Message("system.near", name="resnet50")

    assert message == " Did you mean resnet50?"
    assert type(str(message)) is str
    assert wording(message, "zh") == "是否指 resnet50？"
    assert wording(str(message), "zh") == str(message)
    assert wording("somebody else's", "zh") == "somebody else's"

    with pytest.raises(AttributeError):
        message.id = "y"

    again = pickle.loads(pickle.dumps(message))
    assert (again, again.id, again.values) == (message, message.id, message.values)


@pytest.fixture
def words(monkeypatch):
    """Words for a test: key → (English, Chinese)."""

    def put(**sentences):
        table = {key: dict(zip(("en", "zh"), pair, strict=True)) for key, pair in sentences.items()}
        monkeypatch.setattr(messages, "_table", lambda room: table)

    return put


def test_values_take_formats_plurals_lists_and_messages(words):
    words(
        whole=("{n} {n|run|runs} in {seconds:.1f} s: {names}; {why}", "{n} 次运行，{seconds:.1f} 秒：{names}；{why}"),
        why=("no {path} {{data}}", "没有 {path} {{data}}"),
    )

    message = Message("x.whole", n=1, seconds=2.04, names=["a", "b"], why=Message("x.why", path=Path("c")))

    assert message == "1 run in 2.0 s: a, b; no c {data}"
    assert wording(message, "zh") == "1 次运行，2.0 秒：a、b；没有 c {data}"


def test_what_the_system_and_an_error_say_has_both_languages():
    system, error = OSError(2, "No such file or directory", "here"), EvalsuiteError(Message("system.near", name="x"))

    assert message_of(system) == "No such file or directory"
    assert wording(message_of(system), "zh") == "没有这个文件或文件夹"
    assert message_of(OSError(71, "Protocol error")) == "Protocol error"
    assert str(error) == " Did you mean x?" and isinstance(message_of(error), Message)
    assert wording(error.message, "zh") == "是否指 x？"


def test_a_message_goes_to_json_and_back(words):
    words(outer=("{n} {why} {names}", "{n}{why}{names}"), inner=("of {path}", "属 {path}"))
    message = Message("x.outer", n=3, why=Message("x.inner", path="p"), names=("a", "b"))

    facts = message.to_json()

    inner = {"id": "x.inner", "values": {"path": "p"}}
    assert facts == {"id": "x.outer", "values": {"n": 3, "why": inner, "names": ["a", "b"]}}
    assert wording(from_json(facts), "zh") == "3属 pa、b"
    assert from_json("a text") == "a text"


@pytest.mark.parametrize("facts", sources.cases("messages.toml")["message_refused"])
def test_what_is_no_message_is_refused(facts):
    with pytest.raises(ValueError):
        from_json(facts)


def test_phrases_are_joined_and_a_plan_keeps_the_reason_of_a_skip_in_both_languages(tmp_path):
    first, second = Message("system.near", name="a"), "somebody else's"
    assert wording(messages.join(first, None, second), "zh") == "是否指 a？；somebody else's"
    assert messages.join("", None) == ""
    assert Message("system.of", name="a", what=first).map(str.upper) == "A:  Did you mean A?"

    reason = Message("launch.run_signal", signal="SIGSEGV")
    Store(tmp_path).write_plan(Planned(profile="quick", repeats=1, cases=(), skips=(Skip(case=CASE, reason=reason),)))
    (skip,) = Store(tmp_path).plan().skips
    assert wording(skip.reason, "zh") == wording(reason, "zh") != str(reason)


def test_a_run_folder_keeps_why_a_run_ended_as_a_message():
    reason = Message("launch.run_limit", seconds=60.0)
    facts = Outcome(status="timed_out", reason=reason).to_json()

    assert facts["reason"] == {"id": "launch.run_limit", "values": {"seconds": 60.0}}
    assert wording(Outcome.from_json(facts, "outcome.json").reason, "zh") == "达到了 60 秒的时限"
    assert Outcome.from_json({**facts, "reason": "as an adapter says it"}, "x").reason == "as an adapter says it"
    with pytest.raises(EvalsuiteError, match="reason: got"):
        Outcome.from_json({**facts, "reason": {"id": "launch.nothing", "values": {}}}, "outcome.json")
