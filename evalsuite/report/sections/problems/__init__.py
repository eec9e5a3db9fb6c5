"""Known problems."""
