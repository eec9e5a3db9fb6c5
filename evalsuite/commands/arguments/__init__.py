"""The arguments of each command, a module each: what `--help` shows, and nothing that takes time to import."""
