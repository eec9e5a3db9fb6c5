"""The verdict: answers, acceptance and what to be careful about."""
