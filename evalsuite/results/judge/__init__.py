"""Criteria and verdicts, and what the plan should do next: repeats, scales, stopping."""
