"""Run folders → measurements → summaries → speed-up, fairness, findings, verdicts: every number of a report."""
