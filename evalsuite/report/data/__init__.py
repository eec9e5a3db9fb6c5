"""What programs read of a report: `summary.json` and the tidy tables."""
