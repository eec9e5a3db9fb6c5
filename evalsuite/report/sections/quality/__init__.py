"""Data quality: what was found wrong, how noisy the machine was, and what more repeats cost."""
