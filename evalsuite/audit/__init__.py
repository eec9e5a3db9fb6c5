"""Whether a finished report holds: against itself, against the raw files it was made of, and against its seal."""
