"""A framework's entry in a model section, as its runs recorded it."""

from dataclasses import dataclass

from evalsuite.documents import UsedRecipe
from evalsuite.model import Case
from evalsuite.report.book.book import Book
from evalsuite.report.text import names


@dataclass(frozen=True, kw_only=True)
class Participant:
    """One framework's entry in a model section, as its runs recorded it."""

    framework: str
    recipe: str
    kind: str | None
    versions: tuple[str, ...]
    source: str
    commit: str
    image: str
    precisions: tuple[str, ...]
    xla: bool
    launcher: str | None

    @property
    def title(self) -> str:
        return names.framework(self.framework)

    @property
    def features(self) -> str:
        """Switches that its cases use; proper names only."""
        return ", ".join([names.precision(each) for each in self.precisions] + ["XLA"] * self.xla)


def participants(book: Book, model: str) -> tuple[Participant, ...]:
    cases = [case for case in book.planned if case.model == model]
    keys = sorted(
        {(case.framework, case.recipe) for case in cases}, key=lambda k: (names.framework(k[0]).casefold(), k)
    )
    return tuple(_participant(book, framework, recipe, cases) for framework, recipe in keys)


def _participant(book: Book, framework: str, recipe: str, cases: list[Case]) -> Participant:
    ours = [case for case in cases if (case.framework, case.recipe) == (framework, recipe)]
    ids = {case.id for case in ours}
    runs = [run for run in book.measurements if run.run.case.id in ids]
    commands = (book.evaluation.commands.get(run.run.id) for run in runs)
    used = next((command.recipe for command in commands if command), UsedRecipe())
    return Participant(
        framework=framework,
        recipe=recipe,
        kind=used.kind,
        versions=tuple(sorted({run.framework_version for run in runs if run.framework_version})),
        source=used.source or "",
        commit=used.commit or "",
        image=used.image or "",
        precisions=tuple(sorted({case.precision for case in ours})),
        xla=any(case.xla for case in ours),
        launcher=used.spawn,
    )
