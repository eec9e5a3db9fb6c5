"""What lies behind the window: a sample of its reports, so that a log that goes on at another speed is seen.

To read every report would cost as much as twenty windows. As many as the window has are taken right behind it,
and a few at the beginning of every later piece of the file.
"""

from evalsuite.dialect import Dialect
from evalsuite.logs.text.extracting import Extractor
from evalsuite.logs.text.logfile import Chunk
from evalsuite.logs.text.records import Record

NEXT_PIECES = 4  # of each piece of the file
NEXT_BYTES = 1 << 12  # read at once until there are as many reports as the window has
SAMPLE_BYTES = 1 << 11  # of each later piece
MOST_RECORDS = 20_000  # of a log of any size


class Rest:
    """Takes a sample of the records of one file that lie behind its window."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._reached: int | None = None  # where in the file the last piece has ended; the first follows the window
        self._extractor = Extractor(dialect)
        self.records: list[Record] = []

    def add(self, chunk: Chunk, begin: int, in_window: int) -> None:
        """Samples *chunk* from *begin* on, behind a window of *in_window* records, its warm-up among them."""
        wanted = in_window * 2 // 3
        for _ in range(NEXT_PIECES):
            if len(self.records) > MOST_RECORDS or begin >= len(chunk.text):
                return
            size = NEXT_BYTES if len(self.records) < wanted else SAMPLE_BYTES
            part, begin = chunk.lines_from(begin, size)
            self._take(part)
            self._reached = chunk.raw_offset(begin)
            if len(self.records) >= wanted:
                return

    def _take(self, part: Chunk) -> None:
        apart = self._reached not in (None, part.offset)
        if apart:
            self._extractor = Extractor(self._dialect)
        found: list[Record] = []
        self._extractor.extend(found, part)
        if found and apart:
            found[0] = found[0]._replace(gap=True)  # nobody knows what lies between it and the report before
        self.records += found
