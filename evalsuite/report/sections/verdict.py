"""The verdict block: criterion cards, headline sentences, coverage, and what a reader must know first.

Every sentence is a template with a condition; none is chosen by taste (REPORT.md §7).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evalsuite.model import Interval, Protocol, Summary, Verdict
from evalsuite.report.book.blocks import Block, Model
from evalsuite.report.book.book import Book
from evalsuite.report.book.states import MARKS
from evalsuite.report.book.tally import tally
from evalsuite.report.sections import background
from evalsuite.report.sections.usage import together
from evalsuite.report.text import names, numbers
from evalsuite.report.text.numbers import Form, Number
from evalsuite.report.text.words import Rendered, Text, Traced, Words
from evalsuite.results import extrapolation
from evalsuite.results.fairness import fastest

NEAR_LINEAR = 0.90  # efficiency and the low end of its interval (REPORT.md §7)
LINEAR = 0.98
FULL_REPEATS = 5
FULL_PROTOCOL = Protocol()
MOST_HEADLINES = 5
CARD = "v"  # what the anchors of the cards begin with
COUNTS = "counts-table"  # anchors of the tables that hold what the sentences count
RULES = "rules-table"
SHARES = ("C1", "C2a", "C2b", "C2")  # criteria whose value is a share; others are ratios


@dataclass(frozen=True, kw_only=True)
class Card:
    """One acceptance criterion as the page shows it."""

    verdict: Verdict
    statement: Rendered
    reason: Rendered | None
    value: Number | None
    interval: Number | None
    coverage: Number | None
    threshold: Number | None
    margin: Rendered | None  # value - threshold, in points of percent
    expects: Rendered | None = None  # what a model expects where nothing was measured; it decides nothing

    @property
    def id(self) -> str:
        return names.anchor(CARD, self.verdict.criterion)

    @property
    def within_noise(self) -> bool:
        """Whether the card says so: too few runs to tell is not the same as noise."""
        return self.verdict.within_noise and self.verdict.reason != "cannot_tell"


def cards(book: Book, words: Words) -> tuple[Card, ...]:
    verdicts = sorted(book.evaluation.verdicts, key=lambda verdict: verdict.criterion)
    return tuple(replace(_card(verdict, words), expects=_expects(book, verdict, words)) for verdict in verdicts)


def _expects(book: Book, verdict: Verdict, words: Words) -> Rendered | None:
    """The worst forecast in the scope of C1 where no case in its scope was measured (REPORT.md §6.0)."""
    if verdict.reason != "no_large_scale":
        return None
    least = int(dict(verdict.values)["min_nodes"])
    based = [one for one in extrapolation.outlooks(book.valid, book.planned) if one.base.case.total_devices == 1]
    found = [(one, each) for one in based for each in one.forecasts if each.case.nodes >= least]
    if not found:
        return None
    outlook, worst = min(found, key=lambda pair: pair[1].efficiency.value)
    said = words(
        "verdict.expects",
        value=f"{MARKS['simulated']}{numbers.percent(worst.efficiency.value)}",
        interval=numbers.interval(worst.efficiency, numbers.percent),
        framework=names.framework(worst.case.framework),
        scale=names.scale(worst.case),
    )
    return Traced(words=words, inside=said, ref=names.case_anchor(outlook.largest.case))


def _card(verdict: Verdict, words: Words) -> Card:
    form = numbers.percent if verdict.criterion in SHARES else numbers.speedup
    ref = names.case_anchor(verdict.case) if verdict.case else None
    found, threshold = verdict.measured, verdict.threshold
    own = names.anchor(CARD, verdict.criterion)
    reason = _reason(verdict, words)
    return Card(
        verdict=verdict,
        statement=Traced(words=words, inside=_statement(verdict, form, words), ref=own),
        reason=Traced(words=words, inside=reason, ref=ref or own) if reason else None,
        value=form(found.value).to(ref) if found else None,
        interval=_about(numbers.interval(found, form), ref or own),
        coverage=numbers.coverage(found.coverage) if found and found.coverage else None,
        threshold=form(threshold) if threshold is not None else None,
        margin=_margin(found.value - threshold, words) if found and threshold is not None else None,
    )


def _about(number: Number | None, ref: str) -> Number | None:
    return number.about(ref) if number else None


def _margin(share: float, words: Words) -> Text:
    sign = "+" if share > 0 else ""
    return words("verdict.points", points=f"{sign}{numbers.percent(share).text.removesuffix('%')}")


def _statement(verdict: Verdict, form: Form, words: Words) -> Text:
    key = f"criteria.{verdict.criterion}"
    if key not in words:
        return words("criteria.other", name=names.visible(verdict.criterion))
    if verdict.threshold is None:
        return words(key)
    return words(key, threshold=form(verdict.threshold))


def _reason(verdict: Verdict, words: Words) -> Text | None:
    if not verdict.reason:
        return None
    key = f"verdicts.{verdict.reason}"
    values = {name: _named(name, value) for name, value in verdict.values}
    if verdict.reason == "no_large_scale" and values.get("largest") == "0":
        return words("verdicts.nothing_measured", min_nodes=values["min_nodes"])
    return words(key, **values) if key in words else words("verdicts.other", reason=names.visible(verdict.reason))


def _named(name: str, value: str) -> str:
    """Frameworks are called by their proper names, scales are printed as everywhere."""
    if name == "scale":
        return names.visible(value).replace("x", "×")
    return names.framework(value) if name in ("first", "second") else names.visible(value)


def headlines(book: Book, models: Sequence[Model], words: Words) -> tuple[Text, ...]:
    """Three to five sentences: who is fast, how it scales, how busy the hardware is, what failed."""
    blocks = [block for model in models for block in model.blocks if block.valid]
    found: list[Text] = []
    for block in sorted(blocks, key=_frameworks, reverse=True)[:2]:
        found += _speed(block, words)
        found += _scaling(block, words)
    found += _busy(blocks, words)
    found.append(_failures(book, words))
    if len(found) > MOST_HEADLINES:  # the first blocks and, always, how busy the hardware was and what failed
        found = [*found[: MOST_HEADLINES - 2], *found[-2:]]
    return tuple(found)


def _frameworks(block: Block) -> int:
    """With how many frameworks a block compares; the headlines are about those that compare most."""
    return len({one.case.framework for one in block.valid})


def _speed(block: Block, words: Words) -> Iterable[Text]:
    """Who is fastest at the largest scale that two frameworks share; a range where that cannot be told."""
    row = _largest_shared(block)
    if len(row) < 2:
        return
    ordered = sorted(row, key=lambda one: -one.items_per_s.value)
    first, second, last = ordered[0], ordered[1], ordered[-1]
    fewest = min(row, key=lambda one: one.n)
    about = {"setting": _condition(block, first, words), "n": numbers.count(fewest.n).about(_anchor(fewest))}
    if fastest(ordered) == 0 and not _suspicious(first):
        yield words(
            "headlines.fastest",
            **about,
            framework=names.framework(first.case.framework),
            value=_value(first),
            unit=names.visible(first.unit),
            interval_text=_interval(first, first.items_per_s, numbers.throughput, words),
            second=names.framework(second.case.framework),
            gain=numbers.speedup(first.items_per_s.value / second.items_per_s.value).about(_anchor(second)),
        )
        return
    yield words(
        "headlines.range",
        **about,
        low=_value(last),
        low_framework=names.framework(last.case.framework),
        high=_value(first),
        high_framework=names.framework(first.case.framework),
        unit=names.visible(first.unit),
        why_text=_by_rule(words("headlines.too_few" if any(one.partial for one in row) else "headlines.no_difference")),
    )


def _scaling(block: Block, words: Words) -> Iterable[Text]:
    """Efficiency at the largest scale, with its base; adjectives only where the rule allows them."""
    scaled = [
        one for one in block.valid if one.efficiency and one.base and one.base != one.case and not _suspicious(one)
    ]
    if not scaled:
        return
    largest = max(one.case.total_devices for one in scaled)
    row = sorted((one for one in scaled if one.case.total_devices == largest), key=lambda one: one.efficiency.value)
    low, high = row[0], row[-1]
    fewest = min(row, key=lambda one: one.n)
    shared = block.device == "cpu" and any(one.case.devices_per_node > 1 for one in row)
    key = "headlines.efficiency" if len(row) > 1 else "headlines.efficiency_one"
    values = {
        "setting": _condition(block, low, words),
        "low": numbers.percent(low.efficiency.value).to(names.case_anchor(low.case)),
        "low_framework": names.framework(low.case.framework),
        "interval_text": _interval(low, low.efficiency, numbers.percent, words),
        "n": numbers.count(fewest.n).about(_anchor(fewest)),
        "base": _base(row, words),
        "remark_text": words("headlines.shared_cores") if shared else _by_rule(_adjective(row, words)),
    }
    if len(row) > 1:
        values |= {
            "high": numbers.percent(high.efficiency.value).to(names.case_anchor(high.case)),
            "high_framework": names.framework(high.case.framework),
            "high_interval_text": _interval(high, high.efficiency, numbers.percent, words),
        }
    yield words(key, **values)


def _by_rule(said: Text) -> Rendered:
    """Words whose numbers are limits of the rules."""
    return Traced(words=said.words, inside=said, ref=RULES)


def _adjective(row: Sequence[Summary], words: Words) -> Text:
    """*linear* from 98 %, *near linear* from 90 %, each with the whole interval above it; else nothing."""
    for key, limit in (("headlines.linear", LINEAR), ("headlines.near_linear", NEAR_LINEAR)):
        found = [one for one in row if not one.partial and _whole_above(one.efficiency, limit)]
        if found:
            return words(key, frameworks=words.listed(names.framework(one.case.framework) for one in found))
    return words("headlines.no_adjective")


def _whole_above(efficiency: Interval, limit: float) -> bool:
    return efficiency.value >= limit and efficiency.low is not None and efficiency.low > limit


def _busy(blocks: Sequence[Block], words: Words) -> Iterable[Text]:
    """Mean utilisation of the accelerators, or of the processor where there is none."""
    valid = [one for block in blocks for one in block.valid]
    for resource in ("gpu", "cpu"):
        shares = [(together(used), one, used) for one in valid if (used := _of(one, resource))]
        if not shares:
            continue
        low, high = min(shares, key=lambda s: s[0]), max(shares, key=lambda s: s[0])
        yield words(
            f"headlines.busy_{resource}",
            low=numbers.percentage(low[0]).to(names.case_anchor(low[1].case)),
            high=numbers.percentage(high[0]).to(names.case_anchor(high[1].case)),
            cases=numbers.count(len(shares)).about("usage"),
            samples=numbers.count(sum(used[0].samples for _, _, used in shares)).about("usage"),
        )
        return


def _of(summary: Summary, resource: str) -> list:
    return [used for used in summary.utilisation if used.resource == resource]


def _failures(book: Book, words: Words) -> Text:
    found = tally(book)
    key = "headlines.all_valid" if found.runs_made == found.runs_valid else "headlines.some_failed"
    values = {"runs": numbers.count(found.runs_made).about(COUNTS)}
    if key == "headlines.some_failed":
        values["failed"] = numbers.count(found.runs_made - found.runs_valid).about(COUNTS)
    return words(key, **values)


def coverage(book: Book, words: Words) -> Text:
    """How much of what was planned is valid."""
    found = tally(book)
    counted = {
        "valid": found.cases_valid,
        "planned": found.cases_planned,
        "partial": found.cases_partial,
        "skipped": found.cases_skipped,
        "without": found.cases_without,
    }
    return words("headlines.coverage", **{name: numbers.count(n).about(COUNTS) for name, n in counted.items()})


def notices(book: Book, words: Words) -> tuple[tuple[str, Rendered], ...]:
    """What a reader must know before any number: (kind, sentence)."""
    places = {"cited": COUNTS, "profile": RULES, "cores": RULES}
    return tuple(
        (kind, Traced(words=words, inside=said, ref=places[kind]) if kind in places else said)
        for kind, said in _notices(book, words)
    )


def _notices(book: Book, words: Words) -> Sequence[tuple[str, Text]]:
    found: list[tuple[str, Text]] = []
    if book.evaluation.recorded_elsewhere:
        found.append(("recorded", words("notices.recorded_elsewhere")))
    cited = sum(one.origin in ("cited", "digitised") for one in book.valid)
    if cited:
        found.append(("cited", words("notices.cited", cited=numbers.count(cited), all=numbers.count(len(book.valid)))))
    short = _short(book)
    if short is not None:
        found.append(("profile", _profile_notice(book, short, words)))
    processes = max((case.devices_per_node for case in book.planned if case.device == "cpu"), default=0)
    if processes > 1:
        cores = background.usable_cores(book)
        values = {"processes": numbers.count(processes), "scale": f"1×{processes}"}
        if cores is None:
            found.append(("cores", words("notices.shared_cores_unknown", **values)))
        else:
            found.append(("cores", words("notices.shared_cores", cores=numbers.plain(cores), **values)))
    return found


def _short(book: Book) -> Protocol | None:
    """The shortest protocol in the plan, if it or the number of repeats is below the full one."""
    protocols = sorted((case.protocol.measured_steps, case.protocol.warmup_steps) for case in book.planned)
    if not protocols:
        return None
    measured, warmup = protocols[0]
    full = measured >= FULL_PROTOCOL.measured_steps and warmup >= FULL_PROTOCOL.warmup_steps
    if full and book.evaluation.repeats >= FULL_REPEATS:
        return None
    return Protocol(warmup_steps=warmup, measured_steps=measured)


def _profile_notice(book: Book, short: Protocol, words: Words) -> Text:
    quick = book.evaluation.profile == "quick"
    values = {
        "warmup": numbers.count(short.warmup_steps),
        "measured": numbers.count(short.measured_steps),
        "repeats": numbers.count(book.evaluation.repeats),
    }
    sizes = sorted({size for case in book.planned if (size := case.option("image_size"))})
    if quick and sizes:
        return words("notices.quick_images", size=names.visible(sizes[0]), **values)
    if quick:
        return words("notices.quick", **values)
    alike = all(case.protocol == short for case in book.planned)
    return words("notices.short" if alike else "notices.shortest", **values)


def setting(block: Block, summary: Summary, words: Words) -> Text:
    """Under which conditions a sentence holds."""
    return words(
        "headlines.setting",
        model=names.model(block.model),
        precision=names.precision(block.precision),
        batch=numbers.count(block.batch_per_device),
        nodes=numbers.count(summary.case.nodes),
        devices=numbers.count(summary.case.total_devices),
    )


def _largest_shared(block: Block) -> list[Summary]:
    """The valid summaries of the largest scale at which two columns at least have a value."""
    best: list[Summary] = []
    for nodes, per_node in block.scales:
        row = [one for one in block.valid if (one.case.nodes, one.case.devices_per_node) == (nodes, per_node)]
        if len({one.case.framework for one in row}) > 1:
            best = row
    return best


def _condition(block: Block, summary: Summary, words: Words) -> Rendered:
    """The setting, traceable to its block."""
    return Traced(words=words, inside=setting(block, summary, words), ref=block.id)


def _anchor(summary: Summary) -> str:
    return names.case_anchor(summary.case)


def _value(summary: Summary) -> Number:
    return numbers.throughput(summary.items_per_s.value).to(_anchor(summary))


def _interval(summary: Summary, found: Interval, form: Form, words: Words) -> Text:
    """The interval *found* of *summary*, in words."""
    interval = _about(numbers.interval(found, form), _anchor(summary))
    return words("headlines.interval", interval=interval) if interval else words("headlines.no_interval")


def _base(row: Sequence[Summary], words: Words) -> Text:
    bases = {one.base.total_devices: one.base for one in row}
    counted = (numbers.count(each).about(names.case_anchor(bases[each])) for each in sorted(bases))
    return words("headlines.base", devices=words.listed(counted))


def _suspicious(summary: Summary) -> bool:
    """Kept out of headlines (D12)."""
    return any(finding.code == "D12" for finding in summary.findings)
