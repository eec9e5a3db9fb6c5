"""Convergence: loss and scores over steps and time."""
