"""Other hosts: reaching them, hearing from them, and reading their launchers' errors."""
