"""Background: what was measured, on which machine, by which method."""
