"""One pass over a log: its records, and what else must be known of it."""
