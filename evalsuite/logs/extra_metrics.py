"""The script's own figures next to its steps: utilisation, TFLOP/s, memory, the wait for data."""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalsuite.dialect import Dialect, Line
from evalsuite.logs.text.logfile import Unreadable, chunks
from evalsuite.logs.text.records import matches, rate_of

MIB_PER_GIB = 1024
MOST_BYTES = 4 << 20  # of a log without a window, so much is looked at


@dataclass(frozen=True, kw_only=True)
class AlsoPrinted:
    """Figures that a log prints next to its steps, over the measured ones; None where it prints none."""

    items_per_s_per_device: float | None = None  # median, where the printed rate is that of one device
    mfu: float | None = None  # median share of the device's peak; 1.0 = all of it
    tflop_per_s_per_device: float | None = None  # median
    memory_gib: float | None = None  # the most that one device held
    data_wait_s: float | None = None  # mean, of a step


@dataclass(frozen=True, kw_only=True)
class _Column:
    """A figure that *dialects* print in the lines of their steps: a field of `AlsoPrinted`, and its form."""

    name: str
    pattern: bytes
    dialects: tuple[str, ...]
    factor: float


def _column(name: str, pattern: bytes, *dialects: str, factor: float = 1.0) -> _Column:
    return _Column(name=name, pattern=pattern, dialects=dialects, factor=factor)


_FLOPS, _MFU, _MEMORY, _DATA = "tflop_per_s_per_device", "mfu", "memory_gib", "data_wait_s"
_N = rb"(?P<rate>\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?)"
# the lines that hold them are samples in the dialects
COLUMNS = (
    _column(_FLOPS, rb"TFLOP/s/device: " + _N, "maxtext"),
    _column(_FLOPS, rb"tflops: " + _N, "torchtitan"),
    _column(_FLOPS, rb"\(TFLOP/s/GPU\): " + _N, "megatron", "megatron_stamped"),
    _column(_FLOPS, rb"\| TFLOPs: " + _N, "megatron", "megatron_stamped"),  # BigScience's and Microsoft's: of one GPU
    _column(_FLOPS, rb"approx flops per GPU: " + _N + rb"TFLOPS", "gpt_neox"),
    _column(_FLOPS, rb"model_tflops_per_gpu: " + _N, "nanotron"),
    _column(_FLOPS, rb"TFLOPS per GPU: " + _N, "colossalai"),
    _column(_MFU, rb"mfu: " + _N + rb"%", "torchtitan", factor=0.01),
    _column(_MFU, rb"mfu\(%\)=" + _N, "torchtitan_mmm", factor=0.01),
    _column(_MFU, rb"mfu " + _N + rb"%", "nanogpt", factor=0.01),
    _column(_MFU, rb"bf16_mfu: " + _N, "nanochat", factor=0.01),
    _column(_MFU, rb"\| " + _N + rb"% bf16 MFU", "llm_c", factor=0.01),
    _column(_MEMORY, rb"memory: " + _N + rb"GiB", "torchtitan"),
    _column(_MEMORY, rb"memory\(GiB\)': " + _N, "ms_swift"),
    _column(_MEMORY, rb"peak_memory_alloc:" + _N, "torchtune"),  # bytes ÷ 1024³
    _column(_MEMORY, rb"Mem \(GB\): [\d.]+ \([\d.]+/" + _N + rb"\)", "sam_2"),  # bytes ÷ 1024³, the most so far
    _column(_MEMORY, rb"MaxMemAllocated=" + _N + rb"GB", "deepspeed"),  # bytes ÷ 1024³
    # bytes ÷ 1024², whatever they are called
    _column(_MEMORY, rb"max mem: " + _N, "metric_logger", "torchvision", factor=1 / MIB_PER_GIB),
    _column(_MEMORY, rb"max_mem: " + _N + rb"M", "detectron2", factor=1 / MIB_PER_GIB),
    _column(_MEMORY, rb"\tmem " + _N + rb"MB", "swin", factor=1 / MIB_PER_GIB),
    _column(_MEMORY, rb"max_mem_allocated: " + _N + rb" MB", "paddleocr", "paddledetection", factor=1 / MIB_PER_GIB),
    _column(_MEMORY, rb"memory: " + _N, "mmengine", "mmengine_iter", "mmcv", factor=1 / MIB_PER_GIB),
    _column(_MEMORY, rb"\d/\d+ +" + _N + rb"G ", "ultralytics", factor=1e9 / 2**30),
    _column(_MEMORY, rb'"memory": ' + _N, "mmengine_json", factor=1 / MIB_PER_GIB),
    _column(_DATA, rb"\bData:? +" + _N, "pytorch_examples", "timm"),
    _column(_DATA, rb"\bdata: " + _N, "torchvision", "metric_logger", "maskrcnn_benchmark"),
    _column(_DATA, rb"\bdata_time: " + _N, "mmcv", "mmengine", "mmengine_iter", "detectron2", "yolox"),
    _column(
        _DATA, rb"\b(?:avg_)?reader_cost: " + _N, "paddleclas", "paddleclas_static", "paddleclas_2021", "paddleseg"
    ),
    _column(_DATA, rb"\b(?:avg_)?reader_cost: " + _N, "paddlenlp_bert", "paddlenlp_transformer", "paddleocr"),
)
_TAKEN: Mapping[str, Callable[[Sequence[float]], float]] = {_MEMORY: max, _DATA: statistics.fmean}


def also_printed(path: Path, dialect: Dialect, first_line: int | None, last_line: int | None) -> AlsoPrinted | None:
    """Of the measured steps; without a window, of the first part of the log. None where nothing is printed."""
    columns = _columns(dialect)
    if not columns:
        return None
    found: dict[str, list[float]] = {}
    try:
        for text in _texts(path, dialect, first_line or 1, last_line):
            for name, line, factor in columns:
                said = (line.read(match) for match in line.compiled.finditer(text))
                values = (rate_of(fields) for fields in said if fields is not None)
                found.setdefault(name, []).extend(value * factor for value in values if value is not None)
    except Unreadable:
        pass  # what was found before is shown; the reading says that the log cannot be read to its end
    taken = {name: _TAKEN.get(name, statistics.median)(values) for name, values in found.items() if values}
    return AlsoPrinted(**taken) if taken else None


def _columns(dialect: Dialect) -> list[tuple[str, Line, float]]:
    found = [
        (one.name, Line(pattern=one.pattern, sample=b"", source=""), one.factor)
        for one in COLUMNS
        if dialect.name in one.dialects
    ]
    if dialect.scope == "per_device":
        rated = [line for line in dialect.step if {"rate", "rate_k"} & set(line.groups)]
        found += [("items_per_s_per_device", line, 1.0) for line in rated]
    return found


def _texts(path: Path, dialect: Dialect, first: int, last: int | None) -> Iterator[bytes]:
    for chunk in chunks(path, bare=dialect.spans_lines):
        if last is not None and chunk.first_line > last:
            return
        if last is None and chunk.offset > MOST_BYTES:
            return
        if chunk.first_line + chunk.line_ends < first:
            continue
        lines = chunk.text.split(b"\n")
        begin = max(0, first - chunk.first_line)
        end = len(lines) if last is None else last - chunk.first_line + 1
        text = b"\n".join(lines[begin:end]) + b"\n"
        yield b"".join(_whole_lines(text, dialect))


def _whole_lines(text: bytes, dialect: Dialect) -> Iterator[bytes]:
    behind = 0
    for match, _ in matches(text, (*dialect.step, *dialect.final)):
        if match.end() <= behind:
            continue  # another match in a line that is taken already
        begin = max(behind, text.rfind(b"\n", 0, match.start()) + 1)
        behind = text.find(b"\n", match.end()) + 1 or len(text)
        yield text[begin:behind]
