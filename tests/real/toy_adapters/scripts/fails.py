"""Fails before its first step, as a framework without memory does."""

raise MemoryError("no room for the weights")
