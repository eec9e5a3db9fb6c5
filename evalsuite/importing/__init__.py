"""What was measured elsewhere, brought in as runs: logs and published tables, with what the user states of them."""
