"""Finished reports: `summary.json` read back, its schema, the hashes of all files, and the histories of many."""
