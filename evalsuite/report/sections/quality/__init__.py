"""Data quality: what was found wrong."""
