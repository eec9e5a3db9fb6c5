"""Rehearsals: official scripts on a CPU, with stand-ins for the accelerator; no figure of theirs is a measurement."""
