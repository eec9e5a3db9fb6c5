"""What is decided before anything starts: cases, runs, skips, and each exact command line."""
