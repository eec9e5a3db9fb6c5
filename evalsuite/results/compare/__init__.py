"""Summaries against one another: what may be compared, who is ahead, scaling, changes, equivalence."""
