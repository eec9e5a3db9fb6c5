"""Networks and algorithms: what one option of a script changes, and what that costs (docs/report.md#variants)."""

from collections.abc import Iterable

from evalsuite.report.sections.common.section import Section, Subject
from evalsuite.report.sections.convergence import convergence
from evalsuite.report.sections.variants import effects, families, variant_figures
from evalsuite.report.text import numbers


def sections(subject: Subject) -> Iterable[Section]:
    if groups := () if subject.book.huge else families.families(subject.book):
        yield Section(
            id="variants",
            title=subject.words("variants.title"),
            template="variants/variants.html.j2",
            facts=lambda: {
                "families": groups,
                "headings": {family.id: families.heading(family, subject.words) for family in groups},
                "findings": {family.id: families.finding([family], subject.words) for family in groups},
                "figures": variant_figures.draw_families(groups, subject.look, subject.words),
                "score": convergence.number,
                "points": numbers.points,
            },
            markdown=lambda writer: writer.fill(
                "variants/variants.md.j2",
                families=groups,
                heading=families.heading,
                value=families.value,
                why=effects.why,
                score=convergence.number,
                points=numbers.points,
            ),
            finding=lambda _: families.finding(groups, subject.words),
        )
