"""What this machine is and does: its sensors, limits, cores and network. Used by the agent and by the driver."""
