"""Runs, measures and compares deep-learning training frameworks, and writes the bilingual report."""

__version__ = "0.1.0"
