"""What a notebook calls: typed rows of runs and reports."""
