"""The chapter of each model: its results by scale, precision and batch."""
