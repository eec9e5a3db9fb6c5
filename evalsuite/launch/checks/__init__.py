"""What is looked at before and between runs: nodes, disk, time left, drift, and the doctor."""
