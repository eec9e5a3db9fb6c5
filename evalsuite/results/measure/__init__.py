"""One run folder → a measurement; the repeats of a case → a summary."""
