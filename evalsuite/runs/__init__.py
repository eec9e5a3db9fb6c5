"""The run folder: what lies on disk, and the one package that knows the names and shapes of its files."""
