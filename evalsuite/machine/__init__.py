"""What this machine is and does: sensors, limits, cores and network."""
