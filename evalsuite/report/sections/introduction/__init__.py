"""The introduction: what the reader finds where."""
