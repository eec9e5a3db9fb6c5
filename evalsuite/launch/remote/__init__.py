"""Hosts other than this one: reaching them, hearing from them, and what their launchers say."""
