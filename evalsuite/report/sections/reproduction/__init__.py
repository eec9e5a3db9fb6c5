"""Reproduction: the commands, and where each number comes from."""
