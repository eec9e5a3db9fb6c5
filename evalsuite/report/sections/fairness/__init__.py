"""Fairness: whether what is compared did the same work."""
