"""What acts: makes environments and checkouts, starts what was planned, and brings in what ran elsewhere."""
