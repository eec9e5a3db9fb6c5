"""One module per command: `run(arguments)` gives the exit code; data/commands/ declares what it takes."""
