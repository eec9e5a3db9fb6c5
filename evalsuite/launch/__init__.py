"""What acts: makes environments and checkouts, and starts what was planned."""
