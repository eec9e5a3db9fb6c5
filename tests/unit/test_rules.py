from dataclasses import replace

import pytest
import synthetic

from evalsuite.contracts import registry
from evalsuite.core import paths
from evalsuite.core.documents import Citation, CitedFigure, HostEnvironment, UsedRecipe
from evalsuite.core.findings import BaseUnlike
from evalsuite.core.model import Attempt, Fact, LogLine, Run, Utilisation
from evalsuite.results.compare import fairness, published_rates
from evalsuite.results.compare.scaling import with_scaling
from evalsuite.results.measure import as_given, plausibility
from evalsuite.results.measure.summary import summaries
from evalsuite.results.rules import data_rules, machine, printed_beside
from evalsuite.runs.endings import Outcome
from evalsuite.runs.samples import Header, Samples
from tests.bad_files import AGENT
from tests.toys import COMMAND


def test_a_reading_above_its_capacity_is_left_out_and_named():
    link = {"unit": "bytes/s", "p5": 0.0, "p95": 2e9, "samples": 9, "coverage": 1.0}
    used = [
        Utilisation(**link, resource="network_receive", mean=1.26e9, capacity=1.25e9),  # within 2 %
        Utilisation(**link, resource="network_send", mean=1.30e9, capacity=1.25e9),
    ]
    run = synthetic.measured(synthetic.case(protocol=synthetic.FULL), 0, 38.0, resources=used)

    (measurement,) = data_rules.check_measurements([run])

    assert [use.resource for use in measurement.utilisation] == ["network_receive"]
    assert [(f.code, f.resources) for f in measurement.findings] == [("D18", ("network_send",))]
    assert measurement.value == 38.0


@pytest.mark.parametrize(
    ("figure", "values", "denied"),
    [
        ("step_time_stated_s", [8 / 38, 8 / 38, 8 / 28, 0.0], {2: "figure_denies"}),
        ("step_time_stated_s", [8 / 19, 8 / 19, 8 / 19, 0.0], {}),  # all count in another way
        ("tflops_stated_per_device", [3.8, 3.8, 2.8, 0.0], {2: "figure_denies"}),
        ("tflops_stated_per_device", [3.8, 3.0, 0.0, 0.0], {1: "figure_denies"}),  # its rate was raised by a quarter
        ("tflops_stated_per_device", [3.8, 2.85, 0.0, 0.0], {}),  # the other counts what it computes again
        ("tflops_printed", [3.8, 3.0, 0.0, 0.0], {1: "figure_denies"}),  # likewise, in logs of one dialect
        ("accuracy_stated_percent", [76.1, 75.9, 0.1, 72.0], {2: "learnt_less"}),
        ("training_stated_h", [1e-6, 1.0, 0.0, 0.0], {0: "figure_denies"}),  # less than twenty steps
    ],
)
def test_what_a_source_prints_beside_a_rate_must_agree_with_it(figure, values, denied):
    cited = [replace(synthetic.measured(synthetic.case(name), 0, 38.0), origin="cited") for name in "abcd"]
    runs = [
        replace(run, figures=((figure, value),) if value else (), dialect="torchtitan")
        for run, value in zip(cited, values, strict=False)
    ]

    assert {place: found.name for place, found in printed_beside.denied(runs)} == denied


@pytest.mark.parametrize(
    ("figure", "values", "denied"),
    [
        ("step_time_stated_s", [8 / 30, 16 / 30], ["figure_denies"] * 2),
        ("tflops_stated_per_device", [0.72, 0.36], ["printed_impossible"] * 2),  # 24.6 GFLOP each
        ("tflops_stated_per_device", [0.467, 0.467 / 2], []),  # a multiplication and its addition as one
    ],
)
def test_a_framework_alone_in_printing_a_figure_excuses_it_by_no_other_scale(figure, values, denied):
    cases = (synthetic.case("a", options=()), synthetic.case("a", (1, 2), options=()), synthetic.case("b"))
    runs = [synthetic.measured(case, 0, 38.0) for case in cases]
    told = [replace(run, figures=((figure, value),)) for run, value in zip(runs, values, strict=False)]

    assert [found.name for _, found in printed_beside.denied([*told, runs[-1]])] == denied


def of_two_scales(*facts, origin="measured"):
    """Repeats of one device, of which *facts* are stated, and of eight."""
    sizes = [(synthetic.case(scale=(1, n)), rate) for n, rate in ((1, 36.0), (8, 273.0))]
    runs = [synthetic.measured(case, k, rate + k / 9) for case, rate in sizes for k in range(5)]
    runs[:5] = [replace(run, facts=(*run.facts, *facts)) for run in runs[:5]]
    return with_scaling(summaries([replace(run, origin=origin) for run in runs]))


@pytest.mark.parametrize(("speedup", "told"), [("7.98", ["7.98"]), ("7.6", []), ("1.90", ["1.90"])])
def test_a_speedup_beside_single_runs_is_that_of_their_medians(speedup, told):
    rows = of_two_scales(origin="cited")
    said = CitedFigure(printed="38", kind="run", citations=(Citation(row="t.csv:9", speedup=speedup),))

    assert [each.written for each in printed_beside.cited_speedups(rows, {rows[1].case.id: [said]})] == told


def test_a_base_that_another_fact_slows_is_named_beside_its_speedup():
    slow = Fact(key="watched", value="TORCH_DISTRIBUTED_DEBUG=DETAIL", source="environment")

    for rows, wanted in ((of_two_scales(slow), [[], ["watched"]]), (of_two_scales(), [[], []])):
        assert [[each.fact for each in row.findings if isinstance(each, BaseUnlike)] for row in rows] == wanted


@pytest.mark.parametrize(("hosts", "apart"), [("aab", 0), ("abb", 0), ("bbb", 2), ("a", 0)])
def test_who_never_ran_on_a_host_of_the_others_is_named(hosts, apart):
    on = [(synthetic.case(of), k, host) for of, at in (("x", "aaa"), ("y", hosts)) for k, host in enumerate(at)]
    runs = [replace(synthetic.measured(case, k, 38.0), hosts=(host,)) for case, k, host in on]

    assert len([*machine.uneven(summaries(runs))]) == apart


@pytest.mark.parametrize(
    ("what", "usual", "read", "named"),
    [("disk_read", 0, 3e8, ["disk_read"]), ("disk_read", 0, 3e7, []), ("job_cpu", 100, 0, ["left"])],
)
def test_a_case_beside_whose_runs_alone_a_disk_was_read_or_all_processors_taken_is_named(what, usual, read, named):
    cpu = Utilisation(resource="cpu", unit="%", mean=100.0, p5=0.0, p95=0.0, samples=40, coverage=1.0)
    each = [
        (of, k, replace(cpu, resource=what, mean=of_it)) for of, of_it in (("x", usual), ("y", read)) for k in range(3)
    ]
    runs = [replace(synthetic.measured(synthetic.case(of), k, 38.0), utilisation=(use, cpu)) for of, k, use in each]

    assert [found.what for found in machine.uneven(summaries(runs))] == 2 * named


@pytest.mark.parametrize(("theirs", "named"), [((0.12, 0.11, 0.13), 2), ((0.1, 0.12, 0.12), 0), ((0.102,) * 3, 0)])
def test_a_case_whose_probe_was_never_as_quick_as_that_of_the_others_is_named(theirs, named):
    on = [(of, k, s) for of, each in (("x", (0.1, 0.099, 0.101)), ("y", theirs)) for k, s in enumerate(each)]
    runs = [replace(synthetic.measured(synthetic.case(of), k, 38.0), probe_s=probe_s) for of, k, probe_s in on]

    found = [*machine.uneven(summaries(runs))]
    assert ([each.what for each in found], any(hasattr(each, "own") for each in found)) == (["probe"] * named, False)


@pytest.mark.parametrize(
    ("each", "text", "found"),
    [
        ([0.42] * 100, "Time  0.420000 ( 0.42)", ["0.420000"]),
        ([0.42] * 100, "Time  0.420 ( 0.42)", []),  # a clock of milliseconds
        ([19047.0] * 99 + [1.0] * 30, "tps: 19,047.0", []),
        ([0.42 + k / 1e6 for k in range(100)], "Time  0.420000", []),
        ([8 * 19047.12] * 100, "step 9 tps: 19,047.12", ["19,047.12"]),
    ],
)
def test_what_each_step_prints_as_no_clock_does_is_named(each, text, found):
    run = synthetic.measured(synthetic.case(scale=(1, 8)), 0, 38.0)
    run = replace(run, printed_each=tuple(each), lines=(LogLine(number=1, text=text),))

    assert [said.text for said in printed_beside.constant(run)] == found


OF_HOST = dict(
    outcome=Outcome(status="completed", reason="", exit_code=0, started_at=AGENT.started_at, duration_s=63.4),
    command=replace(COMMAND, engine="local", command=("a", "b")),
    agent=replace(AGENT, command=("a", "b")),
    samples=Samples(
        header=Header(hz=1.0, started_at_unix_s=1795140000.0, cores=(1, 0), memory_total_bytes=9),
        tables={"tree.cpu_s": {"": [0.0, 52.5]}, "tree.memory_bytes": {"": [2e8]}, "at_s": {"": [1.0] * 70}},
    ),
    machine=HostEnvironment(host="n0", memory_total_bytes=9),
    said={"parameters": 25557032.0},
)  # fmt: skip


HALF_IDLE = OF_HOST["samples"].tables | {"cpu_percent": {"": [20.0]}, "at_s": {"": [*map(float, range(70))]}}


@pytest.mark.parametrize(
    ("record", "changes", "denied"),
    [
        ("outcome", {}, []),
        ("outcome", {"started_at": "2026-11-11T10:00:00+08:00"}, ["started_at"]),
        ("outcome", {"duration_s": 300.0}, ["duration_s"]),
        ("agent", {"exit_code": 137}, ["exit_code"]),
        ("agent", {"signal": "SIGKILL"}, ["unstopped"]),
        ("agent", {"command": ("python", "other.py")}, ["command"]),
        ("agent", {"cores": ((0,),)}, ["cores"]),
        ("agent", {"duration_s": 100.0}, ["due"]),
        ("agent", {"group_cpu_s": 40.0}, ["group_cpu_s"]),
        ("agent", {"started_at": "2026-11-20T10:01:00+08:00"}, ["started_at"]),
        ("machine", {"memory_total_bytes": 40}, ["memory_total_bytes"]),
        ("samples", {"tables": OF_HOST["samples"].tables | {"tree.memory_bytes": {"": [9e6]}}}, ["parameters"]),
        ("said", {"span": (1795140070.0, 1795140090.0)}, ["span"]),
        ("said", {"hosts": ("node7",)}, ["host"]),
        ("said", {"framework": "jax"}, ["framework"]),
        ("said", {"amp_kind": "bfloat16"}, ["amp_kind"]),
        ("samples", {"header": Header(hz=1.0, cpu_count=2.0), "tables": HALF_IDLE}, ["machine_s"]),
    ],
)
def test_what_two_records_of_a_run_say_unlike_takes_it_out(record, changes, denied):
    was = OF_HOST[record]
    said = OF_HOST | {record: was | changes if record == "said" else replace(was, **changes)}
    said |= {name: {"n0": said[name]} for name in ("agent", "samples", "machine")}

    run = Run(case=synthetic.case(device="cpu"), repeat=0)
    assert [each.fact for each in plausibility.of_hosts(run, *said.values())] == denied


@pytest.mark.parametrize(
    ("changes", "denied"),
    [
        ({}, []),
        ({"status": "failed"}, ["status"]),
        ({"items_per_s": 38.5}, ["items_per_s"]),
        ({"status": None, "items_per_s": None}, []),  # killed before it was noted
        ({"started_at": "2026-11-11T10:00:00+08:00"}, ["started_at"] * 2),
        ({"ended_before": "2026-11-20T18:00:00+08:00"}, ["previous_at"]),  # another, of its start
    ],
)
def test_a_run_is_held_against_the_journals_word_of_it(changes, denied):
    run = replace(synthetic.measured(synthetic.case(), 0, 38.0), started_at=AGENT.started_at)
    usual = dict(status="completed", items_per_s=38.0, unit=run.throughput.unit, started_at=AGENT.started_at)
    usual, before = usual | changes, changes.get("ended_before")
    usual.pop("ended_before", None)
    attempt, made = Attempt(run=run.run.id, number=1, campaign="a", **usual), synthetic.command(run.run.case)

    assert [each.fact for each in plausibility.of_attempt(attempt, run, made, before)] == denied


OURS = synthetic.case(framework="pytorch", model="resnet50_v1.5", recipe="reference-resnet50")
GIVEN = registry.discover()["pytorch"].recipe("reference-resnet50")


@pytest.mark.parametrize(
    ("made", "more", "said"),
    [
        ({}, (), ""),
        ({}, ("--freeze",), "--freeze"),
        ({"command": ("nice", "-n", "19")}, (), "nice -n 19"),
        ({"command": ("python", "-X", "dev")}, (), "-X dev"),
        ({"environment": {"LD_PRELOAD": "/tmp/lib.so"}}, (), "LD_PRELOAD=/tmp/lib.so"),
        ({"recipe": UsedRecipe(name=GIVEN.name, facts={"optimiser": "none"})}, (), "optimiser=none"),
        ({"packages": {"torch": "2.15.0"}}, (), "version=2.15.0"),
        ({"workload_sha256": {"a.py": "00"}}, (), "other scripts"),
        ({"files": {"sitecustomize.py": ""}}, (), "sitecustomize.py"),
        ({"lock_sha256": "00"}, (), "/env/bin/python3"),
        ({"evalsuite": "0.0.9"}, ("--freeze",), "evalsuite 0.0.9"),
        ({"recipe": UsedRecipe(name="own")}, (), None),
    ],
)
def test_what_a_run_was_given_beyond_its_recipe_is_named(made, more, said):
    of = GIVEN.command_of(OURS)
    words = [word.replace("{python}", "/env/bin/python3").replace("{workloads}", "/w") for word in of.argv]
    before, usual = (
        made.get("command", ()),
        dict(recipe=UsedRecipe(name=GIVEN.name), packages={}, environment=of.environment),
    )
    words = [*before, *words[before[:1] == ("python",) :], *more]
    ran = replace(synthetic.command(OURS), **usual | made | {"command": tuple(words)})

    assert as_given.beyond(Run(case=OURS, repeat=0), ran, {}) == said


@pytest.mark.parametrize(
    ("key", "ours", "theirs", "apart"),
    [
        ("beyond_recipe", ["nice"] * 5, [None] * 5, True),
        ("beyond_recipe", ["nice", "nice", None, None, None], [None] * 5, True),
        ("beyond_recipe", ["nice"] * 5, ["nice"] * 5, False),
        ("framework_version", ["2.13", "2.13", "2.13", "2.0", "2.0"], ["3.3"] * 5, True),
    ],
)
def test_what_is_beyond_a_recipe_is_compared_with_its_like_and_a_case_has_one_version(key, ours, theirs, apart):
    each = ((of, k, said) for of, at in (("pytorch", ours), ("mxnet", theirs)) for k, said in enumerate(at))
    runs = [(synthetic.measured(synthetic.case(of), k, 36.0 + k / 9), said) for of, k, said in each]
    told = [replace(run, facts=(*run.facts, *([Fact(key=key, value=s, source="log")] if s else ()))) for run, s in runs]

    assert bool(fairness.obstacles(*summaries(told), fairness.FRAMEWORKS)) is apart


def test_a_run_in_order_is_returned_as_it_came():
    runs = [synthetic.measured(synthetic.case(protocol=synthetic.FULL), repeat, 38.0 + repeat) for repeat in range(5)]
    assert data_rules.check_measurements(runs) == runs


def test_every_published_figure_names_its_place_and_those_with_a_known_error_are_no_yardstick():
    known = published_rates.of_reference("published")
    ids = [row["id"] for row in paths.read_rows(published_rates.FILE) if row["device"]]

    assert all(each.items_per_s > 0 and each.source for each in known)
    assert len(set(ids)) == len(known) > 900
    assert set(ids).isdisjoint({"nvdle-0781", "nvdle-0782"})  # the second is a value of another column, printed twice
