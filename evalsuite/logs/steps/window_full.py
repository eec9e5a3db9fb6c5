"""When a scan may stop collecting records."""

from collections.abc import Sequence
from dataclasses import replace

from evalsuite.dialect import Dialect
from evalsuite.logs.scan.scan import MAX_RECORDS, Scan
from evalsuite.logs.steps import window
from evalsuite.logs.steps.job import facts
from evalsuite.logs.steps.merging import merge_records
from evalsuite.logs.steps.numbers import Given
from evalsuite.logs.text.records import Record, enough

MARGIN_STEPS = 20  # read so much further than the window: other ranks print the same step a little later


class WindowFull:
    """Do the records of a scan fill the window? A quick answer for plain logs, else that of the window itself."""

    def __init__(self, dialect: Dialect, given: Given) -> None:
        self._dialect, self._given = dialect, given
        measured = given.protocol.measured_steps + MARGIN_STEPS
        self._protocol = replace(given.protocol, measured_steps=measured)
        self.steps = self._protocol.total_steps
        self._judged = 0

    def __call__(self, scan: Scan) -> bool:
        if enough(scan.records, self.steps) or len(scan.records) > MAX_RECORDS:
            return True
        if len(scan.records) < 2 * self._judged or self._are_too_few(scan.records):
            return False
        self._judged = len(scan.records)
        told = facts(self._given.known, scan.facts, self._given.case)
        found = merge_records([scan.records], self._dialect, told, scope=self._given.scope)
        span = window.span(
            found.steps, self._protocol, warmed_up=self._dialect.warmed_up, epochs=self._dialect.per_epoch
        )
        return span is not None and span.complete

    def _are_too_few(self, records: Sequence[Record]) -> bool:
        """Has the training not even reached that many steps? Then there is no need to merge a log before its end."""
        first, last = records[0], records[-1]
        if last.step is None or last.epoch != first.epoch:
            return False
        return (last.step + 1) * self._dialect.each < self._protocol.measured_steps
