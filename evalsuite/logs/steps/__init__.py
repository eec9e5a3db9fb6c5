"""From records to steps, and from the steps of the window to a throughput."""
