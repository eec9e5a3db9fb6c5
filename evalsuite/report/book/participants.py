"""A framework's entry in a model section, as its runs recorded it."""

import re
from dataclasses import dataclass

from evalsuite.core.documents import UsedRecipe
from evalsuite.core.model import Case
from evalsuite.report.book.book import Book
from evalsuite.report.text import names

# in recorded sources: a package is a name with its version, and remarks are not in the reader's language
REMARK = re.compile(r" \(Python package\)|`|, (?:which|with) .*")


@dataclass(frozen=True, kw_only=True)
class Participant:
    framework: str
    recipe: str
    kind: str | None
    versions: tuple[str, ...]
    source: str
    commit: str
    image: str
    features: tuple[str, ...] | None  # what the script runs on in addition to the framework; None: not recorded
    launcher: str | None
    model: str
    measured: bool  # by evalsuite, which records a container; elsewhere nobody says that there was none

    @property
    def title(self) -> str:
        return names.framework(self.framework)

    @property
    def builds_v15(self) -> bool:
        """Whether the script builds ResNet-50 v1.5 out of a class that is called after v1, as MXNet's does."""
        return self.model == "resnet50_v1.5" and self.source.endswith("ResNetV1")


def is_stated(member: Participant) -> bool:
    return bool(member.measured or member.versions or member.image or member.source or member.launcher)


def source_of(used: UsedRecipe) -> str:
    """Where the model comes from: a class, a file or a package, without a remark of its author."""
    return REMARK.sub("", used.source or "")


def participants(book: Book, model: str) -> tuple[Participant, ...]:
    cases = [case for case in book.planned if case.model == model]
    keys = sorted(
        {(case.framework, case.recipe) for case in cases}, key=lambda k: (names.framework(k[0]).casefold(), k)
    )
    return tuple(_participant(book, framework, recipe, cases) for framework, recipe in keys)


def _participant(book: Book, framework: str, recipe: str, cases: list[Case]) -> Participant:
    ours = [case for case in cases if (case.framework, case.recipe) == (framework, recipe)]
    runs = book.runs_of.get((ours[0].model, framework, recipe), [])
    commands = (book.evaluation.commands.get(run.run.id) for run in runs)
    used = next((command.recipe for command in commands if command), UsedRecipe())
    return Participant(
        framework=framework,
        recipe=recipe,
        kind=used.kind,
        versions=tuple(sorted({version for run in runs if (version := run.framework_version)})),
        source=source_of(used),
        commit=used.commit or "",
        image=used.image or "",
        features=_features(used, ours),
        launcher=used.spawn,
        model=ours[0].model,
        measured=any(run.origin == "measured" for run in runs),
    )


def _features(used: UsedRecipe, cases: list[Case]) -> tuple[str, ...] | None:
    dali = any(value.casefold().startswith("dali") for case in cases for _, value in case.options)
    parts = (
        ["DALI"] * dali + [names.visible(each) for each in used.features or ()] + ["XLA"] * any(c.xla for c in cases)
    )
    return tuple(dict.fromkeys(parts)) if parts or used.features is not None else None
