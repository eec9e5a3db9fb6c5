"""A log → its steps, its throughput over all devices, or why there is none."""
