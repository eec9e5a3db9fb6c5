"""What a run used of the hardware over time: a strip for each resource, from the samples of one run."""

from collections.abc import Iterable

from evalsuite.model import Summary, Timeline
from evalsuite.report import figures
from evalsuite.report.figures import Look
from evalsuite.report.sections.drawn import Drawn
from evalsuite.report.sections.usage import RESOURCES, Usage
from evalsuite.report.text import names, numbers
from evalsuite.report.text.words import Pair, Words

# What a time line shows; the table and the CSV have the rest.
STRIPS = (
    *("gpu", "gpu_memory", "gpu_power", "cpu", "memory"),
    *("disk_read", "disk_write", "network_receive", "network_send", "loopback"),
)


def drawn(usage: Usage, look: Look, words: Words) -> tuple[Drawn, ...]:
    return tuple(_timeline(*shown, look, words) for shown in usage.shown)


def _timeline(summary: Summary, run_id: str, line: Timeline, look: Look, words: Words) -> Drawn:
    window = (line.window.begin_s, line.window.end_s) if line.window and line.window.begin_s is not None else None
    strips = tuple(_strips(summary, run_id, line, words))
    figure = figures.utilisation(strips, look, id=names.anchor("f-u", run_id), window=window)
    case = words(
        "words.case",
        framework=names.framework(summary.case.framework),
        precision=names.precision(summary.case.precision),
        batch=numbers.count(summary.case.batch_per_device),
        nodes=numbers.count(summary.case.nodes),
        devices=numbers.count(summary.case.total_devices),
    )
    repeat = run_id.rpartition("/r")[2]
    return Drawn(
        figure=figure,
        title=words("figures.timeline", framework=names.framework(summary.case.framework)),
        reading=(words("figures.timeline_see", case=case, repeat=repeat),),
        labels=tuple(Pair(words=words, by_language=(("zh", s.label.zh), ("en", s.label.en))) for s in strips),
    )


def _strips(summary: Summary, run_id: str, line: Timeline, words: Words) -> Iterable[figures.Strip]:
    run = next(one for one in summary.measurements if one.run.id == run_id)
    used = {(one.resource, one.device): one for one in run.utilisation}
    order = {resource: place for place, resource in enumerate(RESOURCES)}
    drawn = (key for key in line.series if key[0] in STRIPS or key[0] not in RESOURCES)
    for key in sorted(drawn, key=lambda k: (order.get(k[0], 99), k[0], k[1] or "")):
        resource, device = key
        samples = tuple(line.series[key])
        unit = line.units.get(resource, "")
        values = [value for _, value in samples if value is not None]
        if not values:
            continue
        about = used.get(key)
        capacity = about.capacity if about else None
        yield figures.Strip(
            label=_resource(resource, device, words),
            samples=samples,
            maximum=(100.0 if unit == "%" else capacity) or max(values) or 1.0,
            unit=unit,
            mean=about.mean if about else None,
            ref=names.case_anchor(summary.case),
        )


def _resource(resource: str, device: str | None, words: Words) -> figures.Label:
    """The name of a strip: one word in each language, with the device behind it."""
    key = f"resources.{resource}"
    named = words(key) if key in words else words("resources.other", name=names.visible(resource))
    behind = f" {names.visible(device)}" if device else ""
    languages = words.languages
    return figures.Words(zh=named.plain(languages[0]) + behind, en=named.plain(languages[-1]) + behind)
