"""Everything that is decided before anything starts: the cases, the runs, the skips, and each exact command line."""
