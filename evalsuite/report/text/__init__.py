"""The words of the report, its proper names, and its numbers as they are printed."""
