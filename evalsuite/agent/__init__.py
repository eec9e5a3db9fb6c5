"""The node agent: the program on every node that starts a command, stamps, samples, and ends what it started."""
