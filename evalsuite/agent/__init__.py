"""The node agent: on every node it starts a command, records, samples, and ends what it started."""
