"""Time of a step: where it goes, and how it is distributed."""
