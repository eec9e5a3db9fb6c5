"""The declarations of the dialects: every sample stands in a log, every source is a file at a commit."""

import re
from pathlib import Path

import pytest

from evalsuite.contracts import dialect
from evalsuite.contracts.dialect import Line
from evalsuite.core import paths
from evalsuite.core.errors import EvalsuiteError, look_up
from evalsuite.logs import catalogue
from evalsuite.logs.reading import read_file
from evalsuite.logs.recognition import find_dialects
from evalsuite.logs.text.records import count, matches
from evalsuite.runs import archive
from tests import sources
from tests.corpus import LOGS as SHARED
from tests.corpus import with_logs

LOGS = Path(__file__).resolve().parents[1] / "logs"
DIALECTS = catalogue.known()
FAR = 1 << 14  # bytes that the lines of one report may take
SOURCE = re.compile(r"(?P<repository>[\w.-]+/[\w.-]+)@(?P<commit>[\w.-]+):(?P<path>[^\s,;:]+)(?:[,;:] .+)?")


def test_every_log_has_its_origin_written_beside_it():
    origins = (LOGS / "SOURCES.md").read_text()

    assert [file.name for file in LOGS.glob("*.log") if file.name not in origins] == []


@pytest.mark.parametrize("name", ["gluonnlp_bert", "mxnet_speedometer", "paddleclas_static", "tf2_bert"])
def test_a_failure_is_found_although_much_was_printed_after_it(name, tmp_path):
    log = tmp_path / "log"
    noise = b"the launcher waits for the other processes to end\n" * 80_000
    log.write_bytes((LOGS / f"{name}.log").read_bytes() + b"\nRuntimeError: CUDA out of memory.\n" + noise)

    reading = read_file(log, dialect=name, devices=8, batch_per_device=32, dialects=DIALECTS)

    assert (reading.status in ("partial", "doubtful"), "out of memory" in reading.reason) == (True, True)


# what the declarations cite


def lines_of(declared: dialect.Dialect) -> list[dialect.Line]:
    timers = (declared.timers.line,) if declared.timers else ()
    others = (*declared.final, *declared.evaluation, *declared.end, *declared.facts, *declared.scores, *timers)
    return [*declared.step, *others]


def stands_in(sample: bytes, text: bytes) -> bool:
    """Does *sample* stand in *text*, with something else of the same lines where it says ` ... `?"""
    first, *others = re.split(rb" ?\.\.\. ?", sample)
    begin = text.find(first)
    while begin >= 0:
        at = begin + len(first)
        end = min(at + FAR, len(text)) if b"\n" in sample else text.find(b"\n", at)
        for piece in others:
            at = text.find(piece, at, end)
            if at < 0:
                break
            at += len(piece)
        else:
            return True
        begin = text.find(first, begin + 1)
    return False


@with_logs
def test_every_sample_stands_in_a_log():
    # those of the project and the reference logs, one behind the other, without what only moves a cursor
    files = [*LOGS.glob("*.log"), *archive.unpack(paths.DATA / "recorded.zip").rglob("log.*.txt")]
    files += [
        file
        for file in [*SHARED.rglob("*"), *SHARED.parent.rglob("cases/*.log")]
        if file.is_file() and file.suffix not in (".md", ".gz", ".zst")
    ]
    logs = re.sub(rb"\x1b\[[\d;]*[A-Za-z]|\x08", b"", b"\n".join(file.read_bytes() for file in files))
    samples = [(name, line.sample) for name, declared in DIALECTS.items() for line in lines_of(declared)]

    own = ("cited_", "history_")
    composed = [pair for pair in samples if not pair[0].startswith(own) and not stands_in(pair[1], logs)]

    assert not composed


# every dialect's declaration holds together


each_dialect = pytest.mark.parametrize("declared", DIALECTS.values(), ids=lambda declared: declared.name)


@each_dialect
def test_a_declaration_holds_together(declared):
    declared.check("evalsuite")

    signs = (*declared.final, *declared.evaluation, *declared.end)
    assert all(line.source for line in (*declared.step, *signs))
    assert all(line.literal in line.sample for line in (*declared.step, *signs, *declared.facts))
    assert all(line.literal for line in declared.step)  # else the search is slow
    assert all(all(line.beginnings) for line in signs)  # else the lines after the last of them are not kept
    assert set(declared.yields_to) <= DIALECTS.keys()
    assert re.fullmatch(r"[a-z]+/s", declared.unit)
    cited = [line.source for line in lines_of(declared) if not line.source.startswith(("evalsuite/", "adapters/"))]
    assert [source for source in cited if not SOURCE.fullmatch(source)] == []
    for line in declared.scores:
        fields = line.read(line.compiled.search(line.sample))
        assert any(dialect.SCORE.fullmatch(name) and value is not None for name, value in fields.items())


@each_dialect
def test_a_sample_is_found_by_its_own_dialect_alone(declared, tmp_path):
    for line in [line for line in declared.step if line.telling]:
        path = tmp_path / "log"
        path.write_bytes(b"noise\n" + line.sample + b"\nnoise\n")

        assert [fit.name for fit in find_dialects(path, DIALECTS.values())] == [declared.name]
        text = 4 * (line.sample + b"\n")
        sought = (matches(text, (line,), unlike) for unlike in (None, text.translate(dialect.ANY_DIGIT)))
        found, by_layouts = ([match.span() for match, _ in each] for each in sought)
        assert (by_layouts, count(text, (line,))) == (found, len(found))


def test_an_unknown_dialect_gets_the_nearest_name():
    with pytest.raises(EvalsuiteError, match="Did you mean pytorch_examples"):
        look_up("logs.dialect", DIALECTS, "pytorch_example")


@pytest.mark.parametrize(("pattern", "beginnings"), sources.cases("logs.toml")["alternatives"])
def test_of_several_alternatives_each_has_its_own_literal_beginning(pattern, beginnings):
    line = Line(pattern=pattern.encode(), sample=b"", source="")

    assert line.beginnings == tuple(map(str.encode, beginnings))
