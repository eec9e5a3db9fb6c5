"""Logs in no known dialect."""
