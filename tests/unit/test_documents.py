"""The files of a run folder as nouns: there and back, and what is said of one that is not as it should be."""

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from types import UnionType
from typing import Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsuite.core import decode, documents, paths
from evalsuite.core.documents import HostEnvironment, RunCommand
from evalsuite.core.errors import EvalsuiteError
from evalsuite.core.model import Case, Protocol
from evalsuite.launch import campaign
from evalsuite.plan import spec
from evalsuite.plan.plan import Machine, plan
from evalsuite.runs.endings import AgentOutcome, Outcome
from evalsuite.runs.journal import Campaign, JournalLine
from evalsuite.runs.planned import AskedRun, Planned
from evalsuite.runs.samples import Header
from evalsuite.runs.store import Store
from tests import sources
from tests.bad_files import changed, places, value_at
from tests.toys import CASE, COMMAND, toynet

RECORDED = Store(paths.DATA / "recorded").finished()
CASE_WITH_ALL = replace(
    CASE,
    protocol=Protocol(warmup_steps=5, measured_steps=30),
    options=(("image_size", "64"), ("workers", "2")),
    **{"nodes": 2, "devices_per_node": 4, "precision": "amp", "xla": True, "device": "gpu"},
)
SPECIAL = {  # what a type does not say
    **{"value": "n", "holds": "n > 1"},
    "started_at": "2026-01-01T00:00:00+00:00",
    "at": "2026-01-01T00:00:00+00:00",
}


def full(kind):
    """A noun of this *kind* with a value in each of its fields."""
    hints = get_type_hints(kind)
    return kind(**{field.name: value_of(hints[field.name], field.name) for field in fields(kind)})


def value_of(hint, name):
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Case:
        return CASE_WITH_ALL
    if is_dataclass(hint):
        return full(hint)
    if origin in (Union, UnionType):
        return value_of(str if str in inner else inner[0], name)
    if origin is Literal:
        return inner[0]
    if origin is tuple:
        return tuple(value_of(each, name) for each in inner if each is not ...)
    if origin is Mapping:
        return {"one": value_of(inner[1], name), "other": value_of(inner[1], name)}
    return {bool: True, int: 3, float: 1.5, str: SPECIAL.get(name, name)}[hint]


KINDS_READ = (RunCommand, Outcome, HostEnvironment, AgentOutcome, AskedRun, Planned, Campaign, JournalLine, Header)
FULL = tuple(map(full, KINDS_READ))
KINDS = {type(each): each for each in FULL}
SAID = r"run/file\.json: {}: .*expected .*\. .*(Move|Read|compare)"
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=4)),
    max_leaves=6,
)


def written(one):
    """*one* as it is read from the disk again."""
    return json.loads(json.dumps(one.to_json()))


def read(kind, facts):
    return kind.from_json(facts, "run/file.json")


def name_of(path):
    """`("gpus", 0, "name")` as an error writes it: `gpus[0].name`."""
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in path).removeprefix(".")


REQUIRED = [
    pytest.param(kind, field.name, id=f"{kind.__name__}-{field.name}")
    for kind in KINDS
    for field in fields(kind)
    if field.default is MISSING and kind is not AskedRun
]


@pytest.mark.parametrize("one", FULL, ids=lambda each: type(each).__name__)
def test_what_was_written_is_read_back_and_what_is_not_known_is_left_out_of_the_file(one):
    assert read(type(one), written(one)) == one
    assert all(getattr(one, field.name) is not None for field in fields(one))

    bare = replace(one, **{field.name: None for field in fields(one) if field.default is None})
    assert None not in written(bare).values()
    assert read(type(one), written(bare)) == bare


KEYS = sources.table("documents.toml")["spec_keys"]


@pytest.mark.parametrize("key", KEYS)
def test_the_plan_of_a_spec_with_any_key_and_any_other_beside_it_is_read_as_it_was_written(tmp_path, key):
    assert {*KEYS} == {field.name for field in fields(spec._SpecFile)}
    laptop, file, store = Machine(cores=2, accelerators=0, device="cpu"), tmp_path / "spec.toml", Store(tmp_path)
    for other in KEYS:
        file.write_text("\n".join({KEYS["frameworks"]: "", KEYS[key]: "", KEYS[other]: ""}))
        asked = spec.read(file)
        if {key, other} == {"batch", "scaling"}:
            continue  # refused: a search and a strong scaling
        document = campaign.document(plan(asked, {"toynet": toynet()}, laptop))

        store.write_plan(document)

        assert store.plan() == document
        assert (document.columns, document.criteria) == (asked.columns, asked.criteria)


def test_what_could_not_be_read_again_is_not_written(tmp_path):
    with pytest.raises(EvalsuiteError, match=r"plan.json: repeats: got -1; .* could not be read again"):
        Store(tmp_path).write_plan(Planned(profile="x", repeats=-1, cases=(), skips=()))

    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_of_another_type_is_an_error_that_names_file_and_key(kind):
    facts = written(KINDS[kind])
    for path in places(facts):
        wrong = [[1]] if isinstance(value_at(facts, path), dict) else {"a": 1}

        with pytest.raises(EvalsuiteError, match=SAID.format(re.escape(name_of(path)))):
            read(kind, changed(facts, path, lambda _, wrong=wrong: wrong))


@pytest.mark.parametrize(("kind", "key"), REQUIRED)
def test_a_missing_key_is_an_error_that_names_file_and_key(kind, key):
    facts = {name: value for name, value in written(KINDS[kind]).items() if name != key}

    with pytest.raises(EvalsuiteError, match=SAID.format(key)):
        read(kind, facts)


@pytest.mark.parametrize("kind", sorted(KINDS, key=str))
@pytest.mark.parametrize("schema", [0, 2, 99, -1, "1", None, True, 1.0])
def test_an_unknown_schema_is_refused(kind, schema):
    with pytest.raises(EvalsuiteError, match=r"run/file\.json: schema: .*(reads|expected) 1\b"):
        read(kind, {**written(KINDS[kind]), "schema": schema})


@pytest.mark.parametrize(("facts", "said"), sources.table("documents.toml")["mistakes"])
def test_an_error_shows_what_stood_there_and_what_was_expected_of_all_mistakes_at_once(facts, said):
    with pytest.raises(EvalsuiteError) as error:
        read(Outcome, {"schema": 1, "status": "failed", "reason": "", **json.loads(facts)})

    assert str(error.value) == f"run/file.json: {said}. {decode.message(documents.TRY)}"


def test_a_key_of_a_later_evalsuite_is_passed_over():
    assert read(RunCommand, {**COMMAND.to_json(), "weather": "fine"}) == COMMAND


@given(facts=json_values)
def test_any_json_gives_a_noun_or_an_error_of_the_users(facts):
    for kind in KINDS:
        with pytest.raises(EvalsuiteError, match=r"^run/file\.json: "):
            read(kind, facts)


@given(
    place=st.sampled_from([(kind, path) for kind, one in KINDS.items() for path in places(written(one))]),
    value=json_values,
)
def test_any_json_at_any_key_gives_a_noun_or_an_error_of_the_users(place, value):
    kind, path = place
    try:
        reading = read(kind, changed(written(KINDS[kind]), path, lambda _: value))
    except EvalsuiteError as error:
        assert str(error).startswith("run/file.json: ")
    else:
        assert isinstance(reading, kind)


@pytest.mark.parametrize("folder", RECORDED, ids=lambda folder: f"{folder.path.parent.name}-{folder.path.name}")
def test_a_recorded_run_is_read(folder):
    samples = folder.samples("vm")
    outcome, command, hosts, agents = folder.outcome(), folder.command(), folder.environments(), folder.agents()

    assert outcome.sha256.keys() >= {log.path.name for log in folder.logs()}
    assert command.recipe.name == folder.run().case.recipe
    assert [host.host for host in hosts.values()] == list(hosts) == list(agents) == ["vm"]
    assert len(samples.tables["at_s"][""]) > 1
    bound = sum(map(len, agents["vm"].cores or ()))
    assert samples.header.cpu_count == (bound or hosts["vm"].cpu_count_usable)
